package rest_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestPublicCaching puts a shared cache in front of the server, which stores public responses by
// URL only, and checks that no caller gets a response to another caller.
func TestPublicCaching(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada", auth.Read, auth.Write), s.User("bob", auth.Read, auth.Write)
		id, draft := ada.Thing("Gear"), ada.Thing("Secret")
		ada.Finalize("thing", id, ada.Upload("gear.stl", []byte("solid gear\nendsolid gear\n")))
		ada.Publish(id)
		anonymous := ada.For(t)
		anonymous.Token = ""

		persisted := func(document string) string {
			sum := sha256.Sum256([]byte(document))
			extensions := fmt.Sprintf(`{"persistedQuery":{"version":1,"sha256Hash":"%s"}}`, hex.EncodeToString(sum[:]))
			// Send the document once; later requests send only its hash (persisted query).
			ada.Get("/graphql?"+url.Values{"query": {document}, "extensions": {extensions}}.Encode()).Want(t, 200)
			return "/graphql?" + url.Values{"extensions": {extensions}}.Encode()
		}
		public := persisted(fmt.Sprintf(`{ thing(id: %d) { name isLiked creator { username email } } }`, id))
		hidden := persisted(fmt.Sprintf(`{ thing(id: %d) { name } }`, draft))
		byText := "/graphql?" + url.Values{"query": {fmt.Sprintf(`{ thing(id: %d) { name } }`, id)}}.Encode()
		kept := map[string]*servertest.Response{}
		get := func(c *servertest.Client, address string) *servertest.Response {
			if r := kept[address]; r != nil {
				return r
			}
			r := c.Get(address)
			if strings.Contains(r.Header.Get("Cache-Control"), "public") {
				kept[address] = r
			}
			return r
		}
		for _, c := range []*servertest.Client{ada, bob, anonymous, ada, bob, anonymous} {
			for _, address := range []string{public, hidden, byText} {
				got, alone := get(c, address), c.Get(address)
				if string(got.Bytes) != string(alone.Bytes) && c == anonymous {
					t.Errorf("%s: got %s from the cache, want %s", address, got.Bytes, alone.Bytes)
				}
				if c == anonymous && strings.Contains(string(got.Bytes), "ada@") {
					t.Errorf("%s: an anonymous caller got %s", address, got.Bytes)
				}
				want := "private, no-cache"
				switch {
				case c == anonymous && address == public:
					want = "public, max-age=60"
				case c != ada && address == hidden:
					want = "no-store"
				}
				if control := alone.Header.Get("Cache-Control"); control != want {
					t.Errorf("%s: Cache-Control %q, want %q", address, control, want)
				}
			}
		}
		if len(kept) != 1 {
			t.Errorf("the cache kept %d responses, want 1", len(kept))
		}
		tag := anonymous.Get(public).Header.Get("ETag")
		conditional := anonymous.Request("GET", public, nil)
		conditional.Header.Set("If-None-Match", tag)
		again := anonymous.Send(conditional)
		if tag == "" || again.StatusCode != http.StatusNotModified || len(again.Bytes) != 0 {
			t.Errorf("with the ETag %s: status %d, body %s", tag, again.StatusCode, again.Bytes)
		}
		if vary := strings.Join(again.Header.Values("Vary"), ", "); !strings.Contains(vary, "Authorization") ||
			!strings.Contains(vary, "Cookie") {
			t.Errorf("Vary is %q", vary)
		}
		if anonymous.Get(public).Header.Get("RateLimit") != "" {
			t.Error("a public response has the rate limit of one client")
		}
		if control := anonymous.Get(byText).Header.Get("Cache-Control"); strings.Contains(control, "public") {
			t.Errorf("a document sent as text: Cache-Control %q", control)
		}
	})
}
