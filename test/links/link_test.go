// Package links_test imports things from URLs of real servers.
package links_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/test/servertest"
)

func nearby(s *config.Settings) { s.LinkLimit, s.LinkAllowPrivate = 4<<20, true }

// imported is an import from a URL.
type imported struct {
	ID, State, Error      string
	FilesTotal, BytesDone int64
	Skipped               []struct{ Path, Reason string }
	Things                []struct {
		ID, Name, State string
		Tags            []struct{ Name string }
		LicenseInfo     struct{ SPDXID string }
		Origin          *struct{ Creator, CreatorURL, URL, Site string }
		Files           []struct{ Path, SHA256 string }
	}
}

const importFields = `{ id state error filesTotal bytesDone skipped { path reason }
	things { id name state tags { name } licenseInfo { spdxId } origin { creator creatorUrl url site } files { path sha256 } } }`

// run imports a URL and returns the import at its end.
func run(t *testing.T, c *servertest.Client, input servertest.Object) imported {
	t.Helper()
	var started struct{ ImportLink struct{ LinkImport imported } }
	c.Query(`mutation ($in: ImportLinkInput!) { importLink(input: $in) { linkImport { id } } }`,
		servertest.Object{"in": input}, &started)
	var v struct{ LinkImport imported }
	servertest.Until(t, "the import ends", func() bool {
		c.Query(`query ($id: ID!) { linkImport(id: $id) `+importFields+` }`,
			servertest.Object{"id": started.ImportLink.LinkImport.ID}, &v)
		return v.LinkImport.State != "WAITING" && v.LinkImport.State != "RUNNING"
	})
	return v.LinkImport
}

// TestImportFromMeshyard imports a thing of another Meshyard twice: the second import adds the file
// that the thing got since, and creates no second thing.
func TestImportFromMeshyard(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		other := servertest.Start(t, "sqlite")
		eve, ada := other.User("eve"), s.User("ada")
		id := servertest.PublishedThing(t, eve, "Dragon")
		eve.Query(`mutation ($id: ID!) { updateThing(input: {id: $id, licenseId: "CC-BY-SA-4.0", tags: ["fire", "myth"]}) { thing { id } } }`, servertest.Object{"id": servertest.ID(id)}, new(struct{}))
		page := other.URL + "/thing:" + servertest.ID(id)

		var v struct {
			PreviewLink struct {
				Things []struct {
					Name      string
					FileCount int
					License   struct{ SPDXID string }
					Origin    struct{ Creator, URL string }
					Files     []struct{ Path, Kind string }
					Earlier   *struct{ ID string }
				}
			}
		}
		preview := `mutation ($url: String!) { previewLink(input: {url: $url}) { things { name fileCount license { spdxId } origin { creator url } files { path size kind } earlier { id } } skipped { path reason } } }`
		ada.Query(preview, servertest.Object{"url": page}, &v)
		if got := v.PreviewLink.Things; len(got) != 1 || got[0].Name != "Dragon" || got[0].License.SPDXID != "CC-BY-SA-4.0" ||
			got[0].Origin.Creator != "eve" ||
			got[0].Origin.URL != page || got[0].FileCount != 1 || got[0].Files[0].Path != "Dragon.stl" ||
			got[0].Files[0].Kind != "model" || got[0].Earlier != nil {
			t.Errorf("preview: got %+v", got)
		}

		first := run(t, ada, servertest.Object{"url": page})
		if first.State != "DONE" || first.Error != "" || len(first.Things) != 1 || first.FilesTotal != 1 ||
			first.BytesDone == 0 {
			t.Fatalf("got %+v", first)
		}
		thing := first.Things[0]
		if thing.Name != "Dragon" || thing.State != "DRAFT" || thing.LicenseInfo.SPDXID != "CC-BY-SA-4.0" ||
			len(thing.Tags) != 2 || thing.Origin == nil ||
			thing.Origin.Creator != "eve" || thing.Origin.CreatorURL != other.URL+"/eve" || thing.Origin.URL != page ||
			thing.Origin.Site != "127.0.0.1" || len(thing.Files) != 1 {
			t.Errorf("got %+v", thing)
		}

		eve.Finalize("thing", id, eve.Upload("tail.stl", servertest.Cube(3, 12))).Want(t, 200)
		second := run(t, ada, servertest.Object{"url": other.URL + "/things/" + servertest.ID(id) + "/files"})
		if second.State != "DONE" || len(second.Things) != 1 || second.Things[0].ID != thing.ID ||
			len(second.Things[0].Files) != 2 {
			t.Errorf("again: got %+v", second)
		}
		ada.Query(preview, servertest.Object{"url": page}, &v)
		if got := v.PreviewLink.Things; len(got) != 1 || got[0].Earlier == nil || got[0].Earlier.ID != thing.ID {
			t.Errorf("preview of an imported thing: got %+v", got)
		}
		bob := s.User("bob")
		if got := bob.GraphQL(`query ($id: ID!) { linkImport(id: $id) { id } }`, servertest.Object{"id": first.ID}).
			Code(); got != "NOT_FOUND" {
			t.Errorf("import of another user: got %s", got)
		}
		if got := bob.GraphQL(`mutation ($id: ID!) { cancelLinkImport(input: {id: $id}) { linkImport { id } } }`,
			servertest.Object{"id": first.ID}).Code(); got != "NOT_FOUND" {
			t.Errorf("cancel the import of another user: got %s", got)
		}
	}, nearby)
}

