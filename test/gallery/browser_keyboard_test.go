//go:build browser

package gallery_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/meshyard/meshyard/test/servertest"
)

// press focuses the element that an expression returns and activates it, as a key does.
func (v *visitor) press(element string) {
	v.t.Helper()
	v.await("the element", element)
	v.run("press "+element, `const element = `+element+`; element.focus(); element.click()`)
}

// focuses waits until the name or the id of the element with the focus is name.
func (v *visitor) focuses(name string) {
	v.t.Helper()
	v.await("the focus on "+name,
		fmt.Sprintf(`[document.activeElement.ariaLabel, document.activeElement.id].includes(%q)`, name))
}

// TestBrowserGalleryKeyboard checks that someone who uses the keyboard continues where they were
// after each step that moves or removes the element with the focus.
func TestBrowserGalleryKeyboard(t *testing.T) {
	s := newScene(t)
	s.bob.Query(`mutation($id: ID!) { createComment(input: {target: {type: THING, id: $id}, body: "First."}) { comment { id } } }`, servertest.Object{"id": fmt.Sprint(s.thing)}, new(any))
	draft := s.ada.Thing("A draft")
	for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
		s.ada.Finalize("THING", draft, s.ada.Upload(name, []byte(name)))
	}
	v := visitGallery(t, s.Server)
	v.signInAs("ada")
	v.open(fmt.Sprintf("/thing:%d/edit", draft))
	v.answer(true)
	names := func(want string) {
		t.Helper()
		v.await("the files "+want,
			fmt.Sprintf(`[...document.querySelectorAll('.files h3')].map(e => e.innerText).join(' ') === %q`, want))
	}
	button := func(name string) string { return fmt.Sprintf(`document.querySelector('[aria-label=%q]')`, name) }
	v.press(button("Move a.txt down"))
	names("b.txt a.txt c.txt")
	v.focuses("Move a.txt down")
	v.press(button("Move a.txt down"))
	names("b.txt c.txt a.txt")
	v.focuses("Move a.txt up") // the other button is disabled
	v.press(button("Delete: a.txt"))
	names("b.txt c.txt")
	v.focuses("Move c.txt up")

	v.open(fmt.Sprintf("/thing:%d/comments", s.thing))
	v.press(`document.querySelector('.comment-actions .link')`)
	v.focuses("Your comment, in Markdown")
	v.press(`document.querySelector('.comment .menu summary')`)
	v.press(`[...document.querySelectorAll('.comment .menu-items button')].find(e => e.innerText === 'Report')`)
	v.await("the focus on the title of the dialog", `document.activeElement.matches('dialog[open] h2')`)
	v.press(button("Close"))
	v.focuses("More actions: bob")

	v.press(`document.querySelector('header .menu summary')`)
	v.await("the menu", `document.querySelector('header .menu[open]')`)
	v.run("leave the menu", `[...document.querySelectorAll('main a')].at(-1).focus()`)
	v.await("that the menu is closed, and that the focus is not in it",
		`!document.querySelector('header .menu[open]') && document.activeElement.closest('main')`)
}

