package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestPrune checks which declarations of generated code are kept.
func TestPrune(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		tableFile: "package p\n\nvar table = []any{A{}, (*context).used, second}\n",
		"a.generated.go": "// Code generated.\n\npackage p\n\nimport (\n\t\"fmt\"\n\t\"strconv\"\n)\n\n" +
			"// region\n\n// A is used.\ntype A struct{ b B }\n\nfunc (A) text() string { return fmt.Sprint() }\n\n// C is not.\ntype C int\n\n" +
			"type context struct{}\n\nfunc (*context) used() string { return strconv.Itoa(also(other{}.Number)) }\n\nfunc used() {}\n\n" +
			"func (C) used() {}\n\nfunc (*context) unused() {}\n\nvar (\n\tfirst  = 1\n\tsecond = 2\n)\n",
		"b.generated.go": "package p\n\ntype B int\n\ntype other struct{ Number int }\n\nfunc also(n int) int { return n }\n",
		"c.generated.go": "package p\n\nfunc c() { c() }\n",
	} {
		if err := os.WriteFile(filepath.Join(from, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, stale := range []string{"b.generated.go", "c.generated.go", "d.generated.go", "other.go"} {
		if err := os.WriteFile(filepath.Join(to, stale), []byte("package p\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := prune(from, to); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		tableFile: "package p\n\nvar table = []any{A{}, (*context).used, second}\n",
		"a.generated.go": "// Code generated.\n\npackage p\n\nimport (\n\t\"strconv\"\n)\n\n// A is used.\ntype A struct{ b B }\n\n" +
			"type context struct{}\n\nfunc (*context) used() string { return strconv.Itoa(also(other{}.Number)) }\n\nvar second = 2\n",
		"b.generated.go": "package p\n\ntype B int\n\ntype other struct{ Number int }\n\nfunc also(n int) int { return n }\n",
		"other.go":       "package p\n",
	}
	got := make(map[string]string)
	entries, err := os.ReadDir(to)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(to, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		got[entry.Name()] = string(text)
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			t.Errorf("%s:\n%s\nwant\n%s", name, got[name], want[name])
		}
		delete(got, name)
	}
	if len(got) > 0 {
		t.Errorf("also got %q", got)
	}
}
