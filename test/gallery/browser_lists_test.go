//go:build browser

package gallery_test

import (
	"github.com/meshyard/meshyard/test/servertest"

	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestBrowserLists changes lists of which the page shows more than the first part, or to which the
// user has added an entry: they must be current when they are shown again.
func TestBrowserLists(t *testing.T) {
	s := newScene(t)
	for i := range 30 {
		s.ada.Thing(fmt.Sprintf("Draft %02d", i+1))
	}
	v := visitGallery(t, s.Server)
	v.signInAs("ada")
	thing := fmt.Sprintf("/thing:%d", s.thing)
	cards := func(n int) string {
		return fmt.Sprintf(`document.querySelectorAll('main .grid > li').length === %d`, n)
	}

	t.Run("drafts", func(t *testing.T) {
		v.open("/ada")
		v.run("limit the rate", `window.original = window.fetch; window.fetch = (url, options) => String(options.body).includes('"after"')
			? Promise.resolve(new Response('{"errors":[{"message":"too many requests","extensions":{"code":"RATE_LIMITED","retryAfter":1}}]}', {status: 429})) : window.original(url, options)`)
		v.click(".tabs", "Drafts")
		v.await("the first part", cards(24))
		v.run("scroll", `scrollTo(0, document.body.scrollHeight)`)
		v.await("the error", `document.querySelector('.more .fault')?.innerText.includes('Too many requests')`)
		v.run("stop limiting the rate", `window.fetch = window.original`)
		v.click(".more", "Show more")
		v.await("all drafts", cards(30)+` && !document.querySelector('.more')`)

		v.answer(true)
		v.click("main .grid", "Draft 02")
		v.click(".publish-bar", "More actions")
		v.click(".publish-bar .menu-items", "Delete")
		v.await("the profile", `location.pathname === '/ada'`)
		v.click(".tabs", "Drafts")
		v.await("the other drafts", cards(29)+` && !document.querySelector('main .grid').innerText.includes('Draft 02')`)
	})

	t.Run("scroll position", func(t *testing.T) {
		at300 := `scrollY === 300 && document.querySelector('#app').dataset.ready === ''`
		v.open("/ada/drafts")
		v.run("scroll", `scrollTo(0, 300)`)
		v.Do(t, "load the page again", chromedp.Reload())
		v.await("the same position", at300)
		v.settled()
		v.click("header", "Explore")
		v.await("the other page", `location.pathname === '/explore'`)
		v.Do(t, "load the page again", chromedp.Reload())
		v.await("the page", `document.querySelector('#app')?.dataset.ready === ''`)
		v.run("go back", `history.back()`)
		v.await("the same position of a page whose data is loaded", `location.pathname === '/ada/drafts' && `+at300)
		v.open("/explore")
		v.is("the top of another page", `scrollY === 0`)
	})

	t.Run("comments", func(t *testing.T) {
		v.open(thing)
		v.click(".tabs", "Comments")
		v.enter(".comment-form textarea", "Mine")
		v.click(".comment-form", "Comment")
		v.await("the comment", `document.querySelector('.comment')?.innerText.includes('Mine')`)
		s.bob.Query(`mutation($id: ID!) { createComment(input: {target: {type: THING, id: $id}, body: "That of Bob"}) { comment { id } } }`, servertest.Object{"id": fmt.Sprint(s.thing)}, new(any))
		v.click(".tabs", "Files")
		v.click(".tabs", "Comments")
		v.await("both comments",
			`!document.querySelector('.comment .edited') && document.querySelectorAll('.comment').length === 2 && document.querySelector('.comments').innerText.includes('That of Bob')`)
		mine := ".comments li:last-child"
		v.click(mine, "More actions")
		v.click(mine+" .menu-items", "Edit")
		v.enter(mine+" .comment textarea", " and more")
		v.click(mine+" .comment", "Save")
		v.await("that the comment is marked",
			`[...document.querySelectorAll('.comment')].filter(c => c.querySelector('.edited')?.innerText === 'edited').map(c => c.innerText.includes('and more')).join() === 'true'`)
	})

	t.Run("collections", func(t *testing.T) {
		v.open(thing)
		v.answer(true)
		v.click(".summary", "Collect")
		v.enter("dialog input[name=name]", "Short-lived\r")
		v.await("the collection",
			`[...document.querySelectorAll('dialog .check')].some(e => e.innerText.includes('Short-lived') && e.querySelector('input').checked)`)
		v.click("dialog", "Close")
		v.click(".maker", "A") // the initial letter is the avatar
		v.click(".tabs", "Collections")
		v.click("main .grid", "Short-lived")
		v.click(".page-head", "Delete")
		v.await("that it is deleted", `location.pathname === '/ada/collections' && document.querySelector('main .notice')`)
		v.click("header", "Explore")
		v.click("main .grid", "Half a donut")
		v.click(".summary", "Collect")
		v.await("no collections",
			`document.querySelector('dialog .collect')?.innerText.includes('You have no collections yet.')`)
	})
	v.noProblems()
}
