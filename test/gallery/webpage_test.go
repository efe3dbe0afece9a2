package gallery_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"testing"

	webgallery "github.com/meshyard/meshyard/internal/web/gallery"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/rest"
	"github.com/meshyard/meshyard/rest/wire"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestWebPages opens the web pages that API responses link to, like a browser without JavaScript
// and without a token.
func TestWebPages(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, visitor := s.User("ada"), s.Client("")
		id := servertest.PublishedThing(t, ada, "Bracket <b>")
		draft := ada.Thing("Hidden")
		ada.Do("POST", "/collections", servertest.Object{"name": "Brackets"}).Want(t, 200)
		ada.Do("POST", fmt.Sprintf("/collections/1/thing/%d", id), nil).Want(t, 200)
		ada.Do("PATCH", fmt.Sprintf("/things/%d", id), servertest.Object{"tags": []string{"Wall Mount"}}).Want(t, 200)
		var thing struct {
			PublicURL string `json:"public_url"`
		}
		ada.Get(fmt.Sprintf("/things/%d", id)).Want(t, 200, &thing)
		html := func(path string, status int) string {
			t.Helper()
			r := visitor.Request("GET", path, nil)
			r.Header.Set("Accept", "text/html,*/*")
			response := visitor.Send(r)
			response.Want(t, status)
			policy := response.Header.Get("Content-Security-Policy")
			if status == 200 && (strings.Contains(policy, "unsafe") || !strings.Contains(policy, "default-src 'none'")) {
				t.Errorf("%s: policy %q", path, policy)
			}
			if !strings.HasPrefix(response.Header.Get("Content-Type"), "text/html") {
				t.Errorf("%s: is %s", path, response.Header.Get("Content-Type"))
			}
			return string(response.Bytes)
		}
		page := html(thing.PublicURL, 200)
		for _, part := range []string{"Bracket &lt;b&gt;", "Creative Commons Attribution 4.0", "/ada", "/download:", "/zip",
			"Made for a test.", "Likes: 0, makes: 0, downloads: 0"} {
			if !strings.Contains(page, part) {
				t.Errorf("the page of the thing lacks %s", part)
			}
		}
		if page := html("/ada", 200); !strings.Contains(page, ">Things</a>") {
			t.Error("the page of a user has no list Things")
		}
		for _, path := range []string{"/", "/explore?q=bracket", "/ada", "/ada/designs", "/tag:wall_mount", "/collection:1",
			"/category/tools"} {
			if !strings.Contains(html(path, 200), fmt.Sprintf("/thing:%d", id)) {
				t.Errorf("%s does not lead to the thing", path)
			}
		}
		for path, operation := range map[string]string{
			"/": "home", "/explore": "search", "/explore?q=bracket": "search",
			fmt.Sprintf("/thing:%d", id): "thing", fmt.Sprintf("/thing:%d/comments", id): "thing",
			fmt.Sprintf("/thing:%d/makes", id): "thing", "/explore?q=bracket&sort=newest": "", "/ada": "",
		} {
			if got := embeddedOperation(t, visitor, html(path, 200)); got != operation {
				t.Errorf("%s: embeds the response to %q, want %q", path, got, operation)
			}
		}
		html(fmt.Sprintf("/thing:%d", draft), 404)
		html("/thing:x", 404)
		html("/nobody", 404)
		visitor.Get(fmt.Sprintf("/thing:%d", draft)).Want(t, 404)
		ada.Get(fmt.Sprintf("/thing:%d", draft)).Want(t, 200) // ada's token gives access
		visitor.Get(fmt.Sprintf("/thing:%d/zip", draft)).Want(t, 404)
		ada.Get("/api/users/me").Want(t, 200)
		visitor.Get("/api/users/me").Want(t, 401)
	})
}

// embeddedOperation returns the name of the operation whose response is embedded in a page, and
// checks that a client of the gallery would get the same response.
func embeddedOperation(t *testing.T, visitor *servertest.Client, page string) string {
	t.Helper()
	found := regexp.MustCompile(`id="answer"[^>]*>([^<]*)</script>`).FindStringSubmatch(page)
	if found == nil {
		return ""
	}
	var response struct {
		Operation string
		Variables servertest.Object
		Data      any
	}
	if err := json.Unmarshal([]byte(found[1]), &response); err != nil {
		t.Fatal(err)
	}
	for _, document := range webgallery.Documents() {
		if document.Name == response.Operation {
			var want any
			servertest.Decode(t, visitor.GraphQL(document.Text, response.Variables), &want)
			for _, data := range []any{response.Data, want} {
				if thing, ok := servertest.Below(data, "thing").(map[string]any); ok {
					delete(thing, "viewCount") // the page itself counts as a view
				}
			}
			if !reflect.DeepEqual(response.Data, want) {
				t.Errorf("%s: the page has %v, want %v", response.Operation, response.Data, want)
			}
		}
	}
	return response.Operation
}

