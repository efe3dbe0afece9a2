//go:build browser

package gallery_test

import (
	"image"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/meshyard/meshyard/internal/config"
)

// TestBrowserGalleryImport imports a data package from a URL by keyboard, in English and German,
// also on a phone.
func TestBrowserGalleryImport(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := "solid box"
		switch r.URL.Path {
		case "/datapackage.json":
			text = `{"title": "Tin box", "contributors": [{"title": "Grace H", "role": "creator"}], "licenses": [{"name": "CC-BY-4.0"}],
				"resources": [{"path": "parts/lid.stl"}, {"name": "inline", "data": 1}]}`
			w.Header().Set("Content-Type", "application/json")
		case "/page":
			w.Header().Set("Content-Type", "text/html")
		}
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(service.Close)
	s := newSceneOn(t, "sqlite", func(s *config.Settings) { s.LinkLimit, s.LinkAllowPrivate = 1<<20, true })
	v := visitGallery(t, s.Server)
	v.signInAs("ada")
	v.open("/upload")
	v.press(`document.querySelector('a[href="?tab"]')`)
	v.await("the form", `document.querySelector('#url')`)
	v.enter("#url", service.URL+"/page")
	v.press(`document.querySelector('form.panel button')`)
	v.sees("It is a web page")
	v.enter("#url", service.URL+"/datapackage.json")
	v.press(`document.querySelector('form.panel button')`)
	v.sees("The URL has 1 thing. 1 skipped.")
	v.await("the preview",
		`['Tin box', 'Grace H', 'Attribution 4.0', 'parts/lid.stl', 'resource 2'].every(text => document.querySelector('main').innerText.includes(text))`)
	v.press(`[...document.querySelectorAll('.actions button.primary')].at(-1)`)
	v.sees("The import is done: 1 thing.")
	v.press(`[...document.querySelectorAll('.panel li a')].find(e => e.innerText.includes('Tin box'))`)
	v.await("the draft",
		`/thing:[0-9]+$/.test(location.pathname) && document.querySelector('h1')?.innerText.includes('Tin box')`)
	v.sees("Grace H")

	v.size(image.Pt(360, 740))
	v.Do(t, "choose a language", chromedp.Navigate(v.url+"/login"),
		chromedp.Evaluate[chromedp.Void](`document.cookie = 'meshyard_language=de; path=/'`))
	for path, text := range map[string]string{"/upload?tab": "Vorschau zeigen",
		"/upload?tab=1": "Der Import ist fertig: 1 Ding."} {
		v.open(path)
		v.sees(text)
		v.is("no scrolling to the side", `document.documentElement.scrollWidth <= innerWidth`)
	}
	v.noProblems()
}
