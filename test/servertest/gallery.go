package servertest

import (
	"fmt"
	"testing"
)

// NodeID returns the nodeId of the caller's user.
func NodeID(t testing.TB, c *Client) string {
	t.Helper()
	var found struct{ Me struct{ NodeID string } }
	c.Query(`{ me { nodeId } }`, nil, &found)
	return found.Me.NodeID
}

// Below returns the value of the first field with a name at any depth, or nil.
func Below(v any, name string) any {
	o, _ := v.(map[string]any)
	if found, ok := o[name]; ok {
		return found
	}
	for _, inner := range o {
		if found := Below(inner, name); found != nil {
			return found
		}
	}
	return nil
}

func Atoi(t *testing.T, s string) (n int64) {
	t.Helper()
	if _, err := fmt.Sscan(s, &n); err != nil {
		t.Fatal(err)
	}
	return n
}
