//go:build browser

package gallery_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	cdpfetch "github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/mesh/meshtest"
	"github.com/meshyard/meshyard/internal/web/graphiql/graphiqltest"
	"github.com/meshyard/meshyard/test/servertest"
)

// networkConditions are the parameters of Network.emulateNetworkConditions. Throughputs are in
// bytes per second; -1 does not limit them.
type networkConditions struct {
	Offline            bool    `json:"offline"`
	Latency            float64 `json:"latency"` // in milliseconds
	DownloadThroughput float64 `json:"downloadThroughput"`
	UploadThroughput   float64 `json:"uploadThroughput"`
}

// fast is a network without limits.
var fast = networkConditions{DownloadThroughput: -1, UploadThroughput: -1}

// network sets the network conditions of the browser.
func (v *visitor) network(c networkConditions) {
	v.t.Helper()
	graphiqltest.Call(v.t, v.Tab, "choose the network",
		cdp.Command[networkConditions, cdp.Empty]{Method: "Network.emulateNetworkConditions"}, c)
}

// choose selects files in the file input that the selector matches.
func (v *visitor) choose(selector string, paths ...string) {
	v.t.Helper()
	v.await("the field "+selector, fmt.Sprintf(`document.querySelector(%q)`, selector))
	v.Do(v.t, "choose files", chromedp.SetUploadFiles(chromedp.CSS(selector), paths))
}

// chooseCategory chooses the first category on the page to share a thing.
func (v *visitor) chooseCategory() {
	v.t.Helper()
	v.await("the categories", `document.querySelector('#category optgroup option')`)
	v.Do(v.t, "choose a category", chromedp.Evaluate[chromedp.Void](`{
		const category = document.querySelector('#category');
		category.value = category.querySelector('optgroup option').value;
		category.dispatchEvent(new Event('change', { bubbles: true }));
	}`))
}

// downloads sets the folder in which the browser stores files, and returns it.
func (v *visitor) downloads() string {
	v.t.Helper()
	dir := v.t.TempDir()
	graphiqltest.Call(v.t, v.Tab, "choose the folder for downloads", browser.SetDownloadBehavior,
		browser.SetDownloadBehaviorParams{
			Behavior: browser.SetDownloadBehaviorBehaviorAllow, DownloadPath: dir,
			BrowserContextID: chromedp.FromContext(v.Context).BrowserContextID,
		})
	return dir
}

// receives waits until the browser has downloaded a file.
func (v *visitor) receives(path string) {
	v.t.Helper()
	v.Do(v.t, "wait for "+filepath.Base(path), chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		for {
			if _, err := os.Stat(path); err == nil {
				return nil // the browser renames the file when the download is complete
			}
			if _, err := chromedp.Sleep(50*time.Millisecond)(ctx, target); err != nil {
				return err
			}
		}
	}))
}

// lifeFiles are the five models and two images that a user shares.
var lifeFiles = []string{
	"numpystl_HalfDonut_bin.stl", "3mfsamples_box.3mf", "khronos_BoxInterleaved.glb", "assimp_cube_with_vertexcolors.obj",
	"happly_platonic_shelf_ascii.ply",
	"lib3mf_thumbnail.png", "picture.png",
}

// TestBrowserGallery runs a complete user story in the gallery. A visitor browses, signs up with an
// invitation, shares models, reacts to those of another user and reports one. A moderator decides
// on the report, and the new user deletes the account. On SQLite the network is slow; with
// PostgreSQL, files are in S3.
func TestBrowserGallery(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		v, s := visitScene(t, "sqlite")
		v.network(networkConditions{Latency: 100, DownloadThroughput: 300_000, UploadThroughput: 150_000})
		live(t, v, s)
	})
	t.Run("postgres and S3", func(t *testing.T) {
		address := servertest.FakeS3(t)
		v, s := visitScene(t, "postgres", func(c *config.Settings) { c.BucketURL = address })
		live(t, v, s)
	})
}

func visitScene(t *testing.T, engine string, change ...func(*config.Settings)) (*visitor, scene) {
	t.Helper()
	s := newSceneOn(t, engine, change...)
	return visitGallery(t, s.Server), s
}

