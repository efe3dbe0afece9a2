package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestEnumLookupsAreChecked checks that the generated code looks up no enum value without checking
// that it exists.
func TestEnumLookupsAreChecked(t *testing.T) {
	const dir = "../../graph/exec"
	unchecked, err := uncheckedEnums(dir)
	if err != nil || len(unchecked) > 0 {
		t.Errorf("%q, %v", unchecked, err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.generated.go"))
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		checked += len(enumMap.FindAll(text, -1))
	}
	if checked < 20 {
		t.Errorf("only %d maps of enum values were found", checked)
	}
}
