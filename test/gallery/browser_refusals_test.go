//go:build browser

package gallery_test

import (
	"github.com/meshyard/meshyard/test/servertest"

	"errors"
	"fmt"
	"image"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBrowserGalleryRefusals checks that the gallery says what is wrong with a file or an input,
// and accepts what the server accepts.
func TestBrowserGalleryRefusals(t *testing.T) {
	s := newScene(t)
	v := visitGallery(t, s.Server)
	v.signInAs("ada")
	dir := t.TempDir()
	write := func(name string, size int64) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		return path
	}
	picture := filepath.Join(dir, "noise.png")
	if err := os.WriteFile(picture, noise(t), 0o600); err != nil {
		t.Fatal(err)
	}

	t.Run("size", func(t *testing.T) {
		v.open("/explore")
		v.enter(".range input[name=min]", "2.5\r")
		v.await("the filter", `location.search === '?min=2.5'`)
	})

	for file, want := range map[string]string{
		write("empty.stl", 0):       "Upload failed. The file empty.stl is empty.",
		write("large.stl", 8<<20+1): "Upload failed. The file large.stl is larger than 8.39 MB.",
	} {
		t.Run(filepath.Base(file), func(t *testing.T) {
			v.open(fmt.Sprintf("/thing:%d/edit", s.thing))
			v.run("count uploads",
				`window.uploads = 0; const open = XMLHttpRequest.prototype.open; XMLHttpRequest.prototype.open = function (...a) { window.uploads++; return open.apply(this, a) }`)
			v.choose("main .drop input", file)
			v.await(want, fmt.Sprintf(`document.querySelector('.uploads .fault')?.innerText === %q`, want))
			v.is("nothing is uploaded", `window.uploads === 0`)
			v.is("no button to try again", `!document.querySelector('.uploads').innerText.includes('Try again')`)
		})
	}

	t.Run("folder", func(t *testing.T) {
		folder := filepath.Join(t.TempDir(), "Dragon")
		for _, name := range []string{"Supported/wing.stl", "Supported/.DS_Store", "head.stl"} {
			path := filepath.Join(folder, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, repeatedSTL(t, 2+len(name)),
				0o600)); err != nil {
				t.Fatal(err)
			}
		}
		v.open(fmt.Sprintf("/thing:%d/edit", s.thing))
		v.drop(".drop", folder)
		v.await("the files of the folder",
			`['head.stl', 'wing.stl'].every(name => [...document.querySelectorAll('.files:not(.uploads) h3')].some(e => e.innerText === name)) && !document.querySelector('.uploads')`)
		v.is("nothing but the files", `!document.querySelector('main').innerText.includes('DS_Store')`)
	})

	t.Run("limit of a proxy", func(t *testing.T) {
		to, err := url.Parse(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		forward := httputil.NewSingleHostReverseProxy(to)
		address := ""
		forward.ModifyResponse = func(r *http.Response) error { // as proxy_redirect of nginx does
			if location := r.Header.Get("Location"); location != "" {
				r.Header.Set("Location", strings.Replace(location, s.URL, address, 1))
			}
			return nil
		}
		proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			// However small the parts are that the page tries.
			if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") || r.Method == http.MethodPatch {
				_, _ = io.Copy(io.Discard, r.Body)
				http.Error(w, "<html><h1>413 Request Entity Too Large</h1></html>", http.StatusRequestEntityTooLarge)
				return
			}
			forward.ServeHTTP(w, r)
		}))
		defer proxy.Close()
		at := v.url
		defer func() { v.url = at }()
		v.url, address = proxy.URL, proxy.URL
		v.open(fmt.Sprintf("/thing:%d/edit", s.thing))
		v.answer(true)
		path := filepath.Join(t.TempDir(), "part.stl")
		if err := os.WriteFile(path, repeatedSTL(t, 20), 0o600); err != nil {
			t.Fatal(err)
		}
		v.choose("main .drop input", path)
		v.await("the reason", `document.querySelector('.uploads .fault')?.innerText.includes('client_max_body_size')`)
	})

	t.Run("dialog with a picture", func(t *testing.T) {
		v.open(fmt.Sprintf("/thing:%d/makes", s.thing))
		v.answer(false)
		v.click("main", "I made this")
		v.await("a button", `document.querySelector('dialog input[type=file]')?.closest('label').innerText.trim() === 'Choose files'`)
		v.is("it begins where the title does",
			`document.querySelector('dialog input[type=file]').closest('label').getBoundingClientRect().left === document.querySelector('dialog h2').getBoundingClientRect().left`)
		v.choose("dialog input[type=file]", picture)
		v.await("the picture", `document.querySelector('dialog .files h3')?.innerText.startsWith('noise')`)
		v.is("it asks before a reload", asksToReload)
		v.click("dialog", "Close")
		v.asked("the button to close", 1)
		v.is("the picture is still chosen", `document.querySelector('dialog .files h3')`)
	})

	t.Run("settings", func(t *testing.T) {
		v.size(image.Pt(390, 844))
		v.open("/settings")
		v.is("the hint belongs to the field",
			`document.getElementById(document.querySelector('#email').getAttribute('aria-describedby').split(' ')[0])?.innerText === 'Not visible to other users.'`)
		v.enter("#email", "ada@nowhere@example.org")
		v.run("submit the form without the checks of the browser",
			`document.querySelector('form.panel').noValidate = true; const button = document.querySelector('form.panel [type=submit]'); button.focus(); button.click()`)
		v.await("the error on the screen",
			`(e => e && e.getBoundingClientRect().top > 100 && e.getBoundingClientRect().bottom < innerHeight)(document.querySelector('#email-fault')) && document.activeElement.id === 'email'`)
		v.size(image.Pt(1400, 900))
	})
}

