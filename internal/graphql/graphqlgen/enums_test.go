package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/codegen/config"
	"github.com/vektah/gqlparser/v2/ast"
)

// internalValues are the constants that are in no enum of the schema, with the reason.
var internalValues = map[string]string{
	"Staged": "staged files are not visible",
	"OnUser": "only notifications and reports are about users",
	"OnFile": "only notifications are about files",
}

func loadConfig(t *testing.T) *config.Config {
	t.Helper()
	t.Chdir("../../..")
	c, err := config.LoadConfigFromDefaultLocations()
	if err == nil {
		err = c.LoadSchema()
	}
	if err == nil {
		err = c.Init()
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestEnumsHaveAllConstants checks that the enums of the schema and the constants of their Go types
// are the same set.
func TestEnumsHaveAllConstants(t *testing.T) {
	c := loadConfig(t)
	enums, err := enumsOf(c)
	if err != nil {
		t.Fatal(err)
	}
	if len(enums) < 20 {
		t.Errorf("only %d enums were found", len(enums))
	}
	used := make(map[string]bool)
	for _, e := range enums {
		if len(e.Values) != len(c.Schema.Types[e.Name].EnumValues) {
			t.Errorf("%s: got %d values, want %d", e.Name, len(e.Values), len(c.Schema.Types[e.Name].EnumValues))
		}
		for i, v := range e.Values {
			if used[e.Name+" "+v.Constant.Name()] {
				t.Errorf("%s.%s: %s has another name in the same enum", e.Name, v.Name, v.Constant.Name())
			}
			if want := c.Schema.Types[e.Name].EnumValues[i].Name; v.Name != want {
				t.Errorf("%s: value %d is %s, want %s", e.Name, i, v.Name, want)
			}
			used[e.Name+" "+v.Constant.Name()], used[v.Constant.Name()] = true, true
		}
	}
	for _, e := range enums {
		for _, v := range constants(e.Type) {
			if used[v.Name()] == (internalValues[v.Name()] != "") {
				t.Errorf("%s of the type %s: want it in one of its enums, or in internalValues", v.Name(), e.Type)
			}
		}
	}
}

// TestEnumWithoutConstant checks that no code is generated for a value that the Go type does not
// have.
func TestEnumWithoutConstant(t *testing.T) {
	c := loadConfig(t)
	state := c.Schema.Types["ReportState"]
	known := slices.Clone(state.EnumValues)
	state.EnumValues = append(known, &ast.EnumValueDefinition{Name: "ARCHIVED"})
	if _, err := enumsOf(c); err == nil ||
		!strings.Contains(err.Error(), "ReportState.ARCHIVED: no constant of the type") {
		t.Errorf("a value without a constant: got %v", err)
	}
	entry := c.Models["ReportState"]
	for value, want := range map[string]string{
		"github.com/meshyard/meshyard/models.Draft":   "is not a constant of the type github.com/meshyard/meshyard/models/moderation.ReportState",
		"github.com/meshyard/meshyard/models.Missing": "unable to find type",
		"Draft": "package cannot be nil",
	} {
		entry.EnumValues = map[string]config.EnumValue{"ARCHIVED": {Value: value}}
		c.Models["ReportState"] = entry
		if _, err := enumsOf(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", value, err, want)
		}
	}
}

func TestEnumName(t *testing.T) {
	for value, want := range map[string]string{"cc-nc-sa": "CC_NC_SA", "thing.published": "THING_PUBLISHED",
		"set_password": "SET_PASSWORD", "pd0": "PD0"} {
		if got := enumName(value); got != want {
			t.Errorf("enumName(%q) = %q, want %q", value, got, want)
		}
	}
}
