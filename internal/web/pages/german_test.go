package pages

import (
	"net/http"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
)

// TestGerman checks that the pages are in German for a visitor who prefers it, and that what exists
// in English only is marked as such.
func TestGerman(t *testing.T) {
	t.Parallel()
	german := http.Header{"Accept-Language": {"de"}}
	o := options
	o.SignedIn = func(r *http.Request) (auth.SignedIn, bool) {
		name := r.Header.Get("Test-User")
		return auth.SignedIn{Username: name}, name != ""
	}
	for target, want := range map[string][]string{
		"/developers": {"<h1>Für Entwickler</h1>", `<a href="/">Galerie</a>`, "Du bist nicht angemeldet.", "REST-Referenz",
			"# dein Zugriffstoken"},
		"/reference": {"<h1>REST-Referenz</h1>", `<a href="/login?next=/reference">Melde dich an</a>`,
			`data-not-shown="Das OpenAPI-Dokument`},
		"/migration": {"Anleitung zum Umstieg", "nur auf Englisch", `<div lang="en">`, "Inhalt"},
	} {
		w := serve(t, o, "GET", target, german)
		page := w.Body.String()
		for _, text := range append(want, `<html lang="de">`, "Zum Inhalt springen", "Entwickler</a>", "Umstieg</a>") {
			if !strings.Contains(page, text) {
				t.Errorf("%s: want %q in\n%s", target, text, page)
			}
		}
		if h := w.Header(); h.Get("Content-Language") != "de" || !strings.Contains(h.Get("Vary"), "Accept-Language") {
			t.Errorf("%s: got the headers %v", target, h)
		}
		english := serve(t, o, "GET", target, nil).Body.String()
		if !strings.Contains(english, `<html lang="en">`) || strings.Contains(english, "Entwickler") {
			t.Errorf("%s without Accept-Language is not in English:\n%s", target, english)
		}
		// The links are the same in each language.
		if got, want := strings.Count(page, "href="), strings.Count(english, "href="); got != want {
			t.Errorf("%s: %d links in German, %d in English", target, got, want)
		}
	}
	german.Set("Test-User", "<b>ada")
	if page := serve(t, o, "GET", "/reference", german).Body.String(); !strings.Contains(page,
		`als <strong id="as">&lt;b&gt;ada</strong> gesendet`) {
		t.Errorf("/reference for a user:\n%s", page)
	}
}
