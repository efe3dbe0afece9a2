package graph

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestNeedsAreFields checks that the fields listed in needs.go exist, and that an interface field
// is listed if a type that implements the interface lists the field in longTexts or extras.
func TestNeedsAreFields(t *testing.T) {
	schema := New(nil).Schema()
	listed := make(map[string]bool)
	for _, name := range slices.Concat(slices.Collect(maps.Keys(longTexts)), slices.Collect(maps.Keys(extras))) {
		listed[name] = true
	}
	for name := range partsOf {
		typeName, field, _ := strings.Cut(name, ".")
		if definition := schema.Types[typeName]; definition == nil || definition.Fields.ForName(field) == nil {
			t.Errorf("needs.go has %s, which the schema does not have", name)
		}
	}
	for name := range listed {
		typeName, field, _ := strings.Cut(name, ".")
		if definition := schema.Types[typeName]; definition == nil || definition.Fields.ForName(field) == nil {
			t.Errorf("needs.go has %s, which the schema does not have", name)
			continue
		}
		for _, implemented := range schema.Types[typeName].Interfaces {
			if !listed[implemented+"."+field] && schema.Types[implemented].Fields.ForName(field) != nil {
				t.Errorf("needs.go lacks %s.%s", implemented, field)
			}
		}
	}
}