// TestBrowserGalleryFocus checks that the focus is not lost when a form is sent, an item is removed
// or a button disappears.
func TestBrowserGalleryFocus(t *testing.T) {
	s := newScene(t)
	comment := func(parent any, body string) string {
		var made struct {
			CreateComment struct{ Comment struct{ ID string } }
		}
		s.bob.Query(`mutation($id: ID!, $parent: ID, $body: String!) {
			createComment(input: {target: {type: THING, id: $id}, parentId: $parent, body: $body}) { comment { id } } }`,
			servertest.Object{"id": fmt.Sprint(s.thing), "parent": parent, "body": body}, &made)
		return made.CreateComment.Comment.ID
	}
	for i := range 21 {
		comment(nil, fmt.Sprint("Comment ", i))
	}
	first := comment(nil, "First")
	for i := range 5 {
		comment(first, fmt.Sprint("Reply ", i))
	}
	v := visitGallery(t, s.Server)
	v.signInAs("ada")
	v.open(fmt.Sprintf("/thing:%d/comments", s.thing))
	v.answer(true)
	thread := "#comment-" + first
	button := func(within, text string) string {
		return fmt.Sprintf(`[...document.querySelectorAll('%s button')].find(e => e.innerText === %q)`, within, text)
	}
	focused := func(what, expression string) {
		t.Helper()
		v.await("the focus on "+what, `(now => `+expression+`)(document.activeElement)`)
	}
	v.is("the names of tabs and buttons",
		`document.querySelector('#tab-comments').textContent === 'Comments 27' && document.querySelector('`+thread+` .comment-actions button').ariaLabel === 'Reply: bob'`)
	v.press(button(thread, "Show more replies"))
	focused("the fourth reply", `now.closest('.replies li')?.innerText.includes('Reply 3')`)
	v.press(button(thread, "Reply"))
	focused("the field", `now.matches('`+thread+` textarea')`)
	v.enter(thread+" textarea", "A reply")
	v.press(`document.querySelector('` + thread + ` form button')`)
	v.await("the reply", `document.querySelector('`+thread+` .replies').innerText.includes('A reply')`)
	focused("the button that opened the form", `now === `+button(thread, "Reply"))
	menu := `document.querySelector('` + thread + ` .replies li:last-child summary')`
	for _, end := range []string{"Cancel", "Save"} {
		v.press(menu)
		v.press(button(thread+" .replies li:last-child", "Edit"))
		focused("the field", `now.matches('`+thread+` .replies textarea')`)
		v.press(button(thread+" .replies form", end))
		focused("the menu after "+end, `now === `+menu)
	}
	v.press(menu)
	v.press(button(thread+" .replies li:last-child", "Delete"))
	focused("the deleted comment",
		`now.matches('`+thread+` .replies li:last-child') && now.innerText === 'This comment was deleted.'`)
	v.enter(".comments > form textarea", " ")
	v.press(button(".comments > form", "Comment"))
	focused("the empty field", `now.matches('.comments > form textarea')`)
	v.enter(".comments > form textarea", "A comment")
	v.press(button(".comments > form", "Comment"))
	v.await("the comment", `document.querySelector('.comments > ol').innerText.includes('A comment')`)
	focused("the button", `now === `+button(".comments > form", "Comment"))
	v.press(button(".more", "Show more"))
	focused("the next comment",
		`now.closest('.comments > ol > li') === document.querySelectorAll('.comments > ol > li')[21]`)

	v.open("/explore?watertight=1&wip=1")
	v.press(`document.querySelector('.chip.chosen')`)
	focused("the other filter", `now.matches('.chip.chosen') && !document.querySelectorAll('.chip.chosen')[1]`)
	v.press(`document.querySelector('.chip.chosen')`)
	focused("the page", `now.id === 'main' && !document.querySelector('.chip.chosen')`)

	v.open("/explore")
	link := fmt.Sprintf(`[...document.querySelectorAll('main a[href="/thing:%d"]')][0]`, s.thing)
	v.press(link)
	v.await("the thing", `document.querySelector('.summary')`)
	focused("the page", `now.id === 'main'`)
	v.run("go back", `history.back()`)
	focused("the link", `location.pathname === '/explore' && now === `+link)

	v.open("/notifications")
	v.press(button(".page-head", "Mark all as read"))
	focused("the page", `now.id === 'main' && !document.querySelector('.page-head button')`)

	s.Browser().SignIn("ada", servertest.Password)
	v.open("/settings")
	v.press(button("main form", "Save"))
	v.sees("Saved.")
	focused("the button", `now.innerText === 'Save'`)
	v.press(`document.querySelector('.sessions li > button')`)
	focused("the remaining session",
		`now.closest('.sessions li') && document.querySelectorAll('.sessions li').length === 1`)
}

// TestBrowserGallerySuggestions searches for names that the search field suggests.
func TestBrowserGallerySuggestions(t *testing.T) {
	s := newScene(t)
	v := visitGallery(t, s.Server)
	v.open("/")
	suggest := func() {
		t.Helper()
		v.enter(".search input", "don")
		v.await("the suggestion",
			`document.querySelector('.search li')?.innerText === 'Half a donut' && document.querySelector('.search input').ariaExpanded === 'true'`)
	}
	finds := func(query string) {
		t.Helper()
		v.await("the results for "+query,
			fmt.Sprintf(`new URLSearchParams(location.search).get('q') === %q && document.querySelector('.search input').value === %[1]q && document.querySelector('h1').innerText.includes(%[1]q) && !document.querySelector('.search ul').checkVisibility()`, query))
		v.settled()
		v.run("let the page update the field",
			`window.updated = false; requestAnimationFrame(() => setTimeout(() => { window.updated = true }, 100))`)
		v.await("the updated page", `window.updated`)
	}
	keys := func(keys string) {
		t.Helper()
		v.Do(t, "press keys", chromedp.SendKeys(chromedp.CSS(".search input"), keys))
	}
	suggest()
	keys(kb.ArrowDown)
	v.is("the suggestion is active",
		`document.querySelector('.search input').ariaActiveDescendantElement.ariaSelected === 'true'`)
	keys(kb.Enter)
	finds("Half a donut")
	suggest()
	keys(kb.ArrowDown + kb.ArrowUp + kb.Enter)
	finds("don")
	suggest()
	keys(kb.Escape)
	v.await("that nothing is suggested",
		`!document.querySelector('.search ul').checkVisibility() && document.querySelector('.search input').ariaExpanded === 'false'`)
	suggest()
	v.run("search and type on at once", `window.waited = false; setTimeout(() => { window.waited = true }, 500);
		const field = document.querySelector('.search input'); field.form.requestSubmit(); field.focus(); field.dispatchEvent(new InputEvent('input', { bubbles: true }))`)
	v.await("half a second pass", `window.waited`)
	v.is("the suggestion", `document.querySelector('.search li').checkVisibility()`)
	suggest()
	v.Do(t, "click the suggestion", chromedp.Click(chromedp.CSS(".search li")))
	finds("Half a donut")
}

