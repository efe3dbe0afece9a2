//go:build browser

package server_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/meshyard/meshyard/cmd/meshyard/server/servertest"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/graphiql/graphiqltest"
	"github.com/meshyard/meshyard/internal/mesh/meshtest"
)

// drawing lets Chromium draw in 3D without a graphics card.
var drawing = []chromedp.ExecAllocatorOption{
	chromedp.Flag("use-angle", "swiftshader"), chromedp.Flag("enable-unsafe-swiftshader", true),
}

// visitor uses the gallery in a browser.
type visitor struct {
	*graphiqltest.Tab
	t   testing.TB
	url string
}

func visitGallery(t testing.TB, s *servertest.Server, more ...chromedp.ExecAllocatorOption) *visitor {
	t.Helper()
	v := &visitor{graphiqltest.Open(t, s.URL, append(more, drawing...)...), t, s.URL}
	graphiqltest.Call(t, v.Tab, "watch dialogs", page.Enable, page.EnableParams{})
	return v
}

// open loads a page of the gallery and waits until the program in the browser shows it.
func (v *visitor) open(path string) {
	v.t.Helper()
	v.Do(v.t, "open "+path, chromedp.Navigate(v.url+path))
	v.await("the page "+path, `document.querySelector('#app')?.dataset.ready === ''`)
	v.settled()
}

// settled waits until the page has its data.
func (v *visitor) settled() {
	v.t.Helper()
	v.await("the data", `!document.querySelector('main .skeleton, main [aria-busy="true"]')`)
}

func (v *visitor) await(what, expression string) {
	v.t.Helper()
	v.Await(v.t, "see "+what, expression)
}

// sees waits for a text on the page.
func (v *visitor) sees(text string) {
	v.t.Helper()
	v.await(text, fmt.Sprintf(`document.body.innerText.includes(%q)`, text))
}

