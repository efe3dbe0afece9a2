package permissions_test

import (
	"fmt"
	"maps"
	"regexp"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/test/servertest"
)

// private lists the fixtures of private objects, with the placeholders that refer to them.
var private = map[string][]string{"upload pending": {"file", "image"}, "upload staged": {"file", "image"},
	"token": {"token"}, "session": {"id"}}

// amongOthers are rows about lists that contain private objects and others, for which the APIs
// differ: GraphQL returns an empty list, and REST an error.
var amongOthers = []permission{
	{"Thing.files", "upload pending, upload staged", `{ thing(id: $thing) { files(ids: [$file]) { id } } }`,
		"get_things_thing_id_files_file_id get_things_thing_id_images_image_id", ""},
}

// TestPrivateExistence checks that the existence of another user's pending upload, access token or
// session is not revealed: each operation responds as if the object did not exist, except for
// digits, and with the same number of database statements.
func TestPrivateExistence(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		m := newMatrix(t, s)
		rows := amongOthers
		for _, table := range permissions {
			rows = append(rows, table.rows...)
		}
		covered, taking := make(map[string]bool), make(map[string]bool)
		for _, p := range rows {
			of, _, _ := strings.Cut(p.field, ",")
			taking[of] = taking[of] || strings.Contains(p.ask, "$file") && !strings.HasPrefix(of, "File.")
			for _, in := range strings.Split(p.fixtures, ", ") {
				if names := private[in]; names != nil {
					covered[of] = true
					m.alike(p, in, names)
				}
			}
		}
		for of := range taking {
			if taking[of] && !covered[of] {
				t.Errorf("%s has a file argument, and no row passes another user's upload", of)
			}
		}
		m.addressesAlike()
	})
}

// askedNode matches the part of an error that repeats the node ID of the request.
var askedNode = regexp.MustCompile(`node "[^"]*"`)

// alike checks that the responses for another user's object and for a missing object are the same.
func (m *matrix) alike(p permission, in string, names []string) {
	m.T.Helper()
	there := m.Set("ada", in)
	missing := maps.Clone(there)
	for _, name := range names {
		missing[name] = "999999"
	}
	c := m.clients[other][m.scopeOf(p)]
	ask := func(sc servertest.Fixture) func() string {
		document := m.filled(p.ask, sc, other)
		return func() string {
			if strings.HasPrefix(document, "subscription") {
				return string(m.firstEvent(c, document))
			}
			r := c.GraphQL(document, nil)
			return askedNode.ReplaceAllString(fmt.Sprint(r.Errors, string(r.Data)), "node")
		}
	}
	m.compare(p.field+" of a "+in, ask(there), ask(missing))
	for _, operation := range strings.Fields(p.routes) {
		call := func(sc servertest.Fixture) func() string {
			r := m.request(operation, p.body, sc, other)
			return func() string { return told(c.Do(r.method, r.path, r.body)) }
		}
		m.compare(operation+" of a "+in, call(there), call(missing))
	}
}

// addressesAlike does the same for URLs of content, which can be requested without a token.
func (m *matrix) addressesAlike() {
	m.T.Helper()
	nobody := m.clients[anonymous][auth.Read]
	for _, in := range []string{"upload pending", "upload staged"} {
		id := m.Set("ada", in)["file"]
		for _, path := range []string{"/download:%s", "/blobs/%s/a.stl", "/view/%s", "/threejs/%s/any/model.json",
			"/glb/%s/any/model.glb", "/renders/%s/any/full.png", "/blobs/%s/a.stl?expires=1&signature=x"} {
			get := func(id string) func() string {
				return func() string { return told(nobody.Get(fmt.Sprintf(path, id))) }
			}
			m.compare(path+" of a "+in, get(id), get("999999"))
		}
	}
}

// nonce matches the random nonce of a page, which its Content-Security-Policy contains.
var nonce = regexp.MustCompile(`nonce="[^"]*"`)

// told returns everything in a response that could reveal the existence of an object.
func told(r *servertest.Response) string {
	body := nonce.ReplaceAllString(string(r.Bytes), "")
	return fmt.Sprint(r.StatusCode, r.Header.Get("X-Error"), r.Header.Get("Content-Type"), r.Header.Get("Location"), body)
}

// compare makes two calls, which must have the same response and the same number of statements. It
// uses the minimum of several measurements, because background work of the server sends statements
// too.
func (m *matrix) compare(name string, there, missing func() string) {
	m.T.Helper()
	measured := func(call func() string) (words string, least int64) {
		least = 1 << 62
		for range 5 {
			before := m.S.RequestStatements()
			words = digitsOut(call())
			least = min(least, m.S.RequestStatements()-before)
		}
		return words, least
	}
	words, statements := measured(there)
	if wordsOfNone, statementsOfNone := measured(missing); words != wordsOfNone || statements != statementsOfNone {
		m.T.Errorf("%s: got, with %d statements,\n%s\nand of none, with %d,\n%s", name, statements, words, statementsOfNone,
			wordsOfNone)
	}
	if !strings.Contains(words, "NOT_FOUND") && !strings.Contains(words, "does not exist") &&
		!strings.Contains(words, `"files":[]`) {
		m.T.Errorf("%s: got %s, want that it does not exist", name, words)
	}
}

func digitsOut(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, s)
}

// TestWritingDoesNotRead checks that a token with only the scope write receives what it has
// changed, and cannot read private data.
func TestWritingDoesNotRead(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		s.User("ada").Query(`mutation { updateProfile(input: {email: "ada@models.example"}) { user { id } } }`, nil, new(any))
		c := s.Client(s.Token("ada", auth.Write))
		var r struct {
			UpdateProfile struct{ User struct{ Email *string } }
		}
		c.Query(`mutation { updateProfile(input: {location: "Here"}) { user { email } } }`, nil, &r)
		if r.UpdateProfile.User.Email != nil {
			t.Errorf("the address is revealed: %s", *r.UpdateProfile.User.Email)
		}
		for _, list := range []string{"things", "makes", "likedThings", "collections", "followers", "following", "downloads",
			"downloadedThings"} {
			if code := c.GraphQL(`mutation { updateProfile(input: {}) { user { `+list+` { totalCount } } } }`, nil).
				Code(); code != "FORBIDDEN" {
				t.Errorf("%s: %q", list, code)
			}
		}
		c.Thing("Made with no more than that")
		c.Do("PATCH", "/users/me", servertest.Object{"bio": "No more than that."}).Want(t, 200)
	})
}
