package server_test

import (
	"encoding/json"
	"testing"

	"github.com/meshyard/meshyard/cmd/meshyard/server/servertest"
)

// decode decodes the data of a result, which must be successful.
func decode(t testing.TB, r *servertest.Result, v any) {
	t.Helper()
	if len(r.Errors) > 0 {
		t.Fatalf("errors: %+v", r.Errors)
	}
	if err := json.Unmarshal(r.Data, v); err != nil {
		t.Fatalf("%v: %s", err, r.Data)
	}
}