func live(t *testing.T, v *visitor, s scene) {
	v.open("/")
	v.click("main", "Half a donut")
	v.sees("Download all")
	v.await("its rendering", `document.querySelector('.stage img')?.naturalWidth > 0`)
	v.click(".strip", "View in 3D")
	v.await("the model in the frame", `document.querySelector('iframe')?.contentDocument?.body?.dataset.phase === 'shown'`)

	v.enter(".search input", "donut\r")
	v.await("the results",
		`location.pathname === '/explore' && document.querySelector('.results-head')?.innerText.includes('1 result')`)
	v.click("main .card", "Half a donut")
	v.click(".tabs", "Files")
	v.sees("donut.stl")

	var invited struct{ CreateInvitation struct{ URL string } }
	s.admin.Query(`mutation { createInvitation(input: {}) { url } }`, nil, &invited)
	v.Do(t, "open the invitation", chromedp.Navigate(invited.CreateInvitation.URL))
	v.enter("#username", "carla")
	v.enter("#password", servertest.Password+"\r")
	v.await("who is signed in",
		`document.querySelector('#app')?.dataset.ready === '' && document.querySelector('header .bell')`)

	shared := share(t, v)
	react(t, v, s)

	// Carla follows a user, so her feed lists what that user publishes.
	second := s.ada.Thing("Another donut")
	s.ada.Finalize("THING", second, s.ada.Upload("donut.stl", servertest.Mesh(t, "numpystl_HalfDonut_bin.stl")))
	s.ada.Publish(second).Want(t, 200)
	v.open("/feed")
	v.sees("Another donut")
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
	v.open("/")
	v.signOut()
	v.signInAs("ada")
	v.open("/notifications")
	v.sees("A moderator took down “Half a donut”.\nReason: A copy.")
	v.open("/")
	s.admin.Query(`mutation ($id: ID!) { restoreThing(input: {id: $id, reason: "It is original."}) { thing { id } } }`,
		servertest.Object{"id": servertest.ID(s.thing)}, new(any))
	v.open("/notifications")
	v.sees("A moderator restored “Half a donut”.\nReason: It is original.")
	v.sees("A moderator took down “Half a donut”.\nReason: A copy.")
	v.open("/")
	v.signOut()

	// Carla ends the session of another browser, and deletes her account.
	s.Browser().SignIn("carla", servertest.Password).Want(t, 303)
	v.signInAs("carla")
	v.open("/settings")
	v.await("all sessions",
		`document.querySelectorAll('.sessions li').length === 2 && document.querySelector('.sessions .badge')`)
	v.click("main", "Sign out everywhere else")
	v.await("that one session is left", `document.querySelectorAll('.sessions li').length === 1`)
	archive := filepath.Join(v.downloads(), "carla.zip")
	v.click("main", "Download my data")
	v.receives(archive)
	if r := servertest.Must(zip.OpenReader(archive))(t); !slices.ContainsFunc(r.File,
		func(f *zip.File) bool { return f.Name == "archive.json" }) {
		t.Error("the archive of the account is not complete")
	}
	v.enter("#confirm", "carla")
	v.click(".danger", "Delete account")
	v.await("that nobody is signed in",
		`location.pathname === '/' && document.querySelector('#app')?.dataset.ready === '' && !document.querySelector('header .bell')`)
	v.noProblems()
	s.Client("").Get("/carla").Want(t, 404)
	for range 600 { // a job deletes what she has shared
		if s.Client("").Get(shared).StatusCode == 404 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("%s is still there", shared)
}

// share shares a thing with all lifeFiles, compares its ZIP archive, and returns the thing's path.
func share(t *testing.T, v *visitor) string {
	meshes := filepath.Join(meshtest.Root(), "testdata", "meshes")
	var paths []string
	for _, name := range lifeFiles {
		if name == "picture.png" { // the same image with another name and other bytes
			content := servertest.Image(t, 1)
			paths = append(paths, filepath.Join(t.TempDir(), name))
			if err := os.WriteFile(paths[len(paths)-1], content, 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		paths = append(paths, filepath.Join(meshes, name))
	}
	v.click("header", "Upload")
	v.choose(`main .drop input`, paths...)
	v.sees("Choose a category to upload the")
	v.chooseCategory()
	v.click("main", "Upload 7 files")
	v.await("the form with all files",
		fmt.Sprintf(`location.pathname.endsWith('/edit') && document.querySelectorAll('.files:not(.uploads) > li').length === %d && !document.querySelector('.uploads')`, len(paths)))
	v.click(".publish-bar", "Publish")
	v.await("that the description is missing",
		`document.querySelector('#description-fault, .thing-form .fault')?.innerText.includes('description')`)
	v.enter("#name", "Simple parts")
	v.enter("#description", "Prints *flat*.")
	v.enter("#tags", "simple, part")
	v.run("choose a license",
		`const list = document.querySelector('#licenseId'); list.value = 'CC-BY-4.0'; list.dispatchEvent(new Event('input', {bubbles: true})); list.dispatchEvent(new Event('change', {bubbles: true}))`)
	v.click(".publish-bar", "Publish")
	v.await("the published thing",
		`/^\/thing:\d+$/.test(location.pathname) && document.querySelector('h1')?.innerText === 'Simple parts' && document.querySelector('.prose em')`)
	v.await("its pictures", `document.querySelectorAll('.thumb img').length >= 2`)

	dir := v.downloads()
	v.click(".summary", "Download all")
	archive := filepath.Join(dir, "Simple parts.zip")
	v.receives(archive)
	compareArchive(t, archive, paths)
	return graphiqltest.Read[string](t, v.Tab, "read the path", `location.pathname`)
}

// compareArchive checks that a ZIP file contains exactly the files and those of the credit.
func compareArchive(t *testing.T, archive string, paths []string) {
	t.Helper()
	z, err := zip.OpenReader(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	content := make(map[string][]byte)
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if content[filepath.Base(f.Name)], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	if len(z.File) != len(paths)+3 {
		t.Errorf("the archive has %d files, want %d and 3 of the credit", len(z.File), len(paths))
	}
	for _, name := range paths {
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := content[filepath.Base(name)]; !bytes.Equal(got, want) {
			t.Errorf("%s: got %d other bytes, want %d", filepath.Base(name), len(got), len(want))
		}
	}
}

// react performs every action that a user can perform on another user's thing.
func react(t *testing.T, v *visitor, s scene) {
	v.open(fmt.Sprintf("/thing:%d", s.thing))
	v.click(".summary", "Like")
	v.await("the like", `document.querySelector('.summary .like')?.ariaPressed === 'true'`)
	v.click(".summary", "Follow")
	v.sees("Following")
	v.click(".summary", "Collect")
	v.enter("dialog input[name=name]", "Sweets\r")
	v.await("the new collection",
		`[...document.querySelectorAll('dialog .check')].some(e => e.innerText.includes('Sweets') && e.querySelector('input').checked)`)
	v.click("dialog", "Close")
	v.sees("Collected")
	v.click(".tabs", "Comments")
	v.enter(".comment-form textarea", "Looks **tasty**.")
	v.click(".comment-form", "Comment")
	v.await("the comment", `document.querySelector('.comment strong')?.innerText === 'tasty'`)
	v.click(".tabs", "Makes")
	v.click("main", "I made this")
	v.choose(`dialog input[type=file]`, filepath.Join(meshtest.Root(), "testdata", "meshes", "lib3mf_thumbnail.png"))
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
		Me struct{ FollowerCount int }
	}
	s.ada.Query(`query($id: ID!) { thing(id: $id) { likeCount commentCount makeCount collectCount makes { nodes { images { id } } } } me { followerCount } }`,
		servertest.Object{"id": fmt.Sprint(s.thing)}, &after)
	if after.Thing.LikeCount != 1 || after.Thing.CommentCount != 1 || after.Thing.MakeCount != 1 ||
		after.Thing.CollectCount != 1 ||
		after.Me.FollowerCount != 1 || len(after.Thing.Makes.Nodes) != 1 || len(after.Thing.Makes.Nodes[0].Images) != 1 {
		t.Errorf("got %+v, want one of each", after)
	}
}

// TestBrowserGalleryUpload restarts the server while a browser with a slow network uploads models,
// and later loses a response. The browser must upload everything without help, and nothing twice.
func TestBrowserGalleryUpload(t *testing.T) {
	t.Parallel() // it waits most of the time
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			s := servertest.Start(t, engine)
			ada := s.User("ada")
			s.Password("ada", servertest.Password)
			v := visitGallery(t, s)
			v.signInAs("ada")
			dir := t.TempDir()
			var paths, names []string
			for i := range 5 {
				names = append(names, fmt.Sprintf("part%d.stl", i+1))
				paths = append(paths, filepath.Join(dir, names[i]))
				if err := os.WriteFile(paths[i], repeatedSTL(t, 20+i), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			v.click("header", "Upload")
			v.await("the page to upload", `document.querySelector('main .drop input')`)
			v.chooseCategory()
			// At this speed, an upload takes longer than the time limit of any step of this test.
			v.network(networkConditions{Latency: 20, DownloadThroughput: 500_000, UploadThroughput: 5_000})
			v.choose(`main .drop input`, paths...)
			v.await("that an upload has begun",
				`[...document.querySelectorAll('.uploads progress')].some(e => e.value > 0 && e.value < 1)`)
			v.is("their number beside the buttons",
				`document.querySelector('.publish-bar').innerText.includes('5 files are being uploaded.')`)
			// The reason is visible until the next attempt, which can be before the restart ends.
			v.run("watch why uploads wait", `new MutationObserver(() => { window.waited ||= document.querySelector('.uploads')?.innerText.includes('The server cannot be reached.') })
				.observe(document.querySelector('main'), {childList: true, subtree: true, characterData: true})`)
			s.Restart()
			v.patiently("why uploads wait", `window.waited`)
			v.network(fast)
			lost := v.loseResponse("finalizeFiles")
			v.patiently("that all files have arrived",
				`document.querySelectorAll('.files:not(.uploads) > li').length === 5 && !document.querySelector('.uploads')`)

			if !lost.Load() {
				t.Error("no response was lost")
			}

			var found struct {
				Me struct {
					Drafts struct {
						Nodes []struct {
							Files []struct{ Name, Sha256 string }
						}
					}
					Usage struct{ PendingUploads int }
				}
			}
			ada.Query(`{ me { drafts { nodes { files { name sha256 } } } usage { pendingUploads } } }`, nil, &found)
			if len(found.Me.Drafts.Nodes) != 1 || found.Me.Usage.PendingUploads != 0 {
				t.Fatalf("got %+v, want one draft and no pending upload", found)
			}
			var got []string
			for _, f := range found.Me.Drafts.Nodes[0].Files {
				got = append(got, f.Name)
			}
			if slices.Sort(got); !slices.Equal(got, names) {
				t.Errorf("the draft has the files %s, want %s", strings.Join(got, ", "), strings.Join(names, ", "))
			}
		})
	}
}

// loseResponse makes the browser lose the response to the first GraphQL request whose body contains
// text. The result is true once that has happened.
func (v *visitor) loseResponse(text string) *atomic.Bool {
	v.t.Helper()
	lost := new(atomic.Bool)
	v.intercept(cdpfetch.RequestStageResponse, func(e *cdpfetch.EventRequestPaused) {
		var body []byte
		for _, part := range e.Request.PostDataEntries {
			body = append(body, part.Bytes...)
		}
		if bytes.Contains(body, []byte(text)) && lost.CompareAndSwap(false, true) {
			_, _ = chromedp.Call(v.Context, cdpfetch.FailRequest, cdpfetch.FailRequestParams{RequestID: e.RequestID,
				ErrorReason: network.ErrorReasonConnectionReset})
		} else {
			_, _ = chromedp.Call(v.Context, cdpfetch.ContinueResponse, cdpfetch.ContinueResponseParams{RequestID: e.RequestID})
		}
	})
	return lost
}

// intercept pauses each GraphQL request of the page at a stage, and calls handle, which must
// continue, fulfill or fail it.
func (v *visitor) intercept(stage cdpfetch.RequestStage, handle func(*cdpfetch.EventRequestPaused)) {
	v.t.Helper()
	paused := make(chan *cdpfetch.EventRequestPaused, 1000)
	err := chromedp.Listen(v.Context, func(event any) {
		if e, ok := event.(*cdpfetch.EventRequestPaused); ok {
			paused <- e
		}
	})
	if err != nil {
		v.t.Fatal(err)
	}
	graphiqltest.Call(v.t, v.Tab, "intercept requests", cdpfetch.Enable,
		cdpfetch.EnableParams{Patterns: []*cdpfetch.RequestPattern{{URLPattern: "*/graphql", RequestStage: stage}}})
	go func() {
		for {
			select {
			case <-v.Context.Done():
				return
			case e := <-paused:
				handle(e)
			}
		}
	}()
}

// patiently waits like await, but as long as the client-side code retries to reach the server.
func (v *visitor) patiently(what, expression string) {
	v.t.Helper()
	for range 900 {
		if graphiqltest.Read[bool](v.t, v.Tab, "look for "+what, `Boolean(`+expression+`)`) {
			return
		}
		time.Sleep(200 * time.Millisecond)
	}
	v.await(what, expression)
}

// repeatedSTL returns a binary STL file that contains the triangles of a real model several times.
func repeatedSTL(t testing.TB, times int) []byte {
	t.Helper()
	donut := servertest.Mesh(t, "numpystl_HalfDonut_bin.stl")
	const header = 84
	count := binary.LittleEndian.Uint32(donut[80:])
	triangles := donut[header : header+50*int(count)]
	whole := binary.LittleEndian.AppendUint32(slices.Clone(donut[:80]), count*uint32(times))
	return append(whole, bytes.Repeat(triangles, times)...)
}
