//go:build browser

package gallery_test

import (
	"fmt"
	"image"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdpfetch "github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/meshyard/meshyard/internal/web/graphiql/graphiqltest"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestBrowserGalleryNotices checks what the gallery shows in place of a page or of results that do
// not exist, or that a visitor must not see.
func TestBrowserGalleryNotices(t *testing.T) {
	c := newScene(t)
	hidden := servertest.PublishedThing(t, c.ada, "Forbidden")
	c.admin.Query(`mutation($id: ID!) { takeDownThing(input: {id: $id, reason: "Spam."}) { thing { id } } }`,
		servertest.Object{"id": fmt.Sprint(hidden)}, new(any))
	v := visitGallery(t, c.Server)
	title := func(want string) {
		t.Helper()
		v.await("the title "+want, fmt.Sprintf(`document.title === %q`, want))
	}
	for _, path := range []string{"/nosuchuser", "/thing:999999", "/tag:nonexistent", "/a/b/c"} {
		v.open(path)
		v.await("the only heading", `[...document.querySelectorAll('main h1')].map(e => e.innerText).join() === 'Not found'`)
		title("Not found · Meshyard")
	}
	v.click("main", "Home page")
	v.await("the home page", `location.pathname === '/' && document.querySelector('main .card')`)

	v.open(fmt.Sprintf("/thing:%d", hidden))
	v.sees("Not available")
	title("Not available · Meshyard")
	v.await("no link to sign in", `!document.querySelector('main a[href*="/login"]')`)

	v.open("/explore")
	v.intercept(cdpfetch.RequestStageRequest, func(e *cdpfetch.EventRequestPaused) {
		_, _ = chromedp.Call(v.Context, cdpfetch.FailRequest, cdpfetch.FailRequestParams{RequestID: e.RequestID,
			ErrorReason: network.ErrorReasonConnectionReset})
	})
	v.follow(fmt.Sprintf("/thing:%d", c.thing))
	v.sees("Try again")
	title("Meshyard")
	graphiqltest.Call(t, v.Tab, "let requests pass", cdpfetch.Disable, cdp.Empty{})
	v.click("main", "Try again")
	title("Half a donut · Meshyard")

	v.open("/explore?category=nonexistent")
	v.sees("No results.")
	v.await("the number of results", `document.querySelector('.results-head [role=status]').innerText === '0 results'`)
	v.open("/explore?q=nonexistent&category=tools&license=cc_nc")
	v.await("the names of filters without results",
		`[...document.querySelectorAll('.facet label')].map(e => e.innerText.replace(/\s+/g, ' ')).filter(text => text.endsWith(' 0')).join() === 'Tools 0,CC BY-NC 0'`)
	v.open("/explore?format=STL&format=stl")
	v.is("one filter in upper case", `document.querySelectorAll('.chips .chosen').length === 1
		&& [...document.querySelectorAll('.facet')].filter(facet => facet.querySelector('legend')?.innerText === 'Format').every(facet =>
			facet.querySelectorAll('input:checked').length === 1 && [...facet.querySelectorAll('.check span')].filter(name => name.innerText.startsWith('STL')).length === 1)`)
	v.run("remove the filter", `document.querySelector('.chips .chosen').click()`)
	v.await("no filter", `location.search === '' && !document.querySelector('.chips')`)
	v.open("/explore?category=tools")
	v.await("the name of the category",
		`document.querySelector('.chip.chosen')?.innerText === 'Tools' && document.querySelector('main .card')`)
}

// TestBrowserGalleryConfirmations checks that actions whose results are not where the focus is are
// confirmed by a message, which screen readers read.
func TestBrowserGalleryConfirmations(t *testing.T) {
	s := newScene(t)
	s.ada.Query(`mutation { createCollection(input: {name: "Sweets"}) { collection { id } } }`, nil, new(any))
	v := visitGallery(t, s.Server)
	says := func(text string) {
		t.Helper()
		v.await("the message", fmt.Sprintf(`document.querySelector('#toast').innerText === %q`, text))
		v.run("remove it", `document.querySelector('#toast p').textContent = ''`)
	}
	v.signInAs("ada")
	v.open(fmt.Sprintf("/thing:%d/comments", s.thing))
	v.answer(true)
	v.enter(".comment-form textarea", "Nice")
	v.click(".comment-form", "Comment")
	says("Your comment is published.")
	v.click(".tabs", "Makes")
	v.click("main", "I made this")
	v.enter("dialog textarea", "Worked.")
	v.click("dialog", "Post")
	says("Your make is published.")
	v.click("#panel .card", "Half a donut")
	v.click(".summary", "More actions")
	v.click(".menu-items", "Delete")
	says("Deleted.")
	v.open("/collection:1")
	v.answer(true)
	v.click(".page-head", "Delete")
	says("Deleted.")
	v.await("the collections", `location.pathname === '/ada/collections'`)
	v.open(fmt.Sprintf("/thing:%d/edit", s.thing))
	v.answer(true)
	v.click(".publish-bar", "More actions")
	v.click(".menu-items", "Back to draft")
	says("Saved.")
	v.click(".publish-bar", "More actions")
	v.click(".menu-items", "Delete")
	says("Deleted.")
	v.await("the things", `location.pathname === '/ada'`)
	v.noProblems()
}

// TestBrowserGalleryEmpty checks what a gallery without things shows.
func TestBrowserGalleryEmpty(t *testing.T) {
	s := servertest.Start(t, "sqlite")
	v := visitGallery(t, s)
	v.open("/")
	v.sees("Nothing here yet.")
	v.await("a link to share the first thing", `document.querySelector('main .notice a[href="/upload"]')`)
	v.open("/explore")
	v.sees("Nothing here yet.")
	v.open("/explore?q=donut")
	v.sees("Try other words, or remove a filter.")

	s.User("ada")
	s.Password("ada", servertest.Password)
	v.signInAs("ada")
	for path, link := range map[string]string{"/ada": "/upload", "/ada/drafts": "/upload",
		"/feed": "/explore?type=users"} {
		v.open(path)
		v.await("a link to "+link, fmt.Sprintf(`document.querySelector('main .notice a')?.getAttribute('href') === %q`, link))
	}
}

// TestBrowserGalleryLikeButtons checks that the names of the buttons contain their visible text, so
// that voice control finds them.
func TestBrowserGalleryLikeButtons(t *testing.T) {
	c := newScene(t)
	v := visitGallery(t, c.Server)
	for path, want := range map[string]string{"/explore": "Like 0: Half a donut",
		fmt.Sprintf("/thing:%d", c.thing): "Like 0: Half a donut"} {
		v.open(path)
		v.await("the name of the button", fmt.Sprintf(`document.querySelector('main button.like')?.ariaLabel === %q`, want))
		v.await("its text in the name",
			`(b => b.ariaLabel.includes(b.innerText.trim().replace(/\s+/g, ' ')))(document.querySelector('main button.like'))`)
	}
	v.signInAs("bob")
	v.open("/ada")
	v.click("main", "Follow: ada")
	v.await("its new text in the name",
		`(b => b.innerText === 'Following' && b.ariaLabel === 'Following: ada')(document.querySelector('main button.follow'))`)
	v.open(fmt.Sprintf("/thing:%d", c.thing))
	v.click(".summary", "Watch")
	v.await("the new text of the button",
		`[...document.querySelectorAll('.summary .button.on')].some(b => b.innerText === 'Watching')`)
	// A screen reader would read both as "Following, pressed", which sounds like a negation.
	v.is("a state in the text or as pressed, not both",
		`[...document.querySelectorAll('.summary .button[aria-pressed]')].every(b => b.matches('.like'))`)
}

// TestBrowserGallerySpace checks the space of elements that were too narrow or touched others.
func TestBrowserGallerySpace(t *testing.T) {
	c := newScene(t)
	v := visitGallery(t, c.Server)
	v.open("/explore")
	v.await("complete placeholders",
		`[...document.querySelectorAll('.range input')].length === 5 && [...document.querySelectorAll('.range input')].every(field => field.clientWidth > 100)`)
	v.size(image.Pt(390, 844))
	v.open(fmt.Sprintf("/thing:%d", c.thing))
	v.click("main", "Files")
	v.await("room for the name of a file", `document.querySelector('.files .file-text')?.clientWidth > 220`)

	v.size(image.Pt(360, 740))
	for _, path := range []string{fmt.Sprintf("/thing:%d/remixes", c.thing), "/bob/following"} {
		v.open(path)
		v.await("a header of two rows",
			`document.querySelector('header.site').offsetHeight < 125 && document.querySelector('.brand span').scrollWidth <= document.querySelector('.brand span').clientWidth`)
		v.await("the current tab",
			`(tab => tab && tab.getBoundingClientRect().left >= 0 && tab.getBoundingClientRect().right <= innerWidth)(document.querySelector('.tabs [aria-selected=true], .tabs [aria-current]'))`)
		v.click("main .menu", "More actions")
		v.await("the whole menu",
			`(menu => menu.left >= 0 && menu.right <= innerWidth)(document.querySelector('main .menu[open] .menu-items').getBoundingClientRect())`)
	}
	v.open(fmt.Sprintf("/thing:%d", c.thing))
	for _, width := range []int{1200, 1280, 360} {
		v.size(image.Pt(width, 740))
		v.await("all actions but the download in one line",
			`new Set([...document.querySelectorAll('.summary .actions > :not(.wide)')].map(e => e.getBoundingClientRect().top)).size === 1`)
	}
	v.run("scroll the button of the menu to the end of the screen",
		`document.querySelector('main .menu').scrollIntoView({block: 'end'})`)
	v.click("main .menu", "More actions")
	v.await("the menu on the screen",
		`(menu => menu.top >= 0 && menu.bottom <= innerHeight)(document.querySelector('main .menu[open] .menu-items').getBoundingClientRect())`)

	// German has the longest names of the actions and of the numbers.
	v.run("choose German", `document.cookie = 'meshyard_language=de; path=/'`)
	v.open(fmt.Sprintf("/thing:%d", c.thing))
	for _, width := range []int{1200, 1300, 1400} {
		v.size(image.Pt(width, 740))
		v.await(fmt.Sprintf("all German actions but the download in one line of %d pixels", width),
			`new Set([...document.querySelectorAll('.summary .actions > :not(.wide)')].map(e => e.getBoundingClientRect().top)).size === 1`)
	}
	v.await("numbers that do not overlap",
		`(all => all.length === 4 && all.every(e => e.scrollWidth <= e.clientWidth))([...document.querySelectorAll('.stats li')])`)

	v.size(image.Pt(1400, 900))
	graphiqltest.Call(t, v.Tab, "run no scripts", emulation.SetScriptExecutionDisabled,
		emulation.SetScriptExecutionDisabledParams{Value: true})
	v.Do(t, "open the page of a user", chromedp.Navigate(v.url+"/ada"))
	v.await("a wide header", `document.querySelector('header.site').clientWidth > 1300`)
	blurred := servertest.PublishedThing(t, c.ada, "Blurred")
	c.ada.GraphQL(`mutation($id: ID!) { updateThing(input: {id: $id, isNsfw: true}) { thing { id } } }`,
		servertest.Object{"id": fmt.Sprint(blurred)})
	rendered(t, c.ada, blurred)
	v.Do(t, "open the home page", chromedp.Navigate(v.url+"/"))
	v.await("a blurred picture that ends above the name",
		`(image => image && getComputedStyle(image).clipPath !== 'none' && image.getBoundingClientRect().bottom <= image.closest('.card').querySelector('b').getBoundingClientRect().top + 1)(document.querySelector('.sensitive img'))`)
	v.Do(t, "open the page of a user", chromedp.Navigate(v.url+"/ada"))
	v.await("space below the links to lists",
		`document.querySelector('.grid').getBoundingClientRect().top - document.querySelector('main nav li').getBoundingClientRect().bottom >= 16`)
}
