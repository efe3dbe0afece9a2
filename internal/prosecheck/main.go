// Command prosecheck checks the language of Markdown files, GraphQL descriptions, comments of
// GraphQL documents, and Go comments and string literals: words that are not used, each with its
// replacement, lines of prose and comments longer than 100 columns, and links to files that do not
// exist.
//
//	go run ./internal/prosecheck
//
// It prints one line for each problem, and the exit status is 1 if there are any.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

func main() {
	problems, err := checkAll()
	for _, p := range problems {
		fmt.Println(p)
	}
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "prosecheck:", err)
		os.Exit(2)
	case len(problems) > 0:
		fmt.Fprintf(os.Stderr, "prosecheck: %d problems; the words to use are in docs/glossary.md\n", len(problems))
		os.Exit(1)
	}
}

// checkAll checks the files of the repository, or of the module if git is missing.
func checkAll() (problems []string, err error) {
	out, err := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		return nil, fmt.Errorf("list files: %w", err)
	}
	for path := range strings.Lines(string(out)) {
		path = strings.TrimSpace(path)
		if skipped(path) {
			continue
		}
		text, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			continue // deleted and not committed
		}
		if err != nil {
			return nil, err
		}
		problems = append(problems, check(path, text)...)
	}
	return problems, nil
}

// generated are written by tests from sources that are checked.
var generated = []string{"docs/configuration.md", "docs/migration.md", "docs/permissions.md"}

// skipped reports whether a file is generated, copied from elsewhere, test data, or not English.
func skipped(path string) bool {
	for _, part := range []string{"testdata/", "assets/", "node_modules/", "graph/exec/"} {
		if strings.HasPrefix(path, part) || strings.Contains(path, "/"+part) {
			return true
		}
	}
	return strings.HasSuffix(path, "generated.go") || strings.HasSuffix(path, "_gen.go") ||
		strings.HasPrefix(path, "internal/prosecheck/") || slices.Contains(generated, path)
}
