//go:build browser

package gallery_test

import (
	"image"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/meshyard/meshyard/internal/config"
)

// TestBrowserGalleryLibraries scans a library and makes a dry run, in English and German, also on a
// phone.
func TestBrowserGalleryLibraries(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("Dragons/Red/Supported/red.stl", "solid red")
	write("Dragons/Red/Unsupported/red.stl", "solid bare")
	write("Dragons/Red/render.png", "\x89PNG\r\n\x1a\n")
	write("Dragons/Blue/blue.stl", "solid blue")
	s := newSceneOn(t, "sqlite", func(s *config.Settings) { s.Library = []config.Library{{Name: "minis", Dir: dir}} })
	if _, err := s.Store.Library.Scan(t.Context(), "minis", nil); err != nil {
		t.Fatal(err)
	}
	v := visitGallery(t, s.Server)
	v.signInAs("staff")
	v.open("/moderation")
	v.click(".tabs", "Libraries")
	v.await("the state of the library",
		`['minis', '2 things', '4 files', '0 missing', '4 files found'].every(text => document.querySelector('.libraries')?.innerText.includes(text))`)

	write("notes.xyz", "nothing")
	write("Dragons/Green/green.stl", "solid green")
	v.press(`document.querySelector('.libraries button')`)
	v.await("the new state",
		`['3 things', '5 files', '1 skipped'].every(text => document.querySelector('.libraries')?.innerText.includes(text))`)
	v.press(`document.querySelector('.libraries a')`)
	v.await("the plan", `location.search === '?tab=libraries&plan=minis' && document.querySelectorAll('.plan > li').length === 3`)
	v.sees("A scan would give 3 things with 5 files. 1 skipped.")
	v.await("the skipped file", `document.querySelector('section.panel')?.innerText.includes('notes.xyz')`)
	v.press(`[...document.querySelectorAll('.plan summary')].find(e => e.innerText.includes('Red'))`)
	v.await("its files",
		`['Supported/red.stl', 'Unsupported', 'Picture', 'Cover', 'Collections: Dragons'].every(text => document.querySelector('details[open]')?.innerText.includes(text))`)

	v.size(image.Pt(360, 740))
	v.Do(t, "choose a language", chromedp.Navigate(v.url+"/login"),
		chromedp.Evaluate[chromedp.Void](`document.cookie = 'meshyard_language=de; path=/'`))
	for path, text := range map[string]string{"/moderation?tab=libraries": "Jetzt einlesen",
		"/moderation?tab=libraries&plan=minis": "Das Einlesen ergäbe 3 Dinge mit 5 Dateien. 1 übersprungen."} {
		v.open(path)
		v.sees(text)
		v.is("no scrolling to the side", `document.documentElement.scrollWidth <= innerWidth`)
	}
	v.noProblems()
}
