//go:build browser

package gallery_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/meshyard/meshyard/internal/web/graphiql/graphiqltest"
	"github.com/meshyard/meshyard/test/servertest"
)

// hold makes the page keep back its requests of an operation, as a slow network does, until it is
// loaded again.
func (v *visitor) hold(operation string) {
	v.t.Helper()
	v.run("hold requests of "+operation, fmt.Sprintf(`
		if (!window.held) {
			const send = fetch;
			window.held = {}; // by operation, functions that send or fail the requests
			window.done = {}; // by operation, the number of requests whose response the page has processed
			window.fetch = async (url, options) => {
				const { operationName: name } = JSON.parse(options.body);
				if (held[name] && !(await new Promise(go => held[name].push(go)))) throw new TypeError('lost');
				const response = await send(url, options);
				const text = await response.text();
				setTimeout(() => done[name] = (done[name] ?? 0) + 1, 100);
				return new Response(text, { status: response.status });
			};
		}
		held[%q] ??= [];`, operation))
}

// holds waits until the page has sent a number of requests of an operation that are held.
func (v *visitor) holds(operation string, requests int) {
	v.t.Helper()
	v.await(fmt.Sprintf("%d requests of %s", requests, operation), fmt.Sprintf(`held[%q].length === %d`, operation,
		requests))
}

// lose makes the first held request of an operation fail.
func (v *visitor) lose(operation string) {
	v.t.Helper()
	v.run("lose a request of "+operation, fmt.Sprintf(`held[%q].shift()(false)`, operation))
}

// release sends the held requests of an operation. Later ones are sent at once.
func (v *visitor) release(operation string) {
	v.t.Helper()
	v.run("send requests of "+operation, fmt.Sprintf(`held[%[1]q].forEach(go => go(true)); delete held[%[1]q]`, operation))
}

// processes waits until the page has processed the responses to a number of requests.
func (v *visitor) processes(operation string, responses int) {
	v.t.Helper()
	v.await(fmt.Sprintf("%d responses to %s", responses, operation), fmt.Sprintf(`done[%q] >= %d`, operation, responses))
}

// follow clicks a link that the page does not have.
func (v *visitor) follow(path string) {
	v.t.Helper()
	v.run("follow a link to "+path,
		fmt.Sprintf(`const link = document.createElement('a'); link.href = %q; document.body.append(link); link.click(); link.remove()`, path))
}

