package graph

import (
	"strings"
	"testing"
)

// TestLongTextsAreFields checks that the fields that need long texts exist, and that those of an
// interface are listed if those of its types are.
func TestLongTextsAreFields(t *testing.T) {
	schema := New(nil).Schema()
	for name := range longTexts {
		typeName, field, _ := strings.Cut(name, ".")
		if definition := schema.Types[typeName]; definition == nil || definition.Fields.ForName(field) == nil {
			t.Errorf("longTexts has %s, which the schema does not have", name)
			continue
		}
		for _, implemented := range schema.Types[typeName].Interfaces {
			if _, listed := longTexts[implemented+"."+field]; !listed && schema.Types[implemented].Fields.ForName(field) != nil {
				t.Errorf("longTexts lacks %s.%s", implemented, field)
			}
		}
	}
}