// TestBrowserGalleryChoiceStartsNothing checks that choosing a category, which the arrow keys do
// step by step, does not upload the chosen files yet.
func TestBrowserGalleryChoiceStartsNothing(t *testing.T) {
	s := newScene(t)
	v := visitGallery(t, s.Server)
	v.signInAs("ada")
	v.open("/upload")
	v.choose("main .drop input", servertest.Meshes(t)[0])
	v.sees("Choose a category to upload the file.")
	v.focuses("category")
	v.chooseCategory()
	v.sees("Upload 1 file")
	v.is("nothing was started", `location.pathname === '/upload'`)
	v.click("main", "Upload 1 file")
	v.await("the form", `location.pathname.endsWith('/edit') && document.querySelector('.files h3')`)
}

// TestBrowserGalleryToast checks that a message is above an open dialog, and that an error of a
// dialog is in the dialog.
func TestBrowserGalleryToast(t *testing.T) {
	s := newScene(t)
	s.bob.Query(`mutation { createCollection(input: {name: "Sweets"}) { collection { id } } }`, nil, new(any))
	v := visitGallery(t, s.Server)
	v.signInAs("bob")
	v.open(fmt.Sprintf("/thing:%d", s.thing))
	offline := networkConditions{Offline: true, DownloadThroughput: -1, UploadThroughput: -1}
	v.network(offline)
	v.click(".summary", "Collect")
	v.await("the error", `document.querySelector('dialog .notice')?.innerText.includes('cannot be reached')`)
	v.network(networkConditions{DownloadThroughput: -1, UploadThroughput: -1})
	v.click("dialog", "Try again")
	v.await("the collection", `document.querySelector('dialog .collect input')`)
	v.network(offline)
	v.click("dialog .collect", "Sweets")
	v.await("the error in the dialog",
		`document.querySelector('dialog .fault')?.innerText.includes('cannot be reached') && !document.querySelector('dialog .collect input').checked`)
	v.click(".summary", "Watch")
	above := `document.querySelector('dialog[open]') && document.querySelector('#toast:popover-open')?.innerText.includes('cannot be reached')`
	v.await("the message above the dialog", above)

	v.click("dialog", "Close")
	v.run("delay the text of the next message, and open a dialog before it appears", `
		const later = setTimeout;
		window.setTimeout = (action, delay) => later(action, delay === 100 ? 1000 : delay);
		document.querySelector('#toast').addEventListener('toggle', event => {
			if (event.newState === 'open') [...document.querySelectorAll('.summary button')].find(e => e.innerText.startsWith('Collect')).click();
		})`)
	v.click(".summary", "Watch")
	v.await("the message above the dialog", above)

	v.run("close the dialog, and open it again before the close event", `
		new MutationObserver((_, observer) => {
			observer.disconnect();
			[...document.querySelectorAll('.summary button')].find(e => e.innerText.startsWith('Collect')).click();
		}).observe(document.querySelector('dialog').parentElement, {childList: true});
		document.querySelector('dialog [aria-label=Close]').click();
		document.querySelector('dialog').addEventListener('close', () => setTimeout(() => window.closeEvent = true, 500))`)
	v.await("the time after the close event", `window.closeEvent`)
	v.await("the dialog", `document.querySelector('dialog[open]')`)
}