// textFile returns the path of a new file whose content is its name.
func textFile(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestBrowserGalleryMakeWhileRendering edits a make while its page polls for previews, which are
// never made. The pictures that the user keeps must stay.
func TestBrowserGalleryMakeWhileRendering(t *testing.T) {
	s := servertest.Start(t, "sqlite")
	v, ada := visitGallery(t, s), s.User("ada")
	s.Password("ada", servertest.Password)
	thing := ada.Thing("Half a donut")
	ada.Finalize("THING", thing, ada.Upload("donut.stl", servertest.Mesh(t, "numpystl_HalfDonut_bin.stl")))
	ada.Publish(thing)
	var made struct {
		CreateMake struct{ Make struct{ ID string } }
	}
	ada.Query(`mutation($id: ID!) { createMake(input: {thingId: $id, description: "Worked."}) { make { id } } }`,
		servertest.Object{"id": fmt.Sprint(thing)}, &made)
	picture := servertest.Mesh(t, "lib3mf_thumbnail.png")
	for _, name := range []string{"first.png", "second.png", "third.png"} {
		ada.Query(`mutation($id: ID!, $file: ID!) { finalizeFiles(input: {files: [{id: $file}], target: {type: MAKE, id: $id}}) { files { id } } }`,
			servertest.Object{"id": made.CreateMake.Make.ID,
				"file": fmt.Sprint(ada.Upload(name, append(picture[:len(picture):len(picture)], name...)))}, new(any))
	}
	v.signInAs("ada")
	v.open("/make:" + made.CreateMake.Make.ID)
	v.click(".summary", "More actions")
	v.click(".menu-items", "Edit")
	v.await("the pictures", `document.querySelectorAll('dialog .pictures li').length === 3`)
	v.click("dialog", "Remove: first.png")
	v.hold("make")
	v.holds("make", 1)
	v.release("make")
	v.processes("make", 2)
	v.click("dialog", "Save")
	v.await("that it is saved", `!document.querySelector('dialog')`)
	var found struct {
		Make struct{ Files []struct{ Name string } }
	}
	ada.Query(`query($id: ID!) { make(id: $id) { files { name } } }`, servertest.Object{"id": made.CreateMake.Make.ID},
		&found)
	if got, want := fmt.Sprint(found.Make.Files), "[{second.png} {third.png}]"; got != want {
		t.Errorf("the make has the files %s, want %s", got, want)
	}
}

// TestBrowserGalleryUploadPageFiles checks that files that are chosen on the page to share a thing
// are all attached to the new thing, and to no other one if its page cannot be loaded at first.
func TestBrowserGalleryUploadPageFiles(t *testing.T) {
	s := newScene(t)
	v := visitGallery(t, s.Server)
	v.signInAs("ada")
	names := func() string {
		return `[...document.querySelectorAll('main .files:not(.uploads) h3')].map(e => e.innerText).join()`
	}

	v.open("/upload")
	v.chooseCategory()
	v.hold("createThing")
	v.choose("main .drop input", textFile(t, "first.txt"))
	v.holds("createThing", 1)
	v.choose("main .drop input", textFile(t, "second.txt"))
	v.sees("Upload 2 files")
	v.release("createThing")
	v.await("both files",
		`location.pathname.endsWith('/edit') && ['first.txt,second.txt', 'second.txt,first.txt'].includes(`+names()+`)`)

	v.click("header", "Upload")
	v.chooseCategory()
	v.hold("editThing")
	v.choose("main .drop input", textFile(t, "third.txt"))
	v.holds("editThing", 1)
	v.lose("editThing")
	v.sees("Try again")
	created := graphiqltest.Read[string](t, v.Tab, "read the path of the new thing", `location.pathname`)
	v.release("editThing")
	v.follow(fmt.Sprintf("/thing:%d/edit", s.thing))
	v.await("the other thing", names()+` === 'donut.stl'`)
	v.answer(true)
	v.follow(created)
	v.await("the file of the new thing", names()+` === 'third.txt'`)
}

// TestBrowserGalleryLeaves leaves a page while it sends a request after which it leads elsewhere.
func TestBrowserGalleryLeaves(t *testing.T) {
	s := newScene(t)
	s.bob.Query(`mutation { createCollection(input: {name: "Sweets"}) { collection { id } } }`, nil, new(any))
	draft := s.bob.Thing("A draft")
	v := visitGallery(t, s.Server)
	v.signInAs("bob")
	v.open("/collection:1")
	v.answer(true)
	v.hold("deleteCollection")
	v.click(".page-head", "Delete")
	v.holds("deleteCollection", 1)
	edit := fmt.Sprintf("/thing:%d/edit", draft)
	v.follow(edit)
	v.enter("#description", "Half written")
	v.release("deleteCollection")
	v.processes("deleteCollection", 1)
	v.is("the page and its input",
		fmt.Sprintf(`location.pathname === %q && document.querySelector('#description')?.value === 'Half written'`, edit))
}

// TestBrowserGalleryConcurrentComments writes comments while other requests change the list.
func TestBrowserGalleryConcurrentComments(t *testing.T) {
	s := newScene(t)
	for i := range 45 { // more than two pages
		s.ada.Query(`mutation($id: ID!, $body: String!) { createComment(input: {target: {type: THING, id: $id}, body: $body}) { comment { id } } }`, servertest.Object{"id": fmt.Sprint(s.thing), "body": fmt.Sprint("Comment ", i)}, new(any))
	}
	v := visitGallery(t, s.Server)
	v.signInAs("bob")
	v.open(fmt.Sprintf("/thing:%d/comments", s.thing))
	comments := func(n int) string {
		return fmt.Sprintf(`document.querySelectorAll('.comments > ol > li').length === %d`, n)
	}
	v.await("the first page", comments(20))
	v.hold("thingComments")
	v.click(".more", "Show more")
	v.holds("thingComments", 1)
	v.enter(".comments > form textarea", "First")
	v.click(".comments > form", "Comment")
	v.await("the new comment", comments(21))
	v.release("thingComments")
	v.await("the second page", comments(41))

	v.hold("createComment")
	v.enter(".comments > form textarea", "Second")
	v.click(".comments > form", "Comment")
	v.holds("createComment", 1)
	v.is("the text cannot be changed while it is sent", `document.querySelector('.comments > form textarea').readOnly`)
	v.click(".more", "Show more")
	v.await("the third page", comments(46))
	v.release("createComment")
	v.await("all of them and the new one",
		comments(47)+` && document.querySelector('.comments > ol > li').innerText.includes('Second')`)

	v.hold("createComment")
	for i, n := range []int{2, 3} {
		thread := fmt.Sprintf(".comments > ol > li:nth-child(%d)", n)
		v.click(thread, "Reply")
		v.enter(thread+" textarea", fmt.Sprint("Reply ", i))
		v.click(thread+" .comment-form", "Reply")
		v.holds("createComment", i+1)
	}
	v.release("createComment")
	v.processes("createComment", 4)
	v.is("both replies", `document.querySelectorAll('.replies li').length === 2`)

	// A comment is not sent a second time while it is on its way.
	v.hold("createComment")
	v.enter(".comments > form textarea", "Third")
	v.click(".comments > form", "Comment")
	v.holds("createComment", 1)
	v.click(".tabs", "Details")
	v.click(".tabs", "Comments")
	const form = `(form => form?.querySelector('button').disabled === %t && form.querySelector('textarea').readOnly === %[1]t && form.querySelector('textarea').value === %q)(document.querySelector('.comments > form'))`
	v.await("that it is being sent", fmt.Sprintf(form, true, "Third"))
	v.release("createComment")
	v.await("the sent comment", comments(48)+" && "+fmt.Sprintf(form, false, ""))
}

// TestBrowserGalleryChoiceWhileSaving chooses another license while the previous one is saved.
func TestBrowserGalleryChoiceWhileSaving(t *testing.T) {
	s := newScene(t)
	v := visitGallery(t, s.Server)
	v.signInAs("ada")
	for _, one := range []struct{ path, field, button, save, read, first, last string }{
		{fmt.Sprintf("/thing:%d/edit", s.thing), "#licenseId", ".publish-bar", "updateThing", "editThing", "MIT",
			"CC-BY-4.0"},
		{"/settings", "#defaultLicense", "main form", "updateProfile", "settings", "GPL", "BSD"},
	} {
		v.open(one.path)
		choose := func(license string) {
			v.run("choose "+license,
				fmt.Sprintf(`const list = document.querySelector(%q); list.value = %q; list.dispatchEvent(new Event('input', {bubbles: true})); list.dispatchEvent(new Event('change', {bubbles: true}))`, one.field, license))
		}
		v.hold(one.save)
		v.hold(one.read)
		v.await("the list of licenses", fmt.Sprintf(`document.querySelector(%q)?.length > 5`, one.field))
		choose(one.first)
		v.click(one.button, "Save")
		v.holds(one.save, 1)
		choose(one.last)
		v.release(one.save)
		v.holds(one.read, 1)
		v.release(one.read)
		v.processes(one.read, 1)
		v.is("the latest choice on "+one.path, fmt.Sprintf(`document.querySelector(%q).value === %q`, one.field, one.last))
		v.is("it asks before a reload", asksToReload)
		v.run("forget input", `addEventListener('beforeunload', event => event.stopImmediatePropagation(), true)`)
	}
}

// TestBrowserGalleryToggles likes and collects a thing faster than the requests are sent.
func TestBrowserGalleryToggles(t *testing.T) {
	s := newScene(t)
	for _, name := range []string{"First", "Second"} {
		s.bob.Query(`mutation($name: String!) { createCollection(input: {name: $name}) { collection { id } } }`,
			servertest.Object{"name": name}, new(any))
	}
	liked := func() bool {
		var found struct{ Thing struct{ IsLiked bool } }
		s.bob.Query(`query($id: ID!) { thing(id: $id) { isLiked } }`, servertest.Object{"id": fmt.Sprint(s.thing)}, &found)
		return found.Thing.IsLiked
	}
	v := visitGallery(t, s.Server)
	v.signInAs("bob")
	v.open(fmt.Sprintf("/thing:%d", s.thing))
	pressed := func(want bool) string {
		return fmt.Sprintf(`document.querySelector('.summary .like').ariaPressed === '%t'`, want)
	}
	like := func(want bool) {
		t.Helper()
		v.click(".summary", "Like")
		v.await("the change", pressed(want))
	}
	v.hold("likeThing")
	like(true)
	v.holds("likeThing", 1)
	like(false)
	v.release("likeThing")
	v.processes("likeThing", 1)
	v.processes("unlikeThing", 1)
	if liked() {
		t.Error("the thing is liked, want the last choice of the user")
	}
	v.hold("likeThing")
	v.hold("unlikeThing")
	like(true)
	like(false)
	like(true)
	v.lose("likeThing")
	v.await("what is stored", pressed(false))

	v.click(".summary", "Collect")
	v.await("the collections", `document.querySelectorAll('dialog .collect input').length === 2`)
	v.hold("addToCollection")
	v.run("collect in both", `document.querySelectorAll('dialog .collect input').forEach(e => e.click())`)
	v.holds("addToCollection", 2)
	v.lose("addToCollection")
	v.release("addToCollection")
	v.await("the error", `document.querySelector('dialog .fault')`)
	v.processes("addToCollection", 1)
	v.is("one collection is checked",
		`[...document.querySelectorAll('dialog .collect input')].map(e => e.checked).join() === 'false,true'`)
	collected := func(want bool) string {
		return fmt.Sprintf(`[...document.querySelectorAll('.summary .actions button')].find(e => e.innerText.startsWith('Collect')).innerText === %q`, map[bool]string{false: "Collect", true: "Collected"}[want])
	}
	v.click("dialog", "Close")
	v.await("that the thing is collected", collected(true))
	v.follow("/bob/collections")
	v.run("open the collection",
		`window.opened = setInterval(() => { const found = [...document.querySelectorAll('main .grid .card')].find(e => e.innerText.includes('1 thing')); if (found) { clearInterval(opened); found.querySelector('h3 a').click() } }, 50)`)
	v.click("main .grid", "Remove: Half a donut")
	v.processes("removeFromCollection", 1)
	v.follow(fmt.Sprintf("/thing:%d", s.thing))
	v.await("that the thing is not collected",
		`location.pathname.startsWith('/thing') && document.querySelector('.summary') && `+collected(false))
}

// TestBrowserGalleryQuickMoves moves and removes entries of lists faster than the requests are
// sent.
func TestBrowserGalleryQuickMoves(t *testing.T) {
	s := newScene(t)
	draft := s.ada.Thing("A draft")
	for _, name := range []string{"a.txt", "b.txt", "c.txt", "d.txt"} {
		s.ada.Finalize("THING", draft, s.ada.Upload(name, []byte(name)))
	}
	s.ada.Query(`mutation { createCollection(input: {name: "Parts"}) { collection { id } } }`, nil, new(any))
	for _, name := range []string{"Three", "Two", "One"} {
		id := servertest.PublishedThing(t, s.ada, name)
		s.ada.Query(`mutation($id: ID!) { addToCollection(input: {collectionId: 1, thingId: $id}) { collection { id } } }`,
			servertest.Object{"id": fmt.Sprint(id)}, new(any))
	}
	v := visitGallery(t, s.Server)
	v.signInAs("ada")
	v.open(fmt.Sprintf("/thing:%d/edit", draft))
	v.hold("reorderFiles")
	v.click(".files", "Move a.txt down")
	v.click(".files", "Move d.txt up")
	v.await("a request", `held.reorderFiles.length > 0`)
	v.release("reorderFiles")
	v.processes("reorderFiles", 2)
	var found struct {
		Thing struct{ Files []struct{ Name string } }
	}
	s.ada.Query(`query($id: ID!) { thing(id: $id) { files { name } } }`, servertest.Object{"id": fmt.Sprint(draft)},
		&found)
	if got, want := fmt.Sprint(found.Thing.Files), "[{b.txt} {a.txt} {d.txt} {c.txt}]"; got != want {
		t.Errorf("the files are %s, want %s", got, want)
	}

	things := `[...document.querySelectorAll('.grid h3')].map(e => e.innerText).join()`
	v.open("/collection:1")
	v.await("the things", things+` === 'One,Two,Three'`)
	v.hold("removeFromCollection")
	v.click(".grid", "Remove: One")
	v.click(".grid", "Remove: Three")
	v.await("the rest", things+` === 'Two'`)
	v.lose("removeFromCollection")
	v.release("removeFromCollection")
	v.processes("removeFromCollection", 1)
	v.await("the thing that was not removed", things+` === 'One,Two'`)
	v.await("their number", `document.querySelector('.page-head').innerText.includes('2 things')`)
}

// TestBrowserGalleryMoreAfterBack checks that a list that is shown from the cache loads more when
// its end is scrolled into view.
func TestBrowserGalleryMoreAfterBack(t *testing.T) {
	s := newScene(t)
	for i := range 30 {
		servertest.PublishedThing(t, s.ada, fmt.Sprint("Part ", i))
	}
	s.Fold()
	v := visitGallery(t, s.Server)
	cards := func(n int) string {
		return fmt.Sprintf(`document.querySelectorAll('main .grid > li').length === %d`, n)
	}
	v.open("/explore?sort=name")
	v.await("the first part", cards(24))
	v.follow("/explore?sort=newest")
	v.await("the first part of the other list",
		cards(24)+` && !document.querySelector('main .skeleton') && document.querySelector('.sort select').value === 'NEWEST'`)
	v.run("go back", `history.back()`)
	v.await("the first list", cards(24)+` && document.querySelector('.sort select').value === 'NAME'`)
	// Going back also scrolls, so the page may have to be scrolled again.
	v.await("all things at the end of the page", `(scrollTo(0, document.body.scrollHeight), `+cards(31)+`)`)
}

// TestBrowserGalleryRemovedUpload removes a picture that is about to be uploaded.
func TestBrowserGalleryRemovedUpload(t *testing.T) {
	s := newScene(t)
	v := visitGallery(t, s.Server)
	v.signInAs("ada")
	v.open(fmt.Sprintf("/thing:%d/edit", s.thing))
	v.run("be slow", `
		const read = createImageBitmap;
		window.createImageBitmap = async (file) => { await new Promise(go => window.go = go); return read(file) };
		window.uploads = 0;
		const open = XMLHttpRequest.prototype.open;
		XMLHttpRequest.prototype.open = function (...a) { window.uploads++; return open.apply(this, a) }`)
	path := filepath.Join(t.TempDir(), "picture.png")
	if err := os.WriteFile(path, servertest.Mesh(t, "lib3mf_thumbnail.png"), 0o600); err != nil {
		t.Fatal(err)
	}
	v.choose("main .drop input", path)
	v.await("that it is being read", `window.go`)
	v.click(".uploads", "Remove: picture.png")
	v.run("go on", `window.go()`)
	v.choose("main .drop input", textFile(t, "other.txt"))
	v.await("the other file",
		`[...document.querySelectorAll('.files:not(.uploads) h3')].some(e => e.innerText === 'other.txt')`)
	v.is("only the other file was uploaded", `window.uploads === 1`)
}

// TestBrowserGalleryUnreadCount checks that the header shows the number of unread notifications
// after they were read, also after many other queries.
func TestBrowserGalleryUnreadCount(t *testing.T) {
	s := newScene(t)
	s.bob.Query(`mutation($id: ID!) { likeThing(input: {id: $id}) { thing { id } } }`,
		servertest.Object{"id": fmt.Sprint(s.thing)}, new(any))
	v := visitGallery(t, s.Server)
	v.signInAs("ada")
	v.open("/notifications")
	v.run("do not poll", `Object.defineProperty(document, 'hidden', {value: true})`)
	v.await("the number", `document.querySelector('header .dot')?.innerText === '1'`)
	v.click(".page-head", "Mark all as read")
	v.await("no number", `!document.querySelector('header .dot')`)

	v.run("search often", `
		const send = fetch;
		window.fetch = (url, options) => options.body.includes('"search"') ? Promise.resolve(new Response('{"data": {"search": null}}')) : send(url, options);
		(async () => {
			for (let i = 0; i < 210; i++) {
				const link = document.createElement('a');
				link.href = '/explore?q=' + i;
				document.body.append(link);
				link.click();
				link.remove();
				await new Promise(done => setTimeout(done, 20));
			}
			window.searched = true;
		})()`)
	v.await("the last search", `window.searched`)
	s.bob.Query(`mutation { followUser(input: {username: "ada"}) { user { id } } }`, nil, new(any))
	v.run("return to the tab", `dispatchEvent(new Event('focus'))`)
	v.await("the number", `document.querySelector('header .dot')?.innerText === '1'`)
}

// TestBrowserGalleryQuickTyping types and presses Enter before the results of the text arrive.
func TestBrowserGalleryQuickTyping(t *testing.T) {
	s := newScene(t)
	remix := s.bob.Thing("Two donuts")
	v := visitGallery(t, s.Server)
	v.signInAs("bob")
	v.open("/")
	v.enter(".search input", "don")
	v.await("suggestions", `document.querySelector('.search li')`)
	v.Do(t, "choose one", chromedp.SendKeys(chromedp.CSS(".search input"), kb.ArrowDown))
	v.await("the chosen one", `document.querySelector('.search [aria-selected=true]')`)
	v.hold("suggestions")
	v.Do(t, "type on", chromedp.SendKeys(chromedp.CSS(".search input"), "uts\r"))
	v.await("the search for the text", `location.search === '?q=donuts'`)

	v.open(fmt.Sprintf("/thing:%d/edit", remix))
	v.enter("#ancestorIds", "half")
	v.await("what was found", `document.querySelector('.found-things button')`)
	v.run("type another name and press Enter", `(async () => {
		const field = document.querySelector('#ancestorIds');
		field.value = 'whole';
		field.dispatchEvent(new Event('input', {bubbles: true}));
		for (let i = 0; i < 20; i++) await null; // the page is rendered, but its effects have not run
		field.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', bubbles: true}));
		setTimeout(() => window.typed = true, 300);
	})()`)
	v.await("the result of the key", `window.typed`)
	v.is("nothing is chosen", `!document.querySelector('.chosen-things')`)
}

// TestBrowserGalleryCategoriesFail checks that a search by category can be repeated if the
// categories cannot be loaded.
func TestBrowserGalleryCategoriesFail(t *testing.T) {
	s := newScene(t)
	v := visitGallery(t, s.Server)
	v.open("/explore")
	v.hold("categories")
	v.follow("/explore?category=tools")
	v.holds("categories", 1)
	v.lose("categories")
	v.await("the error", `document.querySelector('main .notice')?.innerText.includes('cannot be reached')`)
	v.holds("categories", 0) // the query is not repeated unless the user asks for it
	v.release("categories")
	v.click("main", "Try again")
	v.await("the result", `document.querySelector('main .card')`)
}

// TestBrowserGalleryFormWithoutCategories saves a thing whose form could not load the categories,
// and checks that it keeps its own.
func TestBrowserGalleryFormWithoutCategories(t *testing.T) {
	s := newScene(t)
	v := visitGallery(t, s.Server)
	v.signInAs("ada")
	v.hold("newThingDefaults")
	v.follow(fmt.Sprintf("/thing:%d/edit", s.thing))
	v.holds("newThingDefaults", 1)
	v.lose("newThingDefaults")
	v.enter("#description", "Both halves")
	v.click(".publish-bar", "Save")
	v.sees("Saved.")
	var found struct {
		Thing struct {
			Description string
			Category    struct{ Slug string }
		}
	}
	s.ada.Query(`query($id: ID!) { thing(id: $id) { description category { slug } } }`,
		servertest.Object{"id": fmt.Sprint(s.thing)}, &found)
	if found.Thing.Description != "Both halves" || found.Thing.Category.Slug != "tools" {
		t.Errorf("got %+v, want the new description and the category tools", found.Thing)
	}
}

// TestBrowserGalleryRefreshes checks that the page to edit a thing shows the result of a change
// although a later request for the files is still in progress.
func TestBrowserGalleryRefreshes(t *testing.T) {
	s := newScene(t)
	draft := s.ada.Thing("A draft")
	s.ada.Finalize("THING", draft, s.ada.Upload("a.txt", []byte("a")))
	v := visitGallery(t, s.Server)
	v.signInAs("ada")
	v.open(fmt.Sprintf("/thing:%d/edit", draft))
	v.hold("thingFiles")
	v.answer(true)
	v.click(".files", "Delete: a.txt")
	v.holds("thingFiles", 1)
	v.choose("main .drop input", textFile(t, "b.txt"))
	v.holds("thingFiles", 2)
	v.run("send the first request", `held.thingFiles.shift()(true)`)
	v.await("that the file is gone", `!document.querySelector('main .files')?.innerText.includes('a.txt')`)
}

// TestBrowserGalleryDecisionInSteps checks that a moderator can repeat a decision on a report of
// which the server has carried out only the first step.
func TestBrowserGalleryDecisionInSteps(t *testing.T) {
	s := newScene(t)
	var made struct {
		CreateMake struct {
			Make struct {
				NodeID string
				Thing  struct{ NodeID string }
			}
		}
	}
	s.ada.Query(`mutation($id: ID!) { createMake(input: {thingId: $id, description: "Worked."}) { make { nodeId thing { nodeId } } } }`, servertest.Object{"id": fmt.Sprint(s.thing)}, &made)
	s.bob.Query(`mutation($node: ID!) { reportContent(input: {nodeId: $node, reason: SPAM}) { report { id } } }`,
		servertest.Object{"node": made.CreateMake.Make.NodeID}, new(any))
	v := visitGallery(t, s.Server)
	v.signInAs("staff")
	v.open("/moderation")
	const about = `document.querySelector('dialog form p')?.innerText`
	v.click(".report", "Suspend user")
	v.await("the name of the user in the dialog", about+` === 'ada'`)
	v.click("dialog", "Cancel")
	v.hold("resolveReport")
	v.click(".report", "Delete")
	v.await("what the decision is about", about+` === 'Half a donut'`)
	v.enter("dialog textarea", "Spam.")
	v.click("dialog", "Delete")
	v.holds("resolveReport", 1)
	v.lose("resolveReport")
	v.await("the error", `document.querySelector('dialog .fault')`)
	v.release("resolveReport")
	v.click("dialog", "Delete")
	v.await("that the report is closed", `!document.querySelector('dialog') && !document.querySelector('.report')`)

	// Another moderator dismisses a report between the two steps.
	var reported struct {
		ReportContent struct{ Report struct{ ID string } }
	}
	s.bob.Query(`mutation($node: ID!) { reportContent(input: {nodeId: $node, reason: SPAM}) { report { id } } }`,
		servertest.Object{"node": made.CreateMake.Make.Thing.NodeID}, &reported)
	v.open("/moderation")
	v.hold("resolveReport")
	v.click(".report", "Take down")
	v.enter("dialog textarea", "Spam.")
	v.click("dialog", "Take down")
	v.holds("resolveReport", 1)
	s.admin.Query(`mutation($id: ID!) { dismissReport(input: {id: $id, reason: "No."}) { report { id } } }`,
		servertest.Object{"id": reported.ReportContent.Report.ID}, new(any))
	v.release("resolveReport")
	v.await("that the report is closed", `!document.querySelector('dialog') && !document.querySelector('.report')`)
}
