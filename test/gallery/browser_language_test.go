//go:build browser

package gallery_test

import (
	"fmt"
	"image"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/meshyard/meshyard/test/servertest"
)

// TestBrowserGalleryLanguage checks that the language that a user chooses is that of the gallery,
// of the errors of the server and of the pages to sign in.
func TestBrowserGalleryLanguage(t *testing.T) {
	s := newScene(t)
	remix := s.bob.Thing("Remix")
	s.bob.Finalize("THING", remix, s.bob.Upload("simple.stl", servertest.Mesh(t, "hschendel_simple_bin.stl")))
	s.bob.Query(`mutation($id: ID!, $of: [ID!]) { updateThing(input: {id: $id, ancestorIds: $of}) { thing { id } } }`,
		servertest.Object{"id": fmt.Sprint(remix), "of": []string{fmt.Sprint(s.thing)}}, new(any))
	s.bob.Publish(remix).Want(t, 200)
	s.bob.Query(`mutation($id: ID!) { unpublishThing(input: {id: $id}) { thing { id } } }`,
		servertest.Object{"id": fmt.Sprint(remix)}, new(any))
	v := visitGallery(t, s.Server)
	v.signInAs("ada")
	v.open("/settings")
	v.run("choose German",
		`const list = document.querySelector('footer select'); list.value = 'de'; list.dispatchEvent(new Event('change', {bubbles: true}))`)
	v.await("the page in German",
		`document.documentElement?.lang === 'de' && document.querySelector('#app')?.dataset.ready === ''`)
	v.settled()
	v.run("accept any address", `document.querySelector('#email').type = 'text'`)
	v.enter("#email", "nonsense")
	v.click("main", "Speichern")
	v.await("the error in German, with the words of the server",
		`document.querySelector('#email-fault')?.innerText === 'Das ist ungültig. "nonsense" is not an e-mail address.' && document.querySelector('#email-fault [lang=en]')`)
	v.enter("#email", "ada@example.org")
	v.click("main", "Speichern")
	v.sees("Gespeichert.")
	v.open("/notifications")
	v.sees("bob hat einen Remix veröffentlicht, „…“.")
	v.open("/")
	v.click("header", "Kontomenü")
	v.click(".menu-items", "Abmelden")
	v.await("that nobody is signed in",
		`document.querySelector('#app')?.dataset.ready === '' && !document.querySelector('header .bell')`)
	v.Do(t, "open the page to sign in", chromedp.Navigate(v.url+"/login"))
	v.await("the page in German",
		`document.documentElement?.lang === 'de' && document.querySelector("h1")?.innerText === "Anmelden"`)
	v.noProblems()
}

// TestBrowserGalleryGermanActions checks that the actions of a thing, whose words are longer in
// German, fit into one line below the download, which is not wider than the page.
func TestBrowserGalleryGermanActions(t *testing.T) {
	s := newScene(t)
	v := visitGallery(t, s.Server)
	path := fmt.Sprintf("/thing:%d", s.thing)
	v.open(path)
	v.run("choose German",
		`const list = document.querySelector('footer select'); list.value = 'de'; list.dispatchEvent(new Event('change', {bubbles: true}))`)
	v.await("the page in German",
		`document.documentElement?.lang === 'de' && document.querySelector('#app')?.dataset.ready === ''`)
	for _, size := range []image.Point{{360, 740}, {900, 800}, {1400, 900}} {
		v.size(size)
		v.open(path)
		v.is(fmt.Sprintf("one line at %d", size.X), `(tops => tops.length > 2 && Math.max(...tops) - Math.min(...tops) < 8 && document.documentElement.scrollWidth <= innerWidth)
			([...document.querySelectorAll('.summary .actions > *:not(.wide, dialog)')].map(button => button.getBoundingClientRect().top))`)
	}
}

// TestBrowserGalleryShare checks that the link of a thing is shared by the dialog of the system, or
// copied, and that the button is complete on a small screen.
func TestBrowserGalleryShare(t *testing.T) {
	s := newScene(t)
	v := visitGallery(t, s.Server)
	v.size(image.Pt(360, 740))
	path := fmt.Sprintf("/thing:%d", s.thing)
	v.open(path)
	v.is("the button has a picture and is not wide",
		`(button => button.offsetWidth < 50 && button.querySelector('svg').getClientRects().length > 0)(document.querySelector('.actions [aria-label=Share]'))`)
	v.run("offer a dialog", `navigator.share = async (data) => { window.shared = data }`)
	v.click(".actions", "Share")
	v.await("the dialog", fmt.Sprintf(`window.shared?.url === %q && window.shared.title === 'Half a donut'`, s.URL+path))
	v.run("offer the clipboard only",
		`navigator.share = undefined; navigator.clipboard.writeText = async (text) => { window.copied = text }`)
	v.click(".actions", "Share")
	v.await("the copy", fmt.Sprintf(`window.copied === %q`, s.URL+path))
	v.sees("The link was copied.")
	v.noProblems()
}

// TestBrowserGalleryDirection checks that names that are written from right to left stay on the
// left and do not change the order of the text around them.
func TestBrowserGalleryDirection(t *testing.T) {
	s := newScene(t)
	s.ada.Query(`mutation($id: ID!, $name: String!) { updateThing(input: {id: $id, name: $name}) { thing { id } } }`,
		servertest.Object{"id": fmt.Sprint(s.thing), "name": "حامل هاتف 2"}, new(any))
	s.bob.Query(`mutation($id: ID!) { likeThing(input: {id: $id}) { thing { id } } }`,
		servertest.Object{"id": fmt.Sprint(s.thing)}, new(any))
	v := visitGallery(t, s.Server)
	v.signInAs("ada")
	v.open(fmt.Sprintf("/thing:%d", s.thing))
	v.await("the name on the left",
		`(heading => { const range = document.createRange(); range.selectNodeContents(heading); return range.getBoundingClientRect().left - heading.getBoundingClientRect().left < 2 })(document.querySelector('main h1'))`)
	v.open("/notifications")
	v.sees("bob likes “\u2068حامل هاتف 2\u2069”.")

	// A user who is signed in gets the same page as a visitor for a thing that was taken down.
	s.admin.Query(`mutation($id: ID!) { takeDownThing(input: {id: $id, reason: "A copy."}) { thing { id } } }`,
		servertest.Object{"id": fmt.Sprint(s.thing)}, new(any))
	v.signOut()
	v.signInAs("bob")
	v.open(fmt.Sprintf("/thing:%d", s.thing))
	v.await("that it is not available",
		`document.querySelector('main h1')?.innerText === 'Not available' && !document.querySelector('main button')`)
}
