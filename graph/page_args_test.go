package graph

import (
	"testing"

	"github.com/meshyard/meshyard/models"
)

// FuzzCursor checks that parseCursor either rejects a text or returns a position that survives a
// round trip.
func FuzzCursor(f *testing.F) {
	f.Add("things", cursor("things", models.Position{Key: 5, ID: -7}))
	f.Add("things", "dGhpbmdzOjE6Mg")
	f.Add("", "OjE6Mg")
	f.Add("things", "\x00")
	f.Fuzz(func(t *testing.T, list, text string) {
		p, err := parseCursor(list, "after", &text)
		if err != nil {
			if models.CodeOf(err) != models.BadInput {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		again := cursor(list, *p)
		if q, err := parseCursor(list, "after", &again); err != nil || *q != *p {
			t.Errorf("%q is %v, and that as a cursor %v, %v", text, *p, q, err)
		}
	})
}
