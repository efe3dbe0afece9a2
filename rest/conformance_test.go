package rest

import (
	"testing"

	"github.com/meshyard/meshyard/rest/published"
)

// TestEveryPublishedOperation checks that each operation of the published interface is either
// served or refused with a reason.
func TestEveryPublishedOperation(t *testing.T) {
	served, refused := make(map[string]bool), make(map[string]bool)
	for _, r := range routes {
		served[published.Shape(r.method, r.path)] = true
	}
	for _, u := range unserved {
		shape := published.Shape(u.method, u.path)
		if refused[shape] {
			t.Errorf("%s %s: twice among the refusals", u.method, u.path)
		}
		if u.reason == "" {
			t.Errorf("%s %s: refused without a reason", u.method, u.path)
		}
		refused[shape] = true
	}
	known := make(map[string]bool)
	for _, op := range published.Operations() {
		shape := published.Shape(op.Method, op.Path)
		known[shape] = true
		switch {
		case served[shape] && refused[shape]:
			t.Errorf("%s %s: served and refused: remove its row from unserved", op.Method, op.Path)
		case !served[shape] && !refused[shape]:
			t.Errorf("%s %s: neither served nor refused", op.Method, op.Path)
		}
	}
	for shape := range refused {
		if !known[shape] {
			t.Errorf("%s: refused, but not part of the published interface", shape)
		}
	}
}
