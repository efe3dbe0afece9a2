package graph

import (
	"strings"
	"testing"
)

// TestLongTextsAreFields checks that the fields that need long texts exist.
func TestLongTextsAreFields(t *testing.T) {
	schema := New(nil).Schema()
	for name := range longTexts {
		typeName, field, _ := strings.Cut(name, ".")
		if definition := schema.Types[typeName]; definition == nil || definition.Fields.ForName(field) == nil {
			t.Errorf("longTexts has %s, which the schema does not have", name)
		}
	}
}
