package graphqlhttp

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestBatchesAreRefused checks that the error for a batch of operations, which some clients send,
// says that batches are not supported.
func TestBatchesAreRefused(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`[{"query":"{me{id}}"}]`: "batches of operations are not supported",
		"\n [ ]":                 "batches of operations are not supported",
		`"query"`:                "must not be a JSON string",
		`{"query":"{me{id}}"}`:   "",
	} {
		r := httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(body))
		r.Header.Set("Content-Type", jsonType)
		_, status, err := readRequest(r, true)
		switch {
		case want == "" && (err != nil || status != http.StatusOK):
			t.Errorf("%s: got %d and %v, want no error", body, status, err)
		case want != "" && (err == nil || status != http.StatusBadRequest || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: got %d and %v, want 400 and %q", body, status, err, want)
		}
	}
}
