//go:build browser

package gallery_test

import (
	"github.com/meshyard/meshyard/test/servertest"

	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/meshyard/meshyard/internal/web/graphiql/graphiqltest"
)

// answer makes the page answer its questions with yes or no, until it is loaded again.
func (v *visitor) answer(yes bool) {
	v.t.Helper()
	v.run("answer questions",
		fmt.Sprintf(`window.questions = []; window.confirm = text => { window.questions.push(text); return %t; }`, yes))
}

// run runs JavaScript statements in the page.
func (v *visitor) run(doing, statements string) {
	v.t.Helper()
	v.Do(v.t, doing, chromedp.Evaluate[chromedp.Void](`(() => { `+statements+` })()`))
}

// asked waits for a number of questions since the last call of answer.
func (v *visitor) asked(what string, questions int) {
	v.t.Helper()
	v.await(fmt.Sprintf("%d questions: %s", questions, what), fmt.Sprintf(`window.questions.length === %d`, questions))
}

// is checks that a JavaScript expression is true.
func (v *visitor) is(what, expression string) {
	v.t.Helper()
	if !graphiqltest.Read[bool](v.t, v.Tab, "check "+what, `Boolean(`+expression+`)`) {
		v.t.Errorf("%s: got %s is false, want true", what, expression)
	}
}

// asksToReload is whether the page asks before it is loaded again.
const asksToReload = `!dispatchEvent(new Event('beforeunload', { cancelable: true }))`

// drag presses the mouse button at one place and releases it at another.
func (v *visitor) drag(fromX, fromY, toX, toY float64) {
	v.t.Helper()
	for _, p := range []input.DispatchMouseEventParams{
		{Type: input.DispatchMouseEventTypeMousePressed, X: fromX, Y: fromY, Button: input.MouseButtonLeft, ClickCount: 1},
		{Type: input.DispatchMouseEventTypeMouseMoved, X: toX, Y: toY, Button: input.MouseButtonLeft},
		{Type: input.DispatchMouseEventTypeMouseReleased, X: toX, Y: toY, Button: input.MouseButtonLeft, ClickCount: 1},
	} {
		graphiqltest.Call(v.t, v.Tab, "move the mouse", input.DispatchMouseEvent, p)
	}
}

// drop drops files or folders on an element.
func (v *visitor) drop(selector string, paths ...string) {
	v.t.Helper()
	at := graphiqltest.Read[struct{ X, Y float64 }](v.t, v.Tab, "find "+selector,
		fmt.Sprintf(`(r => ({ X: r.x + r.width / 2, Y: r.y + 10 }))((e => (e.scrollIntoView({ block: 'center' }), e.getBoundingClientRect()))(document.querySelector(%q)))`, selector))
	for _, kind := range []input.DispatchDragEventType{input.DispatchDragEventTypeDragEnter,
		input.DispatchDragEventTypeDragOver, input.DispatchDragEventTypeDrop} {
		graphiqltest.Call(v.t, v.Tab, "drop", input.DispatchDragEvent, input.DispatchDragEventParams{Type: kind, X: at.X,
			Y: at.Y, Data: &input.DragData{Items: []*input.DragDataItem{}, Files: paths, DragOperationsMask: 1}})
	}
}

