//go:build browser

package gallery_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/web/graphiql/graphiqltest"
	"github.com/meshyard/meshyard/test/servertest"
)

// visitor is a browser in which a user uses the gallery.
type visitor struct {
	*graphiqltest.Tab
	t   testing.TB
	url string
}

func visitGallery(t testing.TB, s *servertest.Server) *visitor {
	t.Helper()
	v := &visitor{graphiqltest.Open(t, s.URL), t, s.URL}
	graphiqltest.Call(t, v.Tab, "watch dialogs", page.Enable, page.EnableParams{})
	return v
}

// open loads a page of the gallery and waits until the client-side code has rendered it.
func (v *visitor) open(path string) {
	v.t.Helper()
	v.Do(v.t, "open "+path, chromedp.Navigate(v.url+path))
	v.await("the page "+path, `document.querySelector('#app')?.dataset.ready === ''`)
	v.settled()
}

// settled waits until the page has loaded its data.
func (v *visitor) settled() {
	v.t.Helper()
	v.await("the data", `!document.querySelector('main .skeleton, main [aria-busy="true"]')`)
}

func (v *visitor) await(what, expression string) {
	v.t.Helper()
	v.Await(v.t, "see "+what, expression)
}

// sees waits until the page contains a text.
func (v *visitor) sees(text string) {
	v.t.Helper()
	v.await(text, fmt.Sprintf(`document.body?.innerText.includes(%q)`, text))
}

// click clicks the first visible link, button, summary or label below the selector within whose
// text or ARIA label starts with text.
func (v *visitor) click(within, text string) {
	v.t.Helper()
	element := fmt.Sprintf(`[...document.querySelectorAll(%q)].flatMap(e => [...e.querySelectorAll('a, button, summary, label')])
		.find(e => e.getClientRects().length && !e.disabled && [e.innerText, e.ariaLabel].some(name => name?.trim().startsWith(%q)))`, within, text)
	v.await("the control "+text, element)
	v.Do(v.t, "click on "+text, chromedp.Evaluate[chromedp.Void](element+`.click()`))
}

// enter replaces the text of a field.
func (v *visitor) enter(selector, text string) {
	v.t.Helper()
	v.await("the field "+selector, fmt.Sprintf(`document.querySelector(%q)`, selector))
	v.Do(v.t, "empty "+selector, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector(%q).value = ''`,
		selector)), chromedp.SendKeys(chromedp.CSS(selector), text))
}

func (v *visitor) signIn(name string) {
	v.t.Helper()
	v.enter("#username", name)
	v.enter("#password", servertest.Password+"\r")
}

// signInAs signs in on the sign-in page, and waits for the home page.
func (v *visitor) signInAs(name string) {
	v.t.Helper()
	v.Do(v.t, "open the page to sign in", chromedp.Navigate(v.url+"/login?next=/"))
	v.signIn(name)
	v.await("who is signed in",
		`document.querySelector('#app')?.dataset.ready === '' && document.querySelector('header .bell')`)
}

// noProblems fails the test if the browser has reported problems.
func (v *visitor) noProblems() {
	v.t.Helper()
	for _, problem := range v.Problems() {
		v.t.Error(problem)
	}
}

// scene is a gallery with a published thing of ada's. All users have the same password.
type scene struct {
	*servertest.Server
	ada, bob, admin *servertest.Client
	thing           int64
}

func newScene(t testing.TB) scene {
	t.Helper()
	return newSceneOn(t, "sqlite")
}

func newSceneOn(t testing.TB, engine string, change ...func(*config.Settings)) scene {
	t.Helper()
	s := servertest.Start(t, engine, append(change, func(s *config.Settings) { s.PreviewWorkers = 2 })...)
	c := scene{Server: s, ada: s.User("ada"), bob: s.User("bob"), admin: s.Administrator()}
	c.thing = c.ada.Thing("Half a donut")
	c.ada.Finalize("THING", c.thing, c.ada.Upload("donut.stl", servertest.Mesh(t, "numpystl_HalfDonut_bin.stl")))
	c.ada.Publish(c.thing)
	for _, name := range []string{"ada", "bob", "staff"} {
		s.Password(name, servertest.Password)
	}
	rendered(t, c.ada, c.thing)
	return c
}

func (v *visitor) signOut() {
	v.t.Helper()
	v.click("header", "Account menu")
	v.click(".menu-items", "Sign out")
	v.await("that nobody is signed in",
		`document.querySelector('#app')?.dataset.ready === '' && !document.querySelector('header .bell')`)
}