// click clicks on the first visible link, button, tab or check box below the selector whose text or
// label begins with a text.
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
	v.Do(v.t, "empty "+selector, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector(%q).value = ''`, selector)), chromedp.SendKeys(chromedp.CSS(selector), text))
}

func (v *visitor) signIn(name string) {
	v.t.Helper()
	v.enter("#username", name)
	v.enter("#password", pass+"\r")
}

// signInAs opens the page to sign in, and then the home page.
func (v *visitor) signInAs(name string) {
	v.t.Helper()
	v.Do(v.t, "open the page to sign in", chromedp.Navigate(v.url+"/login?next=/"))
	v.signIn(name)
	v.await("who is signed in", `document.querySelector('#app')?.dataset.ready === '' && document.querySelector('header .bell')`)
}

// noProblems fails the test if the browser has reported any.
func (v *visitor) noProblems() {
	v.t.Helper()
	for _, problem := range v.Problems() {
		v.t.Error(problem)
	}
}

// scene is a gallery with a published thing of ada's. All users have the password.
type scene struct {
	*servertest.Server
	ada, bob, staff *servertest.Client
	thing           int64
}

func newScene(t testing.TB) scene {
	t.Helper()
	s := servertest.Start(t, "sqlite", func(s *config.Settings) { s.AnonymousRead, s.PreviewWorkers = true, 2 })
	c := scene{Server: s, ada: s.User("ada"), bob: s.User("bob"), staff: s.Staff()}
	c.thing = c.ada.Thing("Half a donut")
	c.ada.Finalize("THING", c.thing, c.ada.Upload("donut.stl", servertest.Mesh(t, "numpystl_HalfDonut_bin.stl")))
	c.ada.Publish(c.thing)
	for _, name := range []string{"ada", "bob", "staff"} {
		s.Password(name, pass)
	}
	rendered(t, c.ada, c.thing)
	return c
}

// rendered waits until the previews of a thing are made or have failed.
func rendered(t testing.TB, owner *servertest.Client, id int64) {
	t.Helper()
	for range 600 {
		var found struct {
			Thing struct {
				Files []struct{ Processing struct{ State string } }
			}
		}
		owner.Query(`query($id: ID!) { thing(id: $id) { files { processing { state } } } }`, object{"id": fmt.Sprint(id)}, &found)
		waiting := 0
		for _, f := range found.Thing.Files {
			if f.Processing.State == "WAITING" || f.Processing.State == "RUNNING" {
				waiting++
			}
		}
		if waiting == 0 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("thing %d has no preview", id)
}

// TestBrowserGallery uses the gallery as people do: a visitor looks around, signs in, shares a
// model, reacts to that of another user and reports it, and a moderator decides.
func TestBrowserGallery(t *testing.T) {
	s := newScene(t)
	v := visitGallery(t, s.Server)
	v.open("/")
	v.click("main", "Half a donut")
	v.sees("Download all")
	v.await("its rendering", `document.querySelector('.stage img')?.naturalWidth > 0`)
	v.click(".strip", "View in 3D")
	v.await("the model in the frame", `document.querySelector('iframe')?.contentDocument?.body?.dataset.phase === 'shown'`)

	v.enter(".search input", "donut\r")
	v.await("the results", `location.pathname === '/explore' && document.querySelector('.results-head')?.innerText.includes('1 result')`)
	v.click("main .card", "Half a donut")
	v.click(".tabs", "Files")
	v.sees("donut.stl")
	v.click("header", "Sign in")
	v.signIn("bob")
	v.await("the thing again", fmt.Sprintf(`location.pathname === '/thing:%d' && document.querySelector('header .bell')`, s.thing))

	// Bob shares a model and a picture.
	v.click("header", "Upload")
	v.await("the place for files", `document.querySelector('main .drop input')`)
	meshes := filepath.Join(meshtest.Root(), "testdata", "meshes")
	v.Do(t, "choose files", chromedp.SetUploadFiles(chromedp.CSS(`main .drop input`), []string{filepath.Join(meshes, "hschendel_simple_bin.stl"), filepath.Join(meshes, "lib3mf_thumbnail.png")}))
	v.await("the form with both files", `location.pathname.endsWith('/edit') && document.querySelectorAll('.files:not(.uploads) > li').length === 2`)
	v.click(".publish-bar", "Publish")
	v.await("that the description is missing", `document.querySelector('#description-fault, .thing-form .fault')?.innerText.includes('description')`)
	v.enter("#name", "A simple part")
	v.enter("#description", "Prints *flat*.")
	v.enter("#tags", "simple, part")
	v.click(".publish-bar", "Publish")
	v.await("the published thing", `/^\/thing:\d+$/.test(location.pathname) && document.querySelector('h1')?.innerText === 'A simple part' && document.querySelector('.prose em')`)
	v.await("both pictures", `document.querySelectorAll('.thumb img').length >= 1`)

	// Bob reacts to what ada made.
	v.open(fmt.Sprintf("/thing:%d", s.thing))
	v.click(".summary", "Like")
	v.await("the like", `document.querySelector('.summary .like')?.ariaPressed === 'true'`)
	v.click(".summary", "Follow")
	v.sees("Following")
	v.click(".summary", "Collect")
	v.enter("dialog input[name=name]", "Sweets\r")
	v.await("the new collection", `[...document.querySelectorAll('dialog .check')].some(e => e.innerText.includes('Sweets') && e.querySelector('input').checked)`)
	v.click("dialog", "Close")
	v.sees("Collected")
	v.click(".tabs", "Comments")
	v.enter(".comment-form textarea", "Looks **tasty**.")
	v.click(".comment-form", "Comment")
	v.await("the comment", `document.querySelector('.comment strong')?.innerText === 'tasty'`)
	v.click(".tabs", "Makes")
	v.click("main", "I made this")
	v.Do(t, "choose a picture", chromedp.SetUploadFiles(chromedp.CSS(`dialog input[type=file]`), []string{filepath.Join(meshes, "lib3mf_thumbnail.png")}))
	v.click("dialog", "Post")
	v.await("the make", `!document.querySelector('dialog') && document.querySelector('#panel .card')`)
	v.click(".summary", "More actions")
	v.click(".menu-items", "Report")
	v.click("dialog", "Violates a copyright")
	v.enter("dialog textarea", "It is mine.")
	v.click("dialog", "Report")
	v.sees("The moderators will look at it.")

	var after struct {
		Thing struct {
			LikeCount, CommentCount, MakeCount, CollectCount int
			Makes                                            struct {
				Nodes []struct{ Images []struct{ ID string } }
			}
		}
		Me struct{ FollowerCount, UnreadNotificationCount int }
	}
	s.ada.Query(`query($id: ID!) { thing(id: $id) { likeCount commentCount makeCount collectCount makes { nodes { images { id } } } } me { followerCount unreadNotificationCount } }`,
		object{"id": fmt.Sprint(s.thing)}, &after)
	if got := fmt.Sprintf("%+v", after); got == "" || after.Thing.LikeCount != 1 || after.Thing.CommentCount != 1 || after.Thing.MakeCount != 1 || after.Thing.CollectCount != 1 ||
		after.Me.FollowerCount != 1 || len(after.Thing.Makes.Nodes) != 1 || len(after.Thing.Makes.Nodes[0].Images) != 1 {
		t.Errorf("got %s, want one of each", got)
	}
	v.signOut()

	// Ada gets notifications, and a moderator takes the thing down.
	v.open("/notifications")
	v.click("main", "Sign in")
	v.signIn("ada")
	v.await("the notifications", `document.querySelectorAll('.notifications .unread').length >= 4`)
	v.click("main", "Mark all as read")
	v.await("that they are read", `!document.querySelector('.notifications .unread')`)
	v.signOut()
	v.signInAs("staff")
	v.open("/moderation")
	v.sees("It is mine.")
	v.click(".report", "Take down")
	v.enter("dialog textarea", "A copy.")
	v.click("dialog", "Take down")
	v.sees("There are no reports.")
	v.noProblems()
}

func (v *visitor) signOut() {
	v.t.Helper()
	v.click("header", "Account menu")
	v.click(".menu-items", "Sign out")
	v.await("that nobody is signed in", `document.querySelector('#app')?.dataset.ready === '' && !document.querySelector('header .bell')`)
}
