package rest_test

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/test/servertest"
)

// TestContentDigest uploads in both APIs with the header Content-Digest. A body with another digest
// is refused, and nothing is stored.
func TestContentDigest(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		digest := func(p []byte) string {
			sum := sha256.Sum256(p)
			return "sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":"
		}
		const operations = `{"query": "mutation ($file: Upload!) { uploadFile(input: {file: $file}) { file { id } } }", "variables": {"file": null}}`
		for _, size := range []int{1, 5000, 300_000} {
			file := []byte("solid" + strings.Repeat(" ", size))
			rest, restType := servertest.Form(nil, "file", "a.stl", file)
			graphql, graphqlType := servertest.Form([][2]string{{"operations", operations},
				{"map", `{"0": ["variables.file"]}`}}, "0", "a.stl", file)
			for _, c := range []struct {
				path, contentType string
				body              []byte
			}{
				{"/files/0/uploadFile", restType, rest}, {"/graphql", graphqlType, graphql},
				{"/things", "application/json", []byte(`{"name": "One", "license": "cc", "category": "Tools"}`)},
			} {
				for want, header := range map[int]string{200: digest(c.body), 400: digest(c.body[1:])} {
					for _, chunked := range []bool{false, true} {
						r := ada.Request(http.MethodPost, c.path, c.body)
						r.Header.Set("Content-Type", c.contentType)
						r.Header.Set("Content-Digest", header)
						if chunked {
							r.ContentLength = -1
						}
						got := ada.Send(r)
						refused := got.StatusCode == 400 || strings.Contains(string(got.Bytes), `"errors":`)
						if refused != (want == 400) || refused && !strings.Contains(string(got.Bytes),
							"Content-Digest: the body of the request has another digest") {
							t.Errorf("%s with %d bytes, chunked: %t: got %d %s, want %d", c.path, len(c.body), chunked, got.StatusCode,
								got.Bytes, want)
						}
					}
				}
			}
		}
		servertest.NothingLeft(t, s, 12)
		r := ada.Request(http.MethodPost, "/things", "{}")
		r.Header.Set("Content-Digest", "sha-256=x")
		ada.Send(r).Want(t, 400)
	})
}
