package permissions_test

import (
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/test/servertest"
)

// privateFiles is a published thing with a model and an image, on a server without anonymous
// reading.
type privateFiles struct {
	ada          *servertest.Client
	thing        int64
	model, image int64
	urls         []string // of their bytes, renditions and viewer, as the APIs return them
}

func newPrivateFiles(t *testing.T, s *servertest.Server) privateFiles {
	t.Helper()
	p := privateFiles{ada: s.User("ada")}
	p.thing = p.ada.Thing("Private")
	p.model = p.ada.Upload("a.stl", servertest.Mesh(t, "hschendel_simple_bin.stl"))
	p.image = p.ada.Upload("b.png", servertest.Mesh(t, "lib3mf_thumbnail.png"))
	p.ada.Finalize("thing", p.thing, p.model, p.image).Want(t, 200)
	p.ada.Publish(p.thing).Want(t, 200)
	servertest.Settled(t, p.ada, p.model)
	servertest.Settled(t, p.ada, p.image)

	type file struct {
		PublicURL, DirectURL string
		ThreejsURL, GlbURL   *string
		Thumbnail            struct{ URL string }
		Image                struct{ URL string }
	}
	var of struct {
		Thing struct {
			Files        []file
			DefaultImage struct{ Thumbnail struct{ URL string } }
		}
	}
	p.ada.Query(`query ($id: ID!) { thing(id: $id) { files { publicUrl directUrl threejsUrl glbUrl thumbnail { url } image { url } } defaultImage { thumbnail(width: 128, height: 128) { url } } } }`,
		servertest.Object{"id": servertest.ID(p.thing)}, &of)
	p.urls = append(p.urls, of.Thing.DefaultImage.Thumbnail.URL)
	for _, f := range of.Thing.Files {
		p.urls = append(p.urls, f.PublicURL, f.DirectURL, f.Thumbnail.URL, f.Image.URL)
		p.urls = append(p.urls, fileName.ReplaceAllString(strings.Replace(f.DirectURL, "/blobs/", "/view/", 1), "$1"))
		for _, more := range []*string{f.ThreejsURL, f.GlbURL} {
			if more != nil {
				p.urls = append(p.urls, *more)
			}
		}
	}
	var files []struct {
		PublicURL    string  `json:"public_url"`
		DirectURL    *string `json:"direct_url"`
		Thumbnail    string
		DefaultImage struct{ Sizes []struct{ URL string } } `json:"default_image"`
	}
	p.ada.Get(fmt.Sprintf("/things/%d/files", p.thing)).Want(t, 200, &files)
	for _, f := range files {
		p.urls = append(p.urls, f.PublicURL, *f.DirectURL, f.Thumbnail)
		for _, size := range f.DefaultImage.Sizes {
			p.urls = append(p.urls, size.URL)
		}
	}
	if len(files) != 1 || len(p.urls) < 30 {
		t.Fatalf("%d files with the URLs %q", len(files), p.urls)
	}
	return p
}

// TestPrivateBytes checks that a server without anonymous reading gives the bytes of published
// files, and what is derived from them, only to the holders of a signature, a token or a session,
// and that no shared cache keeps them.
func TestPrivateBytes(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPrivateFiles(t, s)
		nobody, bob, writer := s.Client(""), s.User("bob"), s.Client(s.Token("bob", auth.Write))
		s.Password("bob", "correct horse battery")
		browser := s.Browser()
		browser.SignIn("bob", "correct horse battery")
		check := func(r *servertest.Response, url string, status int) {
			t.Helper()
			cached := r.Header.Get("Cache-Control")
			if r.StatusCode != status || strings.Contains(cached, "public") || status == 200 &&
				!strings.Contains(cached, "private") && cached != "no-store" {
				t.Errorf("%s: status %d with Cache-Control %q, want %d, not public: %.200s", url, r.StatusCode, cached, status,
					r.Bytes)
			}
		}
		for _, signed := range p.urls {
			plain, query, _ := strings.Cut(signed, "?")
			check(nobody.Get(signed), signed, 200)
			check(nobody.Get(plain), plain, 401)
			check(bob.Get(plain), plain+" with a token", 200)
			check(nobody.Get(plain+"?access_token="+bob.Token), plain+" with a token in the URL", 200)
			check(writer.Get(plain), plain+" with a token that cannot read", 403)
			check(s.Client("meshyard_unknown").Get(plain), plain+" with an unknown token", 401)
			check(browser.Get(plain), plain+" in a browser", 200)
			check(browser.Get(plain+"?expires=1&signature=x"), plain+" in a browser, expired", 200)
			stale := 403
			if strings.Contains(plain, "/view/") {
				stale = 401 // the page says what is missing, whatever the URL had before
			}
			check(nobody.Get(plain+"?"+strings.Replace(query, "signature=", "signature=x", 1)),
				plain+" with a wrong signature", stale)
		}
		// A signature is that of one file.
		_, query, _ := strings.Cut(p.urls[1], "?")
		other := p.image + p.model - mustFileID(t, p.urls[1])
		check(nobody.Get(fmt.Sprintf("/blobs/%d/x?%s", other, query)), "the signature of another file", 403)

		// The existence of a file is not revealed.
		if there, missing := nobody.Get(fmt.Sprintf("/blobs/%d/x", p.model)),
			nobody.Get("/blobs/999999/x"); told(there) != told(missing) {
			t.Errorf("a file returns %s, a missing one %s", told(there), told(missing))
		}
		var images []struct{ ID int64 }
		p.ada.Get(fmt.Sprintf("/things/%d/images", p.thing)).Want(t, 200, &images)
		check(nobody.Get(fmt.Sprintf("/things/%d/images/%d", p.thing, images[0].ID)), "an image by REST", 401)

		// A token or a session reads what is published, and no drafts.
		p.ada.GraphQL(`mutation ($id: ID!) { unpublishThing(input: {id: $id}) { thing { id } } }`,
			servertest.Object{"id": servertest.ID(p.thing)})
		check(bob.Get(fmt.Sprintf("/blobs/%d/a.stl", p.model)), "a draft", 403)
		check(browser.Get(fmt.Sprintf("/blobs/%d/a.stl", p.model)), "a draft in a browser", 403)
	}, servertest.Derives, servertest.Privately)
}

