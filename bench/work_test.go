package main

import (
	"reflect"
	"testing"
)

// TestPlain checks which responses are considered equal.
func TestPlain(t *testing.T) {
	t.Parallel()
	const response = `{"data":{"file":{"id":"7","kind":"MODEL","size":1037,"createdAt":"2023-03-04T05:06:07.008009Z"}}}`
	for _, c := range []struct {
		name, other string
		same        bool
	}{
		{"other order and white space", `{"data": {"file": {"kind":"MODEL","id":"7","createdAt":"2023-03-04T05:06:07.008009Z","size":1037}}}`, true},
		{"number as text, other case, other zone", `{"data":{"file":{"id":"7","kind":"model","size":"1037","createdAt":"2023-03-04T06:06:07.008009+01:00"}}}`, true},
		{"another number", `{"data":{"file":{"id":"7","kind":"MODEL","size":1038,"createdAt":"2023-03-04T05:06:07.008009Z"}}}`, false},
		{"a missing field", `{"data":{"file":{"id":"7","kind":"MODEL","size":1037}}}`, false},
		{"an error", `{"errors":[{"message":"no"}],"data":{"file":null}}`, false},
	} {
		want, err := plain([]byte(response))
		if err != nil {
			t.Fatal(err)
		}
		got, err := plain([]byte(c.other))
		if err != nil {
			t.Fatal(err)
		}
		if same := reflect.DeepEqual(want, got); same != c.same {
			t.Errorf("%s: equal is %t, want %t", c.name, same, c.same)
		}
	}
}