// TestBrowserUnsavedInput enters texts in the gallery without saving them, and tries to leave the
// page in each possible way.
func TestBrowserUnsavedInput(t *testing.T) {
	s := newScene(t)
	s.ada.Query(`mutation($id: ID!) { createComment(input: {target: {type: THING, id: $id}, body: "First."}) { comment { id } } }`, servertest.Object{"id": fmt.Sprint(s.thing)}, new(any))
	v := visitGallery(t, s.Server)
	v.signInAs("ada")
	thing := fmt.Sprintf("/thing:%d", s.thing)
	edit := thing + "/edit"

	t.Run("thing", func(t *testing.T) {
		v.open(thing)
		v.click(".summary", "Edit")
		v.await("the form", `document.querySelector('#description')`)
		v.answer(false)
		v.enter("#description", "Half written")
		v.sees("There are unsaved changes.")
		v.click("header", "Explore")
		v.asked("a link", 1)
		v.click(".publish-bar", "View")
		v.asked("the link beside the button to save", 2)
		v.run("go back", `history.back()`)
		v.asked("the back button", 3)
		v.await("the URL of the form", fmt.Sprintf(`location.pathname === %q`, edit))
		v.is("the form", `document.querySelector('#description').value === 'Half written'`)
		v.is("it asks before a reload", asksToReload)

		v.click(".publish-bar", "Save")
		v.sees("Saved.")
		v.is("it does not ask before a reload", `!(`+asksToReload+`)`)
		v.click(".publish-bar", "View")
		v.await("the thing", fmt.Sprintf(`location.pathname === %q && document.querySelector('.summary')`, thing))
		v.is("nothing else was asked", `window.questions.length === 3`)
		v.run("go back", `history.back()`)
		v.await("the form", `document.querySelector('#description')?.value === 'Half written'`)
		v.enter("#description", "Lost")
		v.answer(true)
		v.run("go back", `history.back()`)
		v.await("the thing", fmt.Sprintf(`location.pathname === %q && document.querySelector('.summary')`, thing))
		v.asked("the back button", 1)
		v.is("nothing is lost any more", `!(`+asksToReload+`)`)
	})

	t.Run("uploads", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "part.stl")
		if err := os.WriteFile(path, repeatedSTL(t, 20), 0o600); err != nil {
			t.Fatal(err)
		}
		v.open(edit)
		v.answer(false)
		v.network(networkConditions{Latency: 20, DownloadThroughput: 500_000, UploadThroughput: 5_000})
		v.choose(`main .drop input`, path)
		v.await("that an upload has begun", `document.querySelector('.uploads progress')`)
		v.click("header", "Explore")
		v.asked("a link", 1)
		v.is("the question", `window.questions[0].includes('uploaded')`)
		v.is("it asks before a reload", asksToReload)
		v.network(fast)
		v.await("the file", `[...document.querySelectorAll('.files:not(.uploads) h3')].some(e => e.innerText === 'part.stl') && !document.querySelector('.uploads')`)
		v.is("it does not ask before a reload", `!(`+asksToReload+`)`)
	})

	t.Run("comment", func(t *testing.T) {
		v.open(thing)
		v.answer(false)
		v.click(".tabs", "Comments")
		v.enter(".comment-form textarea", "Half a comment")
		v.click(".comment", "Reply")
		v.enter("li .comment-form textarea", "Half a reply")
		v.click(".tabs", "Files")
		v.await("another tab", `!document.querySelector('.comment-form')`)
		v.is("it asks before a reload", asksToReload)
		dir := v.downloads()
		v.click("main .files", "Download: donut.stl")
		v.receives(filepath.Join(dir, "donut.stl"))
		v.click("header", "Explore")
		v.asked("a link", 1)
		v.click(".tabs", "Comments")
		v.await("the drafts",
			`document.querySelector('.comment-form textarea')?.value === 'Half a comment' && document.querySelector('li .comment-form textarea')?.value === 'Half a reply'`)
		v.click("li .comment-form", "Reply")
		v.await("the reply", `document.querySelector('.replies .comment')?.innerText.includes('Half a reply')`)
		v.click(".comment-form", "Comment")
		v.await("the comment", `document.querySelector('.comment')?.innerText.includes('Half a comment')`)
		v.is("it does not ask before a reload", `!(`+asksToReload+`)`)

		v.click(".comment", "More actions")
		v.click(".menu-items", "Delete")
		v.asked("the deletion", 2)
		v.is("the comment", `document.querySelector('.comment').innerText.includes('Half a comment')`)
		v.answer(true)
		v.click(".comment", "More actions")
		v.click(".menu-items", "Delete")
		v.sees("This comment was deleted.")
	})

	t.Run("dialog", func(t *testing.T) {
		v.open(thing)
		v.answer(false)
		v.click(".summary", "Collect")
		v.enter("dialog input[name=name]", "Parts")
		type point struct{ X, Y float64 }
		at := graphiqltest.Read[point](t, v.Tab, "find the field",
			`(({x, y, width, height}) => ({X: x + width / 2, Y: y + height / 2}))(document.querySelector('dialog input[name=name]').getBoundingClientRect())`)
		v.drag(at.X, at.Y, 5, at.Y)
		v.drag(5, at.Y, 5, at.Y)
		v.is("the dialog with the text", `document.querySelector('dialog input[name=name]')?.value === 'Parts'`)
		v.click("dialog", "Close")
		v.asked("the button to close", 1)
		v.is("it asks before a reload", asksToReload)
		v.run("empty the field", `document.querySelector('dialog input[name=name]').value = ''`)
		v.drag(at.X, at.Y, 5, at.Y)
		v.is("the dialog", `document.querySelector('dialog')`)
		v.drag(5, at.Y, 5, at.Y)
		v.await("that it is closed", `!document.querySelector('dialog')`)
	})
	v.noProblems()
}

