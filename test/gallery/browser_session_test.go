//go:build browser

package gallery_test

import (
	"github.com/meshyard/meshyard/test/servertest"

	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestBrowserSessionEnds ends the session of a user who fills in a form. After signing in again,
// the user saves it.
func TestBrowserSessionEnds(t *testing.T) {
	s := newScene(t)
	v := visitGallery(t, s.Server)
	v.signInAs("ada")
	v.open(fmt.Sprintf("/thing:%d/edit", s.thing))
	v.enter("#description", "Written for an hour")
	s.ada.Query(`mutation { endSessions(input: {}) { endedIds } }`, nil, new(any))
	v.click(".publish-bar", "Save")
	v.await("the message with links",
		`document.querySelector('.session-ended a[target=_blank]') && document.querySelector('.thing-form .fault a[target=_blank]')`)
	v.is("nothing covers the buttons", `!document.querySelector('#toast p')`)
	v.is("the header shows no user", `!document.querySelector('header .bell')`)

	v.is("the links", `[...document.querySelectorAll('.session-ended a, .thing-form .fault a')].every(e => e.pathname === '/login')`)
	v.run("sign in as in another tab",
		`fetch('/login', {method: 'POST', body: new URLSearchParams({username: 'ada', password: '`+servertest.Password+`'})}).then(() => window.signedIn = true)`)
	v.await("that the other tab is signed in", `window.signedIn`)
	v.run("return to the tab", `dispatchEvent(new Event('focus'))`)
	v.await("that the message is gone",
		`!document.querySelector('.session-ended') && document.querySelector('header .bell')`)
	v.is("the text", `document.querySelector('#description').value === 'Written for an hour'`)
	v.click(".publish-bar", "Save")
	v.sees("Saved.")
	v.await("that the message covers no buttons",
		`document.querySelector('#toast p') && document.querySelector('#toast p').getBoundingClientRect().bottom <= document.querySelector('.publish-bar').getBoundingClientRect().top`)
	var found struct{ Thing struct{ Description string } }
	s.ada.Query(`query($id: ID!) { thing(id: $id) { description } }`, servertest.Object{"id": fmt.Sprint(s.thing)}, &found)
	if found.Thing.Description != "Written for an hour" {
		t.Errorf("got the description %q, want the text of the form", found.Thing.Description)
	}

	// An administrator renames the user, who then saves the form again.
	s.admin.Query(`mutation { renameUser(input: {username: "ada", newUsername: "ada2"}) { user { id } } }`, nil, new(any))
	v.enter("#description", "Written for two hours")
	v.click(".publish-bar", "Save")
	v.await("that it is saved", `document.querySelector('#toast')?.innerText.includes('Saved.')`)
	v.run("return to the tab", `dispatchEvent(new Event('focus'))`)
	v.await("the new name",
		`document.querySelector('header .menu-title')?.textContent === 'ada2' && document.querySelector('#description').value === 'Written for two hours'`)
	s.admin.Query(`mutation { renameUser(input: {username: "ada2", newUsername: "ada"}) { user { id } } }`, nil, new(any))

	// While another user is signed in, nothing is written.
	signInElsewhere := func(name string) {
		t.Helper()
		v.run("sign in as "+name+" in another tab",
			`window.elsewhere = ''; fetch('/login', {method: 'POST', body: new URLSearchParams({username: '`+name+`', password: '`+servertest.Password+`'})}).then(() => window.elsewhere = '`+name+`')`)
		v.await("that "+name+" is signed in", `window.elsewhere === '`+name+`'`)
	}
	creator := func() string {
		t.Helper()
		var found struct {
			Thing struct {
				Comments struct {
					Nodes []struct{ Creator struct{ Username string } }
				}
			}
		}
		s.ada.Query(`query($id: ID!) { thing(id: $id) { comments { nodes { creator { username } } } } }`,
			servertest.Object{"id": fmt.Sprint(s.thing)}, &found)
		if nodes := found.Thing.Comments.Nodes; len(nodes) > 0 {
			return nodes[0].Creator.Username
		}
		return ""
	}
	v.open(fmt.Sprintf("/thing:%d/comments", s.thing))
	signInElsewhere("bob")
	v.enter(".comment-form textarea", "Written as ada")
	v.click(".comment-form", "Comment")
	v.await("the message",
		`document.querySelector('.session-ended') && document.querySelector('.comment-form .fault')?.innerText.includes('another user') && !document.querySelector('header .bell')`)
	if got := creator(); got != "" {
		t.Errorf("got a comment of %s, want none", got)
	}
	v.run("return to the tab", `dispatchEvent(new Event('focus'))`)
	v.is("the message still", `document.querySelector('.session-ended')`)
	signInElsewhere("ada")
	v.run("return to the tab", `dispatchEvent(new Event('focus'))`)
	v.await("that the message is gone",
		`!document.querySelector('.session-ended') && document.querySelector('header .bell')`)
	v.click(".comment-form", "Comment")
	v.await("the comment", `document.querySelector('.comment')?.innerText.includes('Written as ada')`)
	if got := creator(); got != "ada" {
		t.Errorf("got a comment of %q, want one of ada", got)
	}
	v.open(fmt.Sprintf("/thing:%d/edit", s.thing))

	file := filepath.Join(t.TempDir(), "later.txt")
	if err := os.WriteFile(file, []byte("later"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.ada.Query(`mutation { endSessions(input: {}) { endedIds } }`, nil, new(any))
	v.is("no question", `!(`+asksToReload+`)`)
	v.choose("main .drop input", file)
	v.await("the failed upload", `document.querySelector('.uploads .fault')`)
	v.is("the question", asksToReload)
	v.click(".uploads", "Remove")
	v.await("that the file is removed", `!document.querySelector('.uploads')`)
	v.is("no question", `!(`+asksToReload+`)`)
}
