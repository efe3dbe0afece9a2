package rest_test

import (
	"fmt"
	"hash/crc32"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/test/servertest"
)

// hostileValues are other values that clients may send in a JSON body.
var hostileValues = []any{nil, true, 0, -1, 1e300, 0.5, []any{}, []any{nil}, []any{[]any{}}, []any{servertest.Object{}},
	servertest.Object{}, servertest.Object{"id": servertest.Object{}}, servertest.Object{"name": []any{1}},
	slices.Repeat([]any{"a"}, 2_000)}

// TestNoInputCausesInternalError checks that no input of any operation causes a 500, or a response
// that does not match the OpenAPI description (which Send checks). Errors must have the documented
// shape. It sends a third of the requests, or all if MESHYARD_TEST_HOSTILE is "all".
func TestNoInputCausesInternalError(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		world := servertest.FullThing(t, s, ada, bob)
		type parameter struct{ Name, In string }
		var described struct {
			Paths map[string]map[string]struct {
				Parameters  []parameter
				RequestBody struct {
					Content map[string]struct {
						Schema struct{ Properties map[string]any }
					}
				}
			}
		}
		s.Client("").Get("/openapi.json").Want(t, 200, &described)
		sent := 0
		send := func(method, path string, body any) {
			if all := os.Getenv("MESHYARD_TEST_HOSTILE") == "all"; !all &&
				crc32.ChecksumIEEE(fmt.Append(nil, method, path, body))%3 != 0 {
				return
			}
			sent++
			r := ada.Do(method, path, body)
			if r.StatusCode >= 500 || r.StatusCode >= 400 && r.Header.Get("X-Error") == "" {
				t.Errorf("%s %q %.200v: %d %.300s", method, path, body, r.StatusCode, r.Bytes)
			}
		}
		// at returns a path with its parameters filled in, and value for the parameter name.
		at := func(path, name, value string) string {
			for parameter, known := range world {
				if parameter != name {
					path = strings.ReplaceAll(path, "{"+parameter+"}", fmt.Sprint(known))
				}
			}
			return strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(value))
		}
		for path, methods := range described.Paths {
			for method, op := range methods {
				method = strings.ToUpper(method)
				if path == "/upload_file_storage" || path == "/files/0/uploadFile" {
					continue // these have separate tests
				}
				for _, p := range op.Parameters {
					for _, text := range servertest.HostileTexts {
						switch {
						case p.In == "query":
							send(method, at(path, "", "")+"?"+url.Values{p.Name: {text}}.Encode(), nil)
						// The mux would clean a path with "..", which then matches another operation.
						case method == http.MethodGet || method == http.MethodPost:
							if text != "" && !strings.Contains(text, "..") {
								send(method, at(path, p.Name, text), nil)
							}
						}
					}
				}
				for property := range op.RequestBody.Content["application/json"].Schema.Properties {
					// All other fields are valid.
					fields := servertest.Object{"name": "n", "license": "cc", "category": "Art", "body": "b", "filename": "f.stl",
						"target_type": "thing", "target_id": world["thing_id"], "rank": 1}
					for _, text := range servertest.HostileTexts {
						if text != "\xff\xfe" {
							fields[property] = text
							send(method, at(path, "", ""), fields)
						}
					}
					for _, value := range hostileValues {
						fields[property] = value
						send(method, at(path, "", ""), fields)
					}
				}
				for _, body := range []string{"[", "{", `{"a":`, `[1]`, "\xff", `{"name":"\ud800"}`, "a=%zz",
					strings.Repeat("[", 5_000), `{"name":"` + strings.Repeat("x", 1<<20) + `"}`} {
					send(method, at(path, "", ""), body)
				}
			}
		}
		if sent < 1_000 {
			t.Errorf("only %d requests were sent", sent)
		}
		// The server still works, and the counts are correct.
		s.Fold()
		servertest.SoundCounts(t, s)
	})
}