// TestZip downloads the files of a thing as a ZIP archive, in one request and resumed, and compares
// the content.
func TestZip(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		ada, visitor := s.User("ada"), s.Client("")
		id := ada.Thing("Set")
		stl, png := servertest.Mesh(t, "hschendel_simple_bin.stl"), servertest.Mesh(t, "lib3mf_thumbnail.png")
		ada.Finalize("thing", id, ada.Upload("part.stl", stl), ada.Upload("PART.stl", append([]byte("other"), stl...)),
			ada.Upload("look.png", png)).Want(t, 200)
		ada.Publish(id).Want(t, 200)
		path := fmt.Sprintf("/thing:%d/zip", id)
		if got := servertest.ReadObject(t,
			ada.Get(fmt.Sprintf("/things/%d/package-url", id)))["public_url"]; got != s.URL+path {
			t.Errorf("package-url has the URL %v, want %s%s", got, s.URL, path)
		}
		whole := visitor.Get(path).Want(t, 200)
		z, err := zip.NewReader(bytes.NewReader(whole.Bytes), int64(len(whole.Bytes)))
		if err != nil {
			t.Fatal(err)
		}
		want := map[string][]byte{"files/part.stl": stl, "files/PART (2).stl": append([]byte("other"), stl...),
			"images/look.png": png}
		credits := map[string][]string{
			"LICENSE.txt": {"License: Creative Commons Attribution 4.0\nhttps://creativecommons.org/licenses/by/4.0/\n"},
			"README.md": {"# Set\n", "- Creator: [ada](<" + s.URL + "/ada>)\n", "- Page: " + s.URL, "(CC-BY-4.0)",
				"- Version: 20"},
			"datapackage.json": {`"title": "Set"`, `"name": "CC-BY-4.0"`, `"path": "files/PART (2).stl"`,
				`"thingPath": "PART.stl"`},
		}
		for _, f := range z.File {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			content, err := io.ReadAll(r)
			if parts, ok := credits[f.Name]; ok {
				for _, part := range parts {
					if !strings.Contains(string(content), part) {
						t.Errorf("%s: got %q, want %q in it", f.Name, content, part)
					}
				}
				delete(credits, f.Name)
				continue
			}
			if err != nil || !bytes.Equal(content, want[f.Name]) || f.Method != zip.Store {
				t.Errorf("%s: %d bytes, want %d: %v", f.Name, len(content), len(want[f.Name]), err)
			}
			delete(want, f.Name)
		}
		if len(want)+len(credits) > 0 {
			t.Errorf("the archive lacks %d files and %d of its credit", len(want), len(credits))
		}
		for _, from := range []int{1, 100, len(stl) + 60, len(whole.Bytes) - 30} {
			r := visitor.Request("GET", path, nil)
			r.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
			r.Header.Set("If-Range", whole.Header.Get("ETag"))
			rest := visitor.Send(r).Want(t, http.StatusPartialContent)
			if !bytes.Equal(rest.Bytes, whole.Bytes[from:]) {
				t.Errorf("resumed at %d: other bytes", from)
			}
		}
		if head := visitor.Do("HEAD", path, nil).Want(t, 200); head.ContentLength != int64(len(whole.Bytes)) {
			t.Errorf("HEAD announces %d bytes, the archive has %d", head.ContentLength, len(whole.Bytes))
		}
	})
}

// TestReservedNames checks that a path of the server cannot be used as a username.
func TestReservedNames(t *testing.T) {
	s := servertest.Start(t, "sqlite")
	for _, name := range []string{"things", "GraphQL", "api", "thingops"} {
		if _, err := s.Store.Admin().CreateUser(context.Background(), name, false); models.CodeOf(err) != models.BadInput {
			t.Errorf("user %s: %v, want BAD_USER_INPUT", name, err)
		}
	}
	for _, path := range rest.Paths() {
		first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		if _, err := s.Store.Admin().CreateUser(context.Background(), first, false); models.CodeOf(err) != models.BadInput {
			t.Errorf("%s is a path, and a user can be named %s", path, first)
		}
	}
}

// TestTagURLs checks that the URLs of tags work, whatever characters the tags have.
func TestTagURLs(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		id := ada.Thing("One")
		ada.Finalize("thing", id, ada.Upload("a.stl", servertest.Mesh(t, "numpystl_HalfDonut_bin.stl"))).
			Want(t, http.StatusOK)
		names := []string{"1/4 inch", "a//b", "/start", "50% off?"}
		ada.Do(http.MethodPatch, "/things/"+servertest.ID(id), servertest.Object{"tags": names}).Want(t, http.StatusOK)
		ada.Publish(id).Want(t, http.StatusOK)
		var tags []wire.Tag
		if ada.Get("/things/"+servertest.ID(id)+"/tags").Want(t, http.StatusOK, &tags); len(tags) != len(names) {
			t.Fatalf("the thing has the tags %+v, want %q", tags, names)
		}
		for _, tag := range tags {
			ada.Get(strings.TrimPrefix(tag.URL, s.URL)).Want(t, http.StatusOK)
			ada.Get(strings.TrimPrefix(tag.ThingsURL, s.URL)).Want(t, http.StatusOK)
			s.Browser().Get(tag.AbsoluteURL).Want(t, http.StatusOK)
		}
	})
}