// TestImportFiles imports archives, single files and data packages, and refuses others.
func TestImportFiles(t *testing.T) {
	cube := servertest.Cube(10, 12)
	archive := new(bytes.Buffer)
	z := zip.NewWriter(archive)
	for name, content := range map[string]string{"Knight/body.stl": string(cube),
		"Knight/LICENSE.txt": "Creative Commons Attribution 4.0 International", "Knight/x.crdownload": "x"} {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(content))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	serve := func(path, kind string, content []byte) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = w.Write(content)
		})
	}
	serve("/knight.zip", "application/zip", archive.Bytes())
	serve("/models/cube.stl", "model/stl", cube)
	serve("/p/parts/a.stl", "application/octet-stream", cube)
	serve("/p/datapackage.json", "application/json", []byte(`{"name": "box", "title": "Box", "contributors": [{"title": "Ada L", "role": "creator"}], "licenses": [{"name": "CC0-1.0"}],
		"resources": [{"path": "parts/a.stl"}, {"path": "../secret.stl"}, {"name": "inline", "data": 1}]}`))
	serve("/bomb.zip", "application/zip", zipped(t, "bomb.stl", make([]byte, 5<<20)))
	serve("/page", "text/html", []byte("<html>"))
	serve("/large.stl", "model/stl", make([]byte, 5<<20))
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/models/cube.stl", http.StatusFound)
	})
	service := httptest.NewServer(mux)
	t.Cleanup(service.Close)

	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		ada, ids := s.User("ada"), map[string]bool{}
		for _, c := range []struct{ path, name, file, license, creator string }{
			{"/knight.zip", "Knight", "body.stl", "CC-BY-4.0", ""},
			{"/models/cube.stl", "cube", "cube.stl", "LicenseRef-Unknown", ""},
			{"/p/datapackage.json", "Box", "parts/a.stl", "CC0-1.0", "Ada L"},
			{"/moved", "cube", "cube.stl", "LicenseRef-Unknown", ""},
		} {
			for range 2 {
				got := run(t, ada, servertest.Object{"url": service.URL + c.path})
				if got.State != "DONE" || len(got.Things) != 1 {
					t.Errorf("%s: got %+v", c.path, got)
					continue
				}
				thing := got.Things[0]
				ids[thing.ID] = true
				if thing.Name != c.name || thing.Files[len(thing.Files)-1].Path != c.file ||
					thing.LicenseInfo.SPDXID != c.license || thing.Origin == nil || thing.Origin.Creator != c.creator {
					t.Errorf("%s: got %+v", c.path, thing)
				}
			}
		}
		if len(ids) != 3 { // the file at /moved is that of /models/cube.stl
			t.Errorf("got %d things of 4 URLs with 3 contents", len(ids))
		}
		for path, want := range map[string]string{
			"/bomb.zip": "url: the archive unpacks to 5242880 bytes, and at most 4194304 are permitted",
			"/page":     "url: it is a web page", "/nothing.zip": "url: there is nothing at the URL (404)",
			"/large.stl": "url: its files have more than 4194304 bytes",
		} {
			if got := run(t, ada, servertest.Object{"url": service.URL + path}); got.State != "FAILED" ||
				!strings.HasPrefix(got.Error, want) || len(got.Things) != 0 {
				t.Errorf("%s: got %+v", path, got)
			}
		}
		preview := `mutation ($url: String!, $token: String!) { previewLink(input: {url: $url, token: $token}) { things { name } } }`
		for _, address := range []string{"", "ftp://example.org/a.zip", "https://user@example.org/", "https:///x",
			"https://example.org/" + strings.Repeat("a", 2000)} {
			if got := ada.GraphQL(preview, servertest.Object{"url": address, "token": ""}); got.Code() != "BAD_USER_INPUT" {
				t.Errorf("%.60q: got %s", address, got.Code())
			}
		}
	}, nearby)
}

