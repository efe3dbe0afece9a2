package bearer_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/meshyard/meshyard/internal/auth/bearer"
)

// TestToken checks where the token of a request is read from.
func TestToken(t *testing.T) {
	for name, c := range map[string]struct{ header, query, want string }{
		"none":                     {"", "", ""},
		"header":                   {"Bearer my_a", "", "my_a"},
		"lower-case header":        {"bearer  my_a ", "", "my_a"},
		"scheme of old clients":    {"token my_a", "", "my_a"},
		"query":                    {"", "?page=2&access_token=my_b", "my_b"},
		"header wins":              {"Bearer my_a", "?access_token=my_b", "my_a"},
		"empty header":             {"Bearer ", "", ""},
		"empty header, and query":  {"Bearer ", "?access_token=my_b", "my_b"},
		"end of a URL":             {"Bearer my_a&token_type=Bearer", "", "my_a"},
		"end of a URL, query":      {"", "?access_token=my_b%26token_type", "my_b"},
		"other scheme":             {"Basic YTpi", "", "not a bearer token"},
		"other scheme, and query":  {"Basic YTpi", "?access_token=my_b", "my_b"},
		"other scheme, and empty":  {"Basic YTpi", "?access_token=", "not a bearer token"},
		"other scheme, other name": {"Basic YTpi", "?my_access_token=my_b", "not a bearer token"},
	} {
		r := httptest.NewRequest(http.MethodGet, "/things/1"+c.query, nil)
		if c.header != "" {
			r.Header.Set("Authorization", c.header)
		}
		if got := bearer.Token(r); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
