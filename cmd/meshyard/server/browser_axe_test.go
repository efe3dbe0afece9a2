//go:build browser && npm

package server_test

import (
	"image"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/meshyard/meshyard/internal/graphiql/graphiqltest"
	"github.com/meshyard/meshyard/internal/mesh/meshtest"
)

// TestBrowserAccessibility checks all pages of the gallery with axe-core: on a wide screen in light
// colors, and on a phone in dark ones.
func TestBrowserAccessibility(t *testing.T) {
	axe, err := os.ReadFile(filepath.Join(meshtest.Root(), "web", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err) // it is installed by npm ci
	}
	s, pages := crowdedGallery(t)
	v := visitGallery(t, s)
	check := func(p galleryPage, scheme string) {
		v.open(p.path)
		v.Do(t, "load axe", chromedp.Evaluate[chromedp.Void](string(axe)))
		v.Do(t, "start axe", chromedp.Evaluate[chromedp.Void](`void axe.run(document, {iframes: false, runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']}).then(r => {
			window.found = r.violations.flatMap(v => v.nodes.map(n => v.id + ': ' + n.target + ' ' + n.failureSummary.replaceAll('\n', ' ')));
		})`))
		v.await("the result of axe", `window.found`)
		for _, problem := range graphiqltest.Read[[]string](t, v.Tab, "read the result", `window.found`) {
			t.Errorf("%s, %s: %s", p.path, scheme, problem)
		}
	}
	check(galleryPage{"home of a visitor", "/"}, "light")
	for _, name := range []string{"ada", "staff"} {
		v.signInAs(name)
		for _, scheme := range []string{"light", "dark"} {
			v.scheme(scheme)
			v.size(map[string]image.Point{"light": {1400, 900}, "dark": {390, 844}}[scheme])
			for _, p := range pages {
				if name == "ada" || p.name == "moderation" {
					check(p, scheme)
				}
			}
		}
		v.size(image.Pt(1400, 900))
		v.open("/")
		v.signOut()
	}
}