// TestPrivateAddresses checks that a server connects only to public addresses by default, also if
// a public URL redirects to one.
func TestPrivateAddresses(t *testing.T) {
	asked := false
	service := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	t.Cleanup(service.Close)
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		to, err := url.Parse(service.URL)
		if err != nil {
			t.Fatal(err)
		}
		for _, address := range []string{service.URL + "/a.zip", "http://localhost:" + to.Port() + "/thing:1",
			"http://[::ffff:127.0.0.1]:" + to.Port() + "/a.stl"} {
			r := ada.GraphQL(`mutation ($url: String!) { previewLink(input: {url: $url}) { things { name } } }`,
				servertest.Object{"url": address})
			if r.Code() != "BAD_USER_INPUT" || !strings.Contains(r.Errors[0].Message, "no address of the public internet") {
				t.Errorf("%s: got %s %v", address, r.Code(), r.Errors)
			}
			if got := run(t, ada, servertest.Object{"url": address}); got.State != "FAILED" ||
				got.Error != "url: the host has no address of the public internet" {
				t.Errorf("%s: got %+v", address, got)
			}
		}
		if asked {
			t.Error("a private address was requested")
		}
		if got := ada.GraphQL(
			`mutation { importLink(input: {url: "http://example.org/a.zip", token: "secret"}) { linkImport { id } } }`, nil).
			Code(); got != "BAD_USER_INPUT" {
			t.Errorf("a token without TLS: got %s", got)
		}
	}, func(s *config.Settings) { s.LinkLimit = 1 << 20 })
}

// zipped returns a ZIP archive with a file.
func zipped(t *testing.T, name string, content []byte) []byte {
	t.Helper()
	b := new(bytes.Buffer)
	z := zip.NewWriter(b)
	w, err := z.Create(name)
	if err == nil {
		_, err = w.Write(content)
	}
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestImportContinues checks that an import whose process died starts again, that one that another
// process runs is left to it, and that a canceled one does not start.
func TestImportContinues(t *testing.T) {
	cube := servertest.Cube(10, 12)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(cube) }))
	t.Cleanup(service.Close)
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		start := func(path string) string {
			var v struct{ ImportLink struct{ LinkImport imported } }
			ada.Query(`mutation ($url: String!) { importLink(input: {url: $url, token: "secret"}) { linkImport { id } } }`,
				servertest.Object{"url": service.URL + path}, &v)
			return v.ImportLink.LinkImport.ID
		}
		work := func(want bool) {
			t.Helper()
			if worked, err := s.Store.Link.Work(t.Context()); worked != want || err != nil {
				t.Errorf("got %t, %v, want %t", worked, err, want)
			}
		}
		set := func(at time.Time) {
			t.Helper()
			_, err := s.Store.DB.Write.NewUpdate().Table("link_imports").
				Set("runner = 'another', state = 'running', beat_at = ?", at).Where("finished_at IS NULL").Exec(t.Context())
			if err != nil {
				t.Fatal(err)
			}
		}
		state := func(id string) imported {
			var v struct{ LinkImport imported }
			ada.Query(`query ($id: ID!) { linkImport(id: $id) `+importFields+` }`, servertest.Object{"id": id}, &v)
			return v.LinkImport
		}
		id := start("/a.stl")
		if again := start("/a.stl"); again != id {
			t.Errorf("the same URL started import %s beside %s", again, id)
		}
		set(models.Now())
		work(false)
		set(models.Now().Add(-time.Minute))
		work(true)
		if got := state(id); got.State != "DONE" || len(got.Things) != 1 {
			t.Errorf("after the process died: got %+v", got)
		}
		var tokens []string
		if err := s.Store.DB.Read.NewSelect().Table("link_imports").Column("token").Scan(t.Context(), &tokens); err != nil ||
			len(tokens) != 1 || tokens[0] != "" {
			t.Errorf("got the tokens %q, %v after the end", tokens, err)
		}
		id = start("/b.stl")
		ada.Query(`mutation ($id: ID!) { cancelLinkImport(input: {id: $id}) { linkImport { state } } }`,
			servertest.Object{"id": id}, new(struct{ CancelLinkImport any }))
		work(false)
		if got := state(id); got.State != "CANCELED" || len(got.Things) != 0 {
			t.Errorf("canceled: got %+v", got)
		}
	}, nearby, func(s *config.Settings) { s.Roles = config.Roles{config.RoleWeb} })
}
