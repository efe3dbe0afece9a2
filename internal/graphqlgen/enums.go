package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

// enumLookup matches the lookup of an enum value in the code that gqlgen generates: the type of the
// input is N or O and the name of the enum.
var enumLookup = regexp.MustCompile(`res := (unmarshal[NO]([A-Za-z0-9]+?)2[^\s\[]*)\[tmp\]`)

// checkEnums replaces the lookups of enum values in the generated code below dir by calls of
// enumValue. A lookup returns the zero value of the Go type for a name that is not in its map, such
// as one in the wrong case, which gqlparser accepts in variables.
func checkEnums(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.generated.go"))
	if err != nil {
		return err
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		checked := enumLookup.ReplaceAll(text, []byte(`res, err := enumValue("$2", $1, v, tmp, err)`))
		if bytes.Equal(checked, text) {
			continue
		}
		if err := os.WriteFile(path, checked, 0o644); err != nil { //nolint:gosec // it is source code
			return err
		}
	}
	unchecked, err := uncheckedEnums(dir)
	if err == nil && len(unchecked) > 0 {
		err = fmt.Errorf("enum values are looked up without a check in %q", unchecked)
	}
	return err
}

var (
	enumMap     = regexp.MustCompile(`(?m)^(?:\t|var )(unmarshal\S+)\s+= map\[string\]`)
	checkedEnum = regexp.MustCompile(`enumValue\("[A-Za-z0-9]+", (unmarshal\S+), v, tmp, err\)`)
)

// uncheckedEnums returns the maps of enum values in the generated code below dir that are used in
// any way but by one call of enumValue.
func uncheckedEnums(dir string) (names []string, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.generated.go"))
	if err != nil {
		return nil, err
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		checked := make(map[string]bool)
		for _, found := range checkedEnum.FindAllSubmatch(text, -1) {
			checked[string(found[1])] = true
		}
		for _, found := range enumMap.FindAllSubmatch(text, -1) {
			name := string(found[1])
			if lookups := regexp.MustCompile(regexp.QuoteMeta(name)+`\[`).FindAll(text, -1); !checked[name] || len(lookups) > 0 {
				names = append(names, name)
			}
		}
	}
	return names, nil
}