// mustFileID returns the ID of the file of a URL below /download.
func mustFileID(t *testing.T, address string) (id int64) {
	t.Helper()
	u, err := url.Parse(address)
	if err == nil {
		_, err = fmt.Sscanf(u.Path, "/download:%d", &id)
	}
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// TestPrivateViewer checks that the viewer of a server without anonymous reading leads visitors to
// the sign-in page and back, and that everything that its page loads is signed.
func TestPrivateViewer(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		p := newPrivateFiles(t, s)
		s.Password("ada", "correct horse battery")
		browser := s.Browser()
		browser.Accept = "text/html"
		path := fmt.Sprintf("/view/%d", p.model)
		away := browser.Get(path).Want(t, 303)
		if got := away.Header.Get("Location"); got != s.URL+"/signin?next="+url.QueryEscape(path) {
			t.Errorf("a visitor is sent to %s", got)
		}
		back := browser.Post("/login", url.Values{"username": {"ada"}, "password": {"correct horse battery"}, "next": {path}})
		if got := back.Header.Get("Location"); got != s.URL+path {
			t.Errorf("after signing in, the visitor is sent to %s, want %s", got, s.URL+path)
		}
		page := string(browser.Follow(back).Want(t, 200).Bytes)
		loaded := regexp.MustCompile(`https?:[^"]*?/(?:blobs|threejs|glb|renders)/[^"]*`).
			FindAllString(html.UnescapeString(strings.ReplaceAll(page, `\u0026`, "&")), -1)
		if len(loaded) < 4 {
			t.Errorf("the page names %q", loaded)
		}
		for _, address := range loaded {
			s.Client("").Get(address).Want(t, 200)
		}
	}, servertest.Derives, servertest.Privately)
}

// TestPrivateBytesOnS3 checks that requests are refused before they are redirected to the bucket,
// and that no shared cache keeps what the bucket returns.
func TestPrivateBytesOnS3(t *testing.T) {
	address := servertest.FakeS3(t)
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		thing := ada.Thing("One")
		stl := servertest.Mesh(t, "hschendel_simple_bin.stl")
		id := ada.Upload("a.stl", stl)
		ada.Finalize("thing", thing, id).Want(t, 200)
		ada.Publish(thing).Want(t, 200)
		var f struct {
			PublicURL string `json:"public_url"`
		}
		ada.Get(fmt.Sprint("/files/", id)).Want(t, 200, &f)
		nobody := s.Client("")
		plain, _, _ := strings.Cut(f.PublicURL, "?")
		nobody.Get(plain).Want(t, 401)
		for _, url := range []string{f.PublicURL, ada.Get(fmt.Sprintf("/files/%d/download", id)).Want(t, 302).
			Header.Get("Location")} {
			to := nobody.Get(url).Want(t, 302).Header.Get("Location")
			if !strings.Contains(to, "response-cache-control=private") {
				t.Errorf("%s leads to %s, which may be cached by all", url, to)
			}
			if got := string(nobody.Get(to).Want(t, 200).Bytes); got != string(stl) {
				t.Errorf("%d bytes came back, want %d", len(got), len(stl))
			}
		}
	}, servertest.Privately, func(c *config.Settings) { c.BucketURL = address })
}