// TestBrowserForms sends a form twice, and one whose field is not valid.
func TestBrowserForms(t *testing.T) {
	s := newScene(t)
	v := visitGallery(t, s.Server)
	v.signInAs("ada")
	thing := fmt.Sprintf("/thing:%d", s.thing)

	t.Run("double click", func(t *testing.T) {
		v.open("/ada/collections")
		v.click("main", "New collection")
		v.enter("dialog input[name=name]", "Once")
		v.run("click twice", `const button = document.querySelector('dialog [type=submit]'); button.click(); button.click()`)
		v.await("that it is closed", `!document.querySelector('dialog')`)
		v.open(thing)
		v.click(".summary", "Collect")
		v.enter("dialog input[name=name]", "Once more")
		v.run("click twice", `const button = document.querySelector('dialog [type=submit]'); button.click(); button.click()`)
		v.await("the collection",
			`[...document.querySelectorAll('dialog .check')].some(e => e.innerText.includes('Once more') && e.querySelector('input').checked)`)
		var found struct {
			Me struct{ Collections struct{ TotalCount int } }
		}
		s.ada.Query(`{ me { collections { totalCount } } }`, nil, &found)
		if got := found.Me.Collections.TotalCount; got != 2 {
			t.Errorf("got %d collections, want 2", got)
		}
	})

	t.Run("errors at fields", func(t *testing.T) {
		v.open(thing + "/edit")
		v.run("empty the name", `document.querySelector('#name').value = ''`)
		v.click(".publish-bar", "Save")
		v.await("the error",
			`document.querySelector('#name-fault')?.innerText === 'Fill in this field.' && document.activeElement.id === 'name'`)
	})
	v.noProblems()
}

// TestBrowserFormsSendChanges checks that a form does not undo what was saved elsewhere after its
// page was opened.
func TestBrowserFormsSendChanges(t *testing.T) {
	s := newScene(t)
	v := visitGallery(t, s.Server)
	v.signInAs("ada")
	var c struct {
		CreateCollection struct{ Collection struct{ ID string } }
	}
	s.ada.Query(`mutation { createCollection(input: {name: "Parts"}) { collection { id } } }`, nil, &c)
	id, collection := fmt.Sprint(s.thing), c.CreateCollection.Collection.ID

	v.open("/thing:" + id + "/edit")
	s.ada.Query(`mutation($id: ID!) { updateThing(input: {id: $id, description: "Later.", isWip: true, license: GPL}) { thing { id } } }`, servertest.Object{"id": id}, new(any))
	v.enter("#tags", "vase")
	v.click(".publish-bar", "Save")
	v.sees("Saved.")
	v.open("/settings")
	s.ada.Query(`mutation { updateProfile(input: {bio: "Later.", isNsfwHidden: true}) { user { id } } }`, nil, new(any))
	v.enter("#location", "Ulm")
	v.click("main form", "Save")
	v.sees("Saved.")
	v.open("/collection:" + collection)
	s.ada.Query(`mutation($id: ID!) { updateCollection(input: {id: $id, name: "Later", visibility: PRIVATE}) { collection { id } } }`, servertest.Object{"id": collection}, new(any))
	v.click("main", "Edit")
	v.enter("dialog textarea", "Spare parts.")
	v.click("dialog", "Save")
	v.await("that it is saved", `!document.querySelector('dialog')`)

	type Thing struct {
		Description, License string
		IsWip                bool
		Tags                 []struct{ Name string }
	}
	type Me struct {
		Bio, Location string
		IsNsfwHidden  bool
	}
	type Collection struct{ Name, Description, Visibility string }
	type stored struct {
		Thing      Thing
		Me         Me
		Collection Collection
	}
	var got stored
	s.ada.Query(`query ($id: ID!, $collection: ID!) { thing(id: $id) { description license isWip tags { name } } me { bio location isNsfwHidden } collection(id: $collection) { name description visibility } }`,
		servertest.Object{"id": id, "collection": collection}, &got)
	want := stored{Thing{"Later.", "GPL", true, []struct{ Name string }{{"vase"}}}, Me{"Later.", "Ulm", true},
		Collection{"Later", "Spare parts.", "PRIVATE"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	v.noProblems()
}

// TestBrowserGalleryUnsavedSettings downloads the archive of the account while the profile has
// unsaved input. The page stays, so it must not ask.
func TestBrowserGalleryUnsavedSettings(t *testing.T) {
	s := newScene(t)
	v := visitGallery(t, s.Server)
	v.signInAs("ada")
	v.open("/settings")
	archive := filepath.Join(v.downloads(), "ada.zip")
	v.enter("#location", "Unsaved")
	v.run("notice questions", `addEventListener('beforeunload', () => { window.left = true })`)
	v.click("main", "Download my data")
	v.receives(archive)
	v.is("the page stayed without a question", `!window.left && document.querySelector('#location').value === 'Unsaved'`)
}
