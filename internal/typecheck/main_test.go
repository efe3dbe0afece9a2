package main

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// TestCheck checks that the errors of files for another operating system are found, also in tests,
// and that dependencies are type-checked without the bodies of their functions.
func TestCheck(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"go.mod":            "module example.com/m\n\ngo 1.26\n",
		"a.go":              "package m\n\nimport \"os/exec\"\n\nvar _ = exec.Command\n",
		"a_windows.go":      "package m\n\nvar _ int = \"one\"\n",
		"a_windows_test.go": "package m\n\nfunc f() int { return missing }\n",
		"b_darwin.go":       "package m\n\nvar _ = 1\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for system, want := range map[string][]string{
		"windows": {
			filepath.Join(dir, "a_windows.go") +
				`:3:13: cannot use "one" (untyped string constant) as int value in variable declaration`,
			filepath.Join(dir, "a_windows_test.go") + `:3:23: undefined: missing`,
		},
		"darwin": nil,
	} {
		if got, err := check(dir, system); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %q, %v, want %q", system, got, err, want)
		}
	}
}