// TestBrowserGalleryModeration checks that the queue keeps the focus and the tab of a moderator,
// that the header has the number of reports, and that administrators create and revoke invitations.
func TestBrowserGalleryModeration(t *testing.T) {
	s := newScene(t)
	for _, who := range []*servertest.Client{s.ada, s.admin} {
		s.bob.Query(`mutation($node: ID!) { reportContent(input: {nodeId: $node, reason: SPAM}) { report { id } } }`,
			servertest.Object{"node": servertest.NodeID(t, who)}, new(any))
	}
	v := visitGallery(t, s.Server)
	v.signInAs("staff")
	v.open("/moderation")
	v.await("the queue",
		`document.querySelectorAll('.report').length === 2 && document.querySelector('#panel [role=status]').innerText === '2 reports'`)
	const account = `document.querySelector('header .avatar-button')`
	const open = `document.querySelector('header .avatar-button .dot')?.innerText`
	v.await("the number of reports in the header",
		open+` === '2' && `+account+`.ariaLabel === 'Account menu, 2 open reports'`)
	v.click("header", "Account menu")
	v.await("the number of reports in the menu",
		`document.querySelector('.menu-items a[href="/moderation"]').innerText.includes('2 open reports')`)
	v.click("header", "Account menu")
	v.press(`[...document.querySelectorAll('.report button')].find(e => e.innerText === 'Dismiss')`)
	v.await("the focus in the dialog", `document.activeElement === document.querySelector('dialog textarea')`)
	v.enter("dialog textarea", "No.")
	v.press(`document.querySelector('dialog button[type=submit]')`)
	v.await("the rest of the queue",
		`document.querySelectorAll('.report').length === 1 && document.querySelector('#panel [role=status]').innerText === '1 report'`)
	v.await("one report in the header", open+` === '1' && `+account+`.ariaLabel === 'Account menu, 1 open report'`)
	v.await("the focus on the next report", `document.activeElement === document.querySelector('.report h2 a')`)
	v.press(`[...document.querySelectorAll('.report button')].find(e => e.innerText === 'Dismiss')`)
	v.await("what the dialog is about",
		`(dialog => ['ada', 'staff'].includes(dialog?.querySelector('form p').innerText) && dialog.innerText.includes('Moderators see it in the log.'))(document.querySelector('dialog'))`)
	v.enter("dialog textarea", "No.")
	v.press(`document.querySelector('dialog button[type=submit]')`)
	v.sees("There are no reports.")
	v.await("no reports in the header", open+` === undefined && `+account+`.ariaLabel === 'Account menu'`)
	v.focuses("panel")
	v.click(".tabs", "Log")
	v.await("the log", `document.querySelector('.log a')`)
	v.open("/explore")
	v.run("go back", `history.back()`)
	v.await("the log", `document.querySelector('.log a')`)

	v.click(".tabs", "Invitations")
	v.sees("Nothing here yet.")
	v.enter("#email", "not an address@")
	v.run("send", `document.querySelector('main form').noValidate = true`)
	v.click("main", "Create invitation")
	v.await("the fault", `document.querySelector('#email-fault')`)
	v.enter("#email", "dora@example.org")
	v.click("main", "Create invitation")
	v.await("the link, selected",
		`document.querySelector('#link')?.value.includes('/login/invitation?token=') && document.activeElement.id === 'link'`)
	v.await("the invitation", `document.querySelector('.sessions')?.innerText.includes('dora@example.org')`)
	var found struct{ Invitations []struct{ Email string } }
	s.admin.Query(`{ invitations { email } }`, nil, &found)
	if len(found.Invitations) != 1 || found.Invitations[0].Email != "dora@example.org" {
		t.Errorf("got %+v, want the invitation", found)
	}
	v.click("main", "Create invitation")
	v.await("the second invitation", `document.querySelectorAll('.sessions li').length === 2`)
	v.run("revoke both at once", `document.querySelectorAll('.sessions button').forEach(e => e.click())`)
	v.sees("Nothing here yet.")
	s.admin.Query(`{ invitations { email } }`, nil, &found)
	if len(found.Invitations) != 0 {
		t.Errorf("got %+v, want none", found)
	}

	v.click(".tabs", "People")
	v.await("all users", `document.querySelectorAll('.users li').length >= 3`)
	v.enter("#prefix", "AD")
	v.click("main", "Search")
	v.await("one user", `[...document.querySelectorAll('.users a')].map(e => e.innerText).join() === 'ada'`)
	v.run("filter by role",
		`document.querySelector('#role').value = 'ADMINISTRATOR'; document.querySelector('#role').dispatchEvent(new Event('change'))`)
	v.sees("No results.")
	v.open("/ada")
	v.click(".profile", "More actions")
	v.click(".menu-items", "Change role")
	v.run("choose", `document.querySelector('dialog #role').value = 'MODERATOR'`)
	v.enter("dialog textarea", "Helps.")
	v.click("dialog", "Change role")
	v.await("the role", `document.querySelector('.profile-head').innerText.includes('Moderator') && !document.querySelector('dialog')`)
	v.open("/moderation?tab=users")
	v.await("the role of ada",
		`[...document.querySelectorAll('.users li')].some(e => e.innerText.includes('ada') && e.innerText.includes('Moderator'))`)
	v.open("/")
	v.signOut()
	v.signInAs("ada")
	v.open("/moderation")
	v.await("the tabs of a moderator",
		`[...document.querySelectorAll('[role=tab]')].map(e => e.innerText).join() === 'Open,All,Log,People'`)
}