// TestBrowserGalleryMenuOfComment checks that the menu of a long comment opens at its button.
func TestBrowserGalleryMenuOfComment(t *testing.T) {
	s := newScene(t)
	long := ""
	for i := range 40 {
		long += fmt.Sprintf("Line %d\n\n", i)
	}
	s.bob.Query(`mutation($id: ID!, $body: String!) { createComment(input: {target: {type: THING, id: $id}, body: $body}) { comment { id } } }`, servertest.Object{"id": fmt.Sprint(s.thing), "body": long}, new(any))
	v := visitGallery(t, s.Server)
	v.signInAs("ada")
	v.open(fmt.Sprintf("/thing:%d/comments", s.thing))
	v.click(".comment", "More actions: bob")
	v.await("the menu at the button",
		`(({bottom}, {top}) => top - bottom < 20)(document.querySelector('.comment .menu summary').getBoundingClientRect(), document.querySelector('.comment .menu[open] .menu-items').getBoundingClientRect())`)
}

// TestBrowserGalleryGerman checks the space and the words of the gallery in German, whose words are
// longer, on a small screen.
func TestBrowserGalleryGerman(t *testing.T) {
	s := newScene(t)
	s.bob.Query(`mutation($id: ID!) {
		followUser(input: {username: "ada"}) { user { id } }
		createComment(input: {target: {type: THING, id: $id}, body: "Nice"}) { comment { id } }
	}`, servertest.Object{"id": fmt.Sprint(s.thing)}, new(any))
	v := visitGallery(t, s.Server)
	v.open("/")
	v.run("choose German", `document.cookie = 'meshyard_language=de; path=/'`)
	v.size(image.Pt(360, 740))
	v.open(fmt.Sprintf("/thing:%d/comments", s.thing))
	v.await("the comment", `document.querySelector('.comment')`)
	v.is("the words of the link",
		`document.querySelector('.comments a').innerText === 'Melde dich an, um zu kommentieren.'`)
	v.is("the time of a new comment in words",
		`!document.querySelector('.comment-head time').innerText.includes('in dieser Minute')`)
	v.is("the name of the site is complete",
		`(e => e.scrollWidth <= e.clientWidth)(document.querySelector('.brand span'))`)
	v.run("measure the placeholder", `const field = document.querySelector('.search input'), style = getComputedStyle(field), pen = document.createElement('canvas').getContext('2d'); pen.font = style.font;
		window.free = field.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - pen.measureText(field.placeholder).width`)
	v.is("the placeholder is complete", `window.free >= 0`)
	v.size(image.Pt(768, 1024))
	v.is("a wide field to search", `document.querySelector('.search input').clientWidth > 250`)
	v.size(image.Pt(320, 640))
	v.open("/bob/following")
	v.is("the numbers of a person are complete",
		`(e => e && e.scrollWidth <= e.clientWidth)(document.querySelector('.person .quiet'))`)
	v.open("/upload")
	v.is("a heading", `document.querySelector('main h1')?.innerText === 'Anmelden' && document.title === 'Anmelden · Meshyard'`)

	v.size(image.Pt(390, 844))
	v.signInAs("ada")
	draft := s.ada.Thing("A draft")
	s.ada.Finalize("THING", draft, s.ada.Upload("bad.stl", []byte("solid bad\nfacet\n")))
	v.open(fmt.Sprintf("/thing:%d/edit", draft))
	v.await("that the reason for the missing preview is in English",
		`document.querySelector('.facts .bad')?.innerText.startsWith('Keine Vorschau: ') && document.querySelector('.facts .bad [lang=en]')?.innerText`)
	empty := filepath.Join(t.TempDir(), "leer.stl")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	v.choose("main .drop input", empty)
	v.await("the failure beside the buttons of the form",
		`document.querySelector('.publish-bar')?.innerText.includes('Das Hochladen ist fehlgeschlagen.')`)
	v.is("the buttons take two lines",
		`(buttons => buttons.length === 4 && new Set(buttons.map(e => e.getBoundingClientRect().top)).size <= 2)([...document.querySelectorAll('.publish-bar > :is(.button, .menu)')])`)
}

// TestBrowserGalleryRecordedReasons checks that reasons that the server records itself are in the
// language of the page.
func TestBrowserGalleryRecordedReasons(t *testing.T) {
	s := newScene(t)
	v := visitGallery(t, s.Server)
	v.open("/")
	v.run("choose German", `document.cookie = 'meshyard_language=de; path=/'`)
	s.ada.Query(`mutation ($id: ID!) { createComment(input: {target: {type: THING, id: $id}, body: "Mine"}) { comment { id } } }`, servertest.Object{"id": fmt.Sprint(s.thing)}, new(any))
	s.admin.Do("DELETE", fmt.Sprintf("/things/%d", s.thing), nil).Want(t, 200)
	s.admin.Query(`mutation { renameUser(input: {username: "bob", newUsername: "bob2"}) { user { id } } }`, nil, new(any))
	const deleted = "Über die REST-API gelöscht."
	v.signInAs("ada")
	v.open("/notifications")
	v.sees("Grund: " + deleted)
	v.run("sign out", `fetch('/logout', {method: 'POST', body: new URLSearchParams()}).then(() => window.signedOut = true)`)
	v.await("that nobody is signed in", `window.signedOut`)
	v.signInAs("staff")
	v.open("/moderation?tab=log")
	for _, reason := range []string{deleted, "Der Name war bob.", "Durch den Betreiber, auf der Kommandozeile."} {
		v.sees("– " + reason)
	}
	v.noProblems()
}
