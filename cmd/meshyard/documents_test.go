package main_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// documents are the files whose commands, options, make targets and tests must exist. CHANGELOG.md
// is not one of them, because it also describes what was removed.
var documents = []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/*.md", "docs/adr/*.md", "deploy/*",
	"deploy/*/*", "examples/README.md", "web/README.md"}

var (
	listedCommand     = regexp.MustCompile(`(?m)^  ([a-z][a-z ]*[a-z])(?: \([a-z]+\))?(?:  |$)`)
	documentedCommand = regexp.MustCompile("(?m)(?:^|[`\"/;(] ?)meshyard ([a-z]+(?: [a-z]+)*)([^`\n]*)")
	documentedOption  = regexp.MustCompile("`--([a-z][a-z-]+)[^`]*`")
	documentedTarget  = regexp.MustCompile("`make ([a-z-]+)`")
	documentedTest    = regexp.MustCompile("`((?:Test|Fuzz|Benchmark)[A-Z][A-Za-z]+)`")
	optionOfCommand   = regexp.MustCompile(`--([a-z][a-z-]+)`)
)

// TestDocuments checks that the commands, options, make targets and tests that documents name
// exist.
func TestDocuments(t *testing.T) {
	t.Parallel()
	helps := commandHelps(t, buildBinary(t))
	isOption := func(name, help string) bool {
		negated := strings.TrimPrefix(name, "no-")
		return regexp.MustCompile(`--(` + name + `|\[no-\]` + negated + `)\b[^-]`).MatchString(help)
	}
	root := filepath.Join("..", "..")
	read := func(name string) string {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	makefile, tests := read(filepath.Join(root, "Makefile")), testNames(t, root)
	for _, pattern := range documents {
		names, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v, no files", pattern, err)
		}
		for _, name := range names {
			if info, err := os.Stat(name); err != nil || info.IsDir() {
				continue
			}
			text := read(name)
			for _, found := range documentedCommand.FindAllStringSubmatch(text, -1) {
				words := strings.Fields(found[1])
				path := strings.Join(words[:min(2, len(words))], " ")
				if _, ok := helps[path]; !ok {
					path = words[0]
				}
				help, ok := helps[path]
				if isGroup := strings.Contains(help, "Commands:"); !ok || isGroup && len(words) > 1 {
					t.Errorf("%s: there is no command meshyard %s", name, found[1])
				}
				arguments, _, _ := strings.Cut(found[2], " #")
				for _, flag := range optionOfCommand.FindAllStringSubmatch(arguments, -1) {
					if !isOption(flag[1], help) && !isOption(flag[1], helps["serve"]) {
						t.Errorf("%s: meshyard %s has no option --%s", name, path, flag[1])
					}
				}
			}
			for _, found := range documentedOption.FindAllStringSubmatch(text, -1) {
				any := func(path string) bool { return isOption(found[1], helps[path]) }
				if !slices.ContainsFunc(slices.Collect(maps.Keys(helps)), any) {
					t.Errorf("%s: no command has an option --%s", name, found[1])
				}
			}
			for _, found := range documentedTarget.FindAllStringSubmatch(text, -1) {
				if !strings.Contains(makefile, "\n"+found[1]+":") {
					t.Errorf("%s: the Makefile has no target %s", name, found[1])
				}
			}
			for _, found := range documentedTest.FindAllStringSubmatch(text, -1) {
				if !tests[found[1]] {
					t.Errorf("%s: there is no test %s", name, found[1])
				}
			}
		}
	}
}

// commandHelps returns the help of every command by its name, such as "user create". The help of
// the binary itself has the name "".
func commandHelps(t *testing.T, binary string) map[string]string {
	t.Helper()
	helps := map[string]string{}
	var add func(name string)
	add = func(name string) {
		out, err := exec.Command(binary, append(strings.Fields(name), "--help")...).Output()
		if err != nil {
			t.Fatalf("meshyard %s --help: %v", name, err)
		}
		helps[name] = string(out)
		_, commands, _ := strings.Cut(string(out), "\nCommands:\n")
		for _, listed := range listedCommand.FindAllStringSubmatch(commands, -1) {
			add(listed[1])
		}
	}
	add("")
	return helps
}

// testNames returns the names of all tests below a folder.
func testNames(t *testing.T, root string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	declaration := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w+)\(`)
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, found := range declaration.FindAllStringSubmatch(string(text), -1) {
			names[found[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
