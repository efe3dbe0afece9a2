package graphqlhttp

import (
	"encoding/json"
	"net/http"

	"github.com/99designs/gqlgen/graphql"

	"github.com/meshyard/meshyard/internal/apierror"
)

// result is the response to an operation that was executed.
type result struct {
	body       encoded
	status     int
	retryAfter int      // seconds; 0 if unknown
	codes      []string // of its errors
}

// newResult encodes a response. Its status is 200 even if it has errors, for any media type,
// because their codes are in the body. The exception is an operation that returns no data because
// of an outage: proxies and clients then see 503 or 507, and try again or use another server.
func newResult(response *graphql.Response) result {
	done := result{body: encode(response), status: http.StatusOK}
	for _, e := range response.Errors {
		code := apierror.Code(text(e.Extensions["code"]))
		done.codes = append(done.codes, string(code))
		if code != apierror.Unavailable && code != apierror.InsufficientStorage {
			continue
		}
		if seconds, ok := e.Extensions["retryAfter"].(int); ok {
			done.retryAfter = seconds
		}
		if done.status == http.StatusOK && empty(response.Data) {
			done.status = statusOf(code)
		}
	}
	return done
}

func text(value any) string {
	s, _ := value.(string)
	return s
}

// empty reports whether data is null, or all its root fields are.
func empty(data []byte) bool {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return false
	}
	for _, value := range fields {
		if string(value) != "null" {
			return false
		}
	}
	return true
}
