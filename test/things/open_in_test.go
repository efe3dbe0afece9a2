package things_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/urls"
	"github.com/meshyard/meshyard/internal/urls/signing"
	"github.com/meshyard/meshyard/test/servertest"
)

// openIn returns the URL of a file that is in the links that open it, and the names of the
// programs.
func openIn(t *testing.T, c *servertest.Client, file int64) (address string, apps []string) {
	t.Helper()
	var data struct {
		File struct{ OpenIn []struct{ App, URL string } }
	}
	c.Query(fmt.Sprintf(`{ file(id: %d) { openIn { app url os } } }`, file), nil, &data)
	for _, link := range data.File.OpenIn {
		apps = append(apps, link.App)
		if _, encoded, ok := strings.Cut(link.URL, "file="); ok {
			address, _ = url.QueryUnescape(encoded)
		}
	}
	return address, apps
}

// curl requests a URL as a program does: without cookies and headers of its own. It returns the
// status and the content.
func curl(t *testing.T, address string, options ...string) (status, content string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "curl", append([]string{"-sSL", "-w", "\n%{http_code}", address},
		options...)...).Output()
	if err != nil {
		t.Fatalf("curl %s: %v", address, err)
	}
	at := strings.LastIndexByte(string(out), '\n')
	return string(out[at+1:]), string(out[:at])
}

// TestOpenIn checks that a program gets a file by the URL in a link without signing in, also of a
// draft and on a server without anonymous reading, that this counts as one download, and that it
// grants access to nothing else.
func TestOpenIn(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("needs curl")
	}
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		mesh := servertest.Mesh(t, "numpystl_HalfDonut_bin.stl")
		thing := ada.Thing("Bracket")
		file := ada.Upload("a b+ä.stl", mesh)
		ada.Finalize("thing", thing, file).Want(t, 200)
		downloads := func(c *servertest.Client) (n int) {
			var me struct {
				Me struct{ Downloads struct{ TotalCount int } }
			}
			c.Query(`{ me { downloads { totalCount } } }`, nil, &me)
			return me.Me.Downloads.TotalCount
		}

		draft, apps := openIn(t, ada, file)
		if got := strings.Join(apps, ", "); got != "OrcaSlicer, Lychee Slicer, Own" {
			t.Errorf("the programs are %s", got)
		}
		if !strings.HasSuffix(draft, "/a%20b+%C3%A4.stl") {
			t.Errorf("the URL is %s", draft)
		}
		if r := bob.GraphQL(fmt.Sprintf(`{ file(id: %d) { openIn { url } } }`, file), nil); len(r.Errors) == 0 {
			t.Errorf("another user gets links of a draft: %s", r.Data)
		}
		if status, _ := curl(t, draft, "--head"); !strings.HasSuffix(status, "200") {
			t.Errorf("HEAD: %s", status)
		}
		if n := downloads(ada); n != 0 {
			t.Errorf("%d downloads after HEAD", n)
		}
		for _, options := range [][]string{nil, nil, {"--range", "0-9"}} {
			status, content := curl(t, draft, options...)
			if want := string(mesh); status != "200" && status != "206" || !strings.HasPrefix(want, content) ||
				len(content) < 10 {
				t.Errorf("%v: %s, %d bytes", options, status, len(content))
			}
		}
		if n := downloads(ada); n != 1 {
			t.Errorf("the URL of a draft counts %d times, want once", n)
		}

		ada.Publish(thing)
		address, _ := openIn(t, bob, file)
		statuses := servertest.Together(12, func(int) string {
			status, _ := curl(t, address)
			return status
		})
		for _, status := range statuses {
			if status != "200" {
				t.Errorf("one of several requests: %s", status)
			}
		}
		if n := downloads(bob); n != 1 {
			t.Errorf("requests at the same time count %d times, want once", n)
		}
		again, _ := openIn(t, bob, file)
		curl(t, again)
		if n := downloads(bob); n != 2 {
			t.Errorf("two links count %d downloads, want 2", n)
		}
		var counted struct{ File struct{ DownloadCount int } }
		ada.Query(fmt.Sprintf(`{ file(id: %d) { downloadCount } }`, file), nil, &counted)
		if counted.File.DownloadCount != 3 {
			t.Errorf("the file has %d downloads, want 3", counted.File.DownloadCount)
		}

		// The token is of no use elsewhere.
		token := strings.Split(strings.TrimPrefix(address, s.URL+"/blobs/open/"), "/")[0]
		signature := token[strings.LastIndexByte(token, '.')+1:]
		for _, path := range []string{"/files/%d", "/blobs/%d/a.stl?expires=99999999999&signature=" + signature,
			"/download:%d?signature=" + signature} {
			c := s.Client(token)
			if r := c.Get(fmt.Sprintf(path, file)); r.StatusCode < 400 {
				t.Errorf("%s: %d", r.Request.URL, r.StatusCode)
			}
		}
		other := ada.Upload("other.stl", servertest.Mesh(t, "numpystl_HalfDonut_bin.stl"))
		ada.Finalize("thing", ada.Thing("Other"), other).Want(t, 200)
		if r := s.Client("").Get("/blobs/open/" + strings.Replace(token, servertest.ID(file), servertest.ID(other), 1) +
			"/x"); r.StatusCode != 404 {
			t.Errorf("the URL with the ID of another file: %d", r.StatusCode)
		}
		guess := s.Client("")
		for range 10_000 / 8 {
			servertest.Together(8, func(int) int {
				random := signing.Key(fmt.Sprint(rand.Uint64()))
				at := time.Now().Add(time.Duration(rand.IntN(900)) * time.Second)
				path := urls.Builder{Key: random}.Open(file, 1, "a.stl", at)
				if r := guess.Get(path); r.StatusCode != http.StatusNotFound {
					t.Errorf("%s: %d", path, r.StatusCode)
				}
				return 0
			})
		}

		key, err := s.Store.Secret(context.Background(), "signing")
		if err != nil {
			t.Fatal(err)
		}
		own := urls.Builder{Base: s.URL, Key: signing.Key(key)}
		if status, _ := curl(t, own.Open(file, 1, "a.stl", time.Now().Add(time.Minute))); status != "200" {
			t.Errorf("a URL that has not expired: %s", status)
		}
		if status, content := curl(t, own.Open(file, 1, "a.stl", time.Now().Add(-time.Second))); status != "404" ||
			!strings.Contains(content, "has expired") {
			t.Errorf("a URL that has expired: %s %s", status, content)
		}
		admin := s.Administrator()
		admin.Query(fmt.Sprintf(`mutation { takeDownThing(input: {id: %d, reason: "no"}) { thing { id } } }`, thing), nil,
			&struct{}{})
		if status, _ := curl(t, address); status != "403" {
			t.Errorf("after a takedown: %s", status)
		}
		if _, apps := openIn(t, ada, file); apps != nil {
			t.Errorf("after a takedown, the links are %v", apps)
		}
	}, servertest.Privately, func(c *config.Settings) {
		c.RateLimit = 0
		if err := c.OpenIn.UnmarshalText([]byte("Own=own://open?file={url},Cura=")); err != nil {
			t.Fatal(err)
		}
	})
}
