package legacy_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/meshyard/meshyard/test/servertest"
)

// TestDeprecatedCalls checks that administrators can query the callers of deprecated operations in
// both APIs, with the number of calls and the time of the last one. Other operations are not
// recorded.
func TestDeprecatedCalls(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, admin := s.User("ada"), s.Administrator()
		get := func(path, agent string) {
			r := ada.Request("GET", path, nil)
			r.Header.Set("User-Agent", agent)
			ada.Send(r)
		}
		for range 3 {
			get("/newest", "old/1")
		}
		get("/newest/?per_page=1", "old/2\t\xff")
		get("/files/1/finalize", "old/1")
		get("/search", "old/1")
		ada.Query(`{ a: newest { id } ...More } fragment More on Query { popular { id } me { id } }`, nil, new(any))
		ada.GraphQL(`{ newest { nothing } }`, nil)
		s.Client("").Get("/newest").Want(t, 401)
		const query = `{ deprecatedCalls { operation username tokenName userAgent calls firstAt lastAt } }`
		for range 2 { // the second query must not add the calls again
			var found struct {
				DeprecatedCalls []struct {
					Operation, Username, TokenName, UserAgent string
					Calls                                     int
					FirstAt, LastAt                           time.Time
				}
			}
			admin.Query(query, nil, &found)
			got := make(map[string]int)
			for _, c := range found.DeprecatedCalls {
				got[c.Operation+" "+c.UserAgent] = c.Calls
				if c.Username != "ada" || c.TokenName != "test" || time.Since(c.LastAt).Abs() > time.Minute ||
					c.FirstAt.After(c.LastAt) {
					t.Errorf("%+v", c)
				}
			}
			want := map[string]int{"get_newest old/1": 3, "get_newest old/2\uFFFD": 1, "get_files_file_id_finalize old/1": 1,
				"Query.newest Go-http-client/1.1": 1, "Query.popular Go-http-client/1.1": 1}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("got %v, want %v", got, want)
			}
		}
		get("/newest", "old/1")
		var found struct{ DeprecatedCalls []struct{ Calls int } }
		admin.Query(`{ deprecatedCalls(first: 1) { calls } }`, nil, &found)
		if len(found.DeprecatedCalls) != 1 || found.DeprecatedCalls[0].Calls != 4 {
			t.Errorf("after one call more, the latest is %v", found.DeprecatedCalls)
		}
		if code := ada.GraphQL(query, nil).Code(); code != "FORBIDDEN" {
			t.Errorf("ada sees them: %q", code)
		}
	})
}
