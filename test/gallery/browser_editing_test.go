//go:build browser

package gallery_test

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/meshyard/meshyard/test/servertest"
)

// TestBrowserGalleryTakedown checks that the creator of a taken-down thing and a moderator see its
// pictures, its model and the reason, and that the edit page does not offer to publish it.
func TestBrowserGalleryTakedown(t *testing.T) {
	v, s := visitScene(t, "sqlite")
	s.admin.Query(`mutation ($id: ID!) { takeDownThing(input: {id: $id, reason: "A weapon."}) { thing { id } } }`,
		servertest.Object{"id": fmt.Sprint(s.thing)}, new(any))
	for _, name := range []string{"ada", "staff"} {
		v.signInAs(name)
		v.open(fmt.Sprintf("/thing:%d", s.thing))
		v.sees("A weapon.")
		v.await("its rendering", `document.querySelector('.stage img')?.naturalWidth > 0`)
		v.click(".strip", "View in 3D")
		v.await("the model in the frame",
			`document.querySelector('iframe')?.contentDocument?.body?.dataset.phase === 'shown'`)
		v.open("/")
		if name == "ada" {
			v.open(fmt.Sprintf("/thing:%d/edit", s.thing))
			v.sees("A weapon.")
			v.sees("until a moderator restores it")
			v.await("that it cannot be published",
				`![...document.querySelectorAll('.publish-bar button')].some(e => e.innerText.includes('Publish') || e.innerText.includes('Save') && !e.disabled)`)
			v.open("/ada/drafts")
			v.await("the badge of its card", `document.querySelector('.card .badge')?.innerText === 'Taken down'`)
			v.open("/")
		}
		v.signOut()
	}
	v.noProblems()
}

// TestBrowserGalleryTextures checks that the page of a thing shows a model with textures, and that
// no policy prevents loading them.
func TestBrowserGalleryTextures(t *testing.T) {
	v, s := visitScene(t, "sqlite")
	thing := s.ada.Thing("Painted")
	file := s.ada.Upload("painted.glb", servertest.TexturedGLB(t))
	s.ada.Finalize("THING", thing, file)
	s.ada.Publish(thing).Want(t, 200)
	servertest.Settled(t, s.ada, file)
	v.open(fmt.Sprintf("/thing:%d", thing))
	v.click(".strip", "View in 3D")
	v.await("the model in the frame", `document.querySelector('iframe')?.contentDocument?.body?.dataset.phase === 'shown'`)
	v.await("its GLB", `document.querySelector('iframe').contentWindow.performance.getEntriesByType('resource').some(e => e.name.endsWith('/model.glb'))`)
	v.noProblems()
}

// TestBrowserGalleryRemix checks that a creator can name the things that a thing is based on by
// name, ID and URL, and can remove them.
func TestBrowserGalleryRemix(t *testing.T) {
	v, s := visitScene(t, "sqlite")
	other := s.ada.Thing("Whole donut")
	s.ada.Finalize("THING", other, s.ada.Upload("donut.stl", servertest.Mesh(t, "numpystl_HalfDonut_bin.stl")))
	s.ada.Publish(other).Want(t, 200)
	remix := s.bob.Thing("Two donuts")
	stored := func(want string) {
		t.Helper()
		var found struct {
			Thing struct {
				Ancestors struct{ Nodes []struct{ Name string } }
				Tags      []struct{ Name string }
			}
		}
		s.bob.Query(`query ($id: ID!) { thing(id: $id) { ancestors { nodes { name } } tags { name } } }`,
			servertest.Object{"id": fmt.Sprint(remix)}, &found)
		if got := fmt.Sprint(found.Thing.Ancestors.Nodes, found.Thing.Tags); got != want {
			t.Errorf("the ancestors and tags are %s, want %s", got, want)
		}
	}
	save := func() {
		t.Helper()
		v.click(".publish-bar", "Save")
		v.await("that it is saved",
			`document.querySelector('#toast')?.innerText.includes('Saved') && !document.querySelector('.publish-bar .quiet')`)
	}
	v.signInAs("bob")
	v.open(fmt.Sprintf("/thing:%d/edit", remix))
	v.enter("#tags", "#sweet, round")
	v.enter("#ancestorIds", "half")
	v.click(".found-things", "Half a donut")
	v.await("the chosen thing", `document.querySelector('.chosen-things')?.innerText.includes('Half a donut')`)
	v.enter("#ancestorIds", fmt.Sprintf("%s/thing:%d/files", s.URL, other))
	v.click(".found-things", "Whole donut")
	save()
	stored("[{Half a donut} {Whole donut}] [{sweet} {round}]")
	v.click(".chosen-things", "Remove: Half a donut")
	save()
	stored("[{Whole donut}] [{sweet} {round}]")
	v.open(fmt.Sprintf("/thing:%d/edit", remix))
	v.click(".chosen-things", "Remove: Whole donut")
	v.enter("#ancestorIds", fmt.Sprint(s.thing))
	v.click(".found-things", "Half a donut")
	save()
	stored("[{Half a donut}] [{sweet} {round}]")
	v.noProblems()
}

// noise returns a JPEG picture that is larger than the server accepts.
func noise(t *testing.T) []byte {
	t.Helper()
	picture := image.NewRGBA(image.Rect(0, 0, 2400, 1600))
	random := rand.New(rand.NewPCG(1, 2)) // any bytes that cannot be compressed
	for i := range picture.Pix {
		picture.Pix[i] = byte(random.Uint32())
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, picture, &jpeg.Options{Quality: 100}); err != nil {
		t.Fatal(err)
	}
	if b.Len() <= 5_000_000 {
		t.Fatalf("the picture has %d bytes, want more than 5 MB", b.Len())
	}
	return b.Bytes()
}

// TestBrowserGalleryMake checks that a make with pictures can be posted and edited. A picture that
// cannot be read is named and left out, one that is too large is made smaller, and a make without
// content is refused.
func TestBrowserGalleryMake(t *testing.T) {
	v, s := visitScene(t, "sqlite")
	dir := t.TempDir()
	write := func(name string, content []byte) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	bad, large, good := write("bad.png", []byte("not a picture")), write("large.jpg", noise(t)),
		write("good.png", servertest.Mesh(t, "lib3mf_thumbnail.png"))
	v.signInAs("bob")
	v.open(fmt.Sprintf("/thing:%d/makes", s.thing))
	v.click("main", "I made this")
	v.sees("more than 5 MB")
	v.click("dialog", "Post")
	v.sees("Add a picture or a description.")
	v.choose(`dialog input[type=file]`, bad, large, good)
	v.sees("bad.png is not a picture that can be read.")
	v.await("the good pictures", `document.querySelectorAll('dialog .files li').length === 2`)
	v.click("dialog", "Post")
	v.await("the make", `!document.querySelector('dialog') && document.querySelector('#panel .card')`)
	v.click("#panel .card", "Half a donut")
	v.await("its pictures", `document.querySelectorAll('.thumb img').length === 2`)

	v.click(".summary", "More actions")
	v.click(".menu-items", "Edit")
	v.await("the pictures of the make", `document.querySelectorAll('dialog .pictures li').length === 2`)
	v.click("dialog", "Remove: good.png")
	v.enter("dialog textarea", "Printed in *red*.")
	v.choose(`dialog input[type=file]`, good, good)
	v.await("the new pictures", `document.querySelectorAll('dialog .files li').length === 2`)
	v.click("dialog", "Save")
	v.await("the changed make",
		`!document.querySelector('dialog') && document.querySelector('.summary .prose em') && document.querySelectorAll('.thumb img').length === 3`)
	var found struct {
		Thing struct {
			Makes struct {
				Nodes []struct {
					Description string
					Files       []struct{ Name string }
				}
			}
		}
	}
	s.ada.Query(`query ($id: ID!) { thing(id: $id) { makes { nodes { description files { name } } } } }`,
		servertest.Object{"id": fmt.Sprint(s.thing)}, &found)
	if got, want := fmt.Sprint(found.Thing.Makes.Nodes),
		"[{Printed in *red*. [{large.jpg} {good.png} {good.png}]}]"; got != want {
		t.Errorf("the makes are %s, want %s", got, want)
	}
	v.noProblems()
}

// TestBrowserGalleryLinks checks that a tab of a thing has a URL, that a comment can be linked, and
// that notifications name the thing and lead to the comment.
func TestBrowserGalleryLinks(t *testing.T) {
	v, s := visitScene(t, "sqlite")
	const comment = `mutation ($id: ID!, $body: String!, $parent: ID) { createComment(input: {target: {type: THING, id: $id}, body: $body, parentId: $parent}) { comment { id } } }`
	var first struct {
		CreateComment struct{ Comment struct{ ID string } }
	}
	s.bob.Query(comment, servertest.Object{"id": fmt.Sprint(s.thing), "body": "The first one."}, &first)
	root := first.CreateComment.Comment.ID
	for i := range 25 { // more than a page
		s.ada.Query(comment, servertest.Object{"id": fmt.Sprint(s.thing), "body": fmt.Sprintf("Comment %d.", i)}, new(any))
	}
	for i := range 5 { // more replies than are shown
		s.bob.Query(comment, servertest.Object{"id": fmt.Sprint(s.thing), "body": fmt.Sprintf("Reply %d.", i),
			"parent": root}, &first)
	}
	reply := first.CreateComment.Comment.ID
	inView := `document.querySelector('.comments li.linked')?.innerText.includes(%q) && document.querySelector('.comments li.linked').getBoundingClientRect().top < innerHeight`

	v.open(fmt.Sprintf("/thing:%d/comments?comment=%s", s.thing, reply))
	v.await("the linked reply", fmt.Sprintf(inView, "Reply 4."))
	v.click(".comments", "Show more replies")
	v.await("all replies once", `document.querySelectorAll('.replies li').length === 5`)
	v.click(".tabs", "Files")
	v.await("the URL of the tab", fmt.Sprintf(`location.pathname === '/thing:%d/files' && location.search === ''`,
		s.thing))
	v.Do(t, "open the profile of the creator",
		chromedp.Evaluate[chromedp.Void](`document.querySelector('.summary .by').click()`))
	v.await("the profile", `location.pathname === '/ada'`)
	v.Do(t, "go back", chromedp.Evaluate[chromedp.Void](`history.back()`))
	v.await("the tab", `document.querySelector('.tabs [aria-selected=true]')?.innerText.startsWith('Files') && document.querySelector('.files')`)
	for _, tab := range []string{"comments", "makes", "remixes"} {
		v.open(fmt.Sprintf("/thing:%d/%s", s.thing, tab))
		v.await("the tab "+tab,
			fmt.Sprintf(`document.querySelector('.tabs [aria-selected=true]')?.innerText.toLowerCase().startsWith(%q)`, tab))
	}

	v.signInAs("ada")
	v.open("/notifications")
	v.click(".notifications", "bob commented on “Half a donut”.")
	v.await("a comment of bob's", `document.querySelector('.comments li.linked')?.innerText.includes('bob')`)
	v.noProblems()
}

// TestBrowserGalleryCollection checks that the owner of a collection can move and remove its
// things.
func TestBrowserGalleryCollection(t *testing.T) {
	v, s := visitScene(t, "sqlite")
	second := s.ada.Thing("Another donut")
	s.ada.Finalize("THING", second, s.ada.Upload("donut.stl", servertest.Mesh(t, "numpystl_HalfDonut_bin.stl")))
	s.ada.Publish(second).Want(t, 200)
	var created struct {
		CreateCollection struct{ Collection struct{ ID string } }
	}
	s.bob.Query(`mutation { createCollection(input: {name: "Sweets"}) { collection { id } } }`, nil, &created)
	id := created.CreateCollection.Collection.ID
	for _, thing := range []int64{s.thing, second} {
		s.bob.Query(`mutation ($id: ID!, $thing: ID!) { addToCollection(input: {collectionId: $id, thingId: $thing}) { collection { id } } }`, servertest.Object{"id": id, "thing": fmt.Sprint(thing)}, new(any))
	}
	order := `[...document.querySelectorAll('.grid h3')].map(e => e.innerText).join()`
	v.signInAs("bob")
	v.open("/collection:" + id)
	v.await("the latest thing first", order+` === 'Another donut,Half a donut'`)
	v.click(".grid", "Move Half a donut forward")
	v.await("the new order", order+` === 'Half a donut,Another donut'`)
	v.open("/collection:" + id)
	v.await("that the order is kept", order+` === 'Half a donut,Another donut'`)
	v.click(".grid", "Remove: Half a donut")
	v.await("that it is removed",
		order+` === 'Another donut' && document.querySelector('.page-head').innerText.includes('1 thing')`)
	v.open("/collection:" + id)
	v.await("that it stays removed", order+` === 'Another donut'`)
	v.noProblems()
}

// TestBrowserGallerySuspension checks that a moderator can suspend a user from the profile, sees
// the reason there, and can end the suspension.
func TestBrowserGallerySuspension(t *testing.T) {
	v, s := visitScene(t, "sqlite")
	suspended := func() bool {
		var found struct {
			User struct{ Suspension *struct{ Reason string } }
		}
		s.admin.Query(`{ user(username: "bob") { suspension { reason } } }`, nil, &found)
		return found.User.Suspension != nil
	}
	v.signInAs("staff")
	v.open("/bob")
	v.click(".profile", "More actions")
	v.click(".menu-items", "Suspend user")
	v.enter("dialog textarea", "Too loud.")
	v.click("dialog", "Suspend user")
	v.await("the suspension", `document.querySelector('.profile .warning')?.innerText.includes('Too loud.')`)
	if !suspended() {
		t.Error("bob is not suspended")
	}
	v.click(".profile", "More actions")
	v.click(".menu-items", "End suspension")
	v.enter("dialog textarea", "Better.")
	v.click("dialog", "End suspension")
	v.await("the end of the suspension",
		`!document.querySelector('dialog') && !document.querySelector('.profile .warning')`)
	if suspended() {
		t.Error("bob is still suspended")
	}
	v.noProblems()
}

// TestBrowserGalleryManyFiles checks that the pages of a thing show more of its files and pictures
// on demand, and that a new file comes after those that are not shown. The previews of the pictures
// are never made, so that the pages poll for them.
func TestBrowserGalleryManyFiles(t *testing.T) {
	t.Parallel() // it waits most of the time
	s := servertest.Start(t, "sqlite")
	v, ada := visitGallery(t, s), s.User("ada")
	s.Password("ada", servertest.Password)
	thing := ada.Thing("Many parts")
	var ids []int64
	for i := range 370 {
		name := fmt.Sprintf("part %d.txt", i)
		content := []byte(name)
		if i%7 == 0 { // 53 pictures
			name, content = fmt.Sprintf("part %d.png", i), servertest.Image(t, uint32(i))
		}
		ids = append(ids, ada.Upload(name, content))
	}
	for batch := range slices.Chunk(ids, 50) {
		ada.Finalize("THING", thing, batch...).Want(t, 200)
	}
	ada.Query(`mutation ($input: ReorderFilesInput!) { reorderFiles(input: $input) { files { id } } }`,
		servertest.Object{"input": servertest.Object{"target": servertest.Object{"type": "THING", "id": thing},
			"fileIds": ids}}, new(any))
	shown := func(list string, want int) {
		t.Helper()
		v.await(fmt.Sprintf("%d of %s", want, list), fmt.Sprintf(`document.querySelectorAll(%q).length === %d`, list, want))
	}
	// stays waits until the page has polled twice. The timer of the first poll was started when the
	// page had fewer files.
	stays := func(list string, want int) {
		t.Helper()
		shown(list, want)
		v.Do(t, "count requests", chromedp.Evaluate[chromedp.Void](`{
			let number = 0;
			const send = fetch;
			fetch = (...request) => send(...request).finally(() => number++);
			polled = () => number >= 2;
		}`))
		v.await("two polls", `polled()`)
		shown(list, want)
	}
	const files, pictures = "main .files > li", "main .pictures > li"
	v.signInAs("ada")
	v.open(fmt.Sprintf("/thing:%d/edit", thing))
	shown(files, 300)
	shown(pictures, 50)

	last := filepath.Join(t.TempDir(), "last.txt")
	if err := os.WriteFile(last, []byte("the last file"), 0o600); err != nil {
		t.Fatal(err)
	}
	v.choose("main .drop input", last)
	v.await("that the file is attached", `!document.querySelector('.uploads')`)
	var found struct {
		Thing struct{ Files []struct{ Name string } }
	}
	ada.Query(`query ($id: ID!) { thing(id: $id) { files(first: 1000) { name } } }`,
		servertest.Object{"id": fmt.Sprint(thing)}, &found)
	if files := found.Thing.Files; len(files) != 371 || files[370].Name != "last.txt" {
		t.Errorf("got %d files, the last of which is %q, want 371 and last.txt", len(files), files[len(files)-1].Name)
	}
	v.click(`section[aria-label="Files"]`, "Show more")
	shown(files, 371)
	v.await("the focus on the first new file",
		`document.querySelectorAll('main .files > li')[300].contains(document.activeElement)`)
	stays(files, 371)
	v.await("no more files", `!document.querySelector('section[aria-label="Files"] .more')`)
	v.click(`section[aria-label="Pictures"]`, "Show more")
	stays(pictures, 53)
	v.await("no more pictures", `!document.querySelector('section[aria-label="Pictures"] .more')`)
	v.answer(true)
	v.click(pictures+":last-child", "Delete: part 364.png")
	shown(pictures, 52)
	shown(files, 370)
	v.enter("#description", "Many")
	v.click(".publish-bar", "Save")
	v.sees("Saved.")
	shown(files, 370)

	v.click(".publish-bar", "View")
	v.click(".tabs", "Files")
	shown(files, 100)
	v.click("#panel", "Show more")
	stays(files, 370)

	const thumbs = "main .strip .thumb"
	shown(thumbs, 50)
	v.click(".strip", "Show more")
	stays(thumbs, 52)
	v.await("the focus on the first new picture",
		`document.querySelectorAll('main .strip .thumb')[50] === document.activeElement`)
	v.await("no more pictures", `!document.querySelector('main .strip .more')`)
	v.open(fmt.Sprintf("/thing:%d", thing))
	shown(thumbs, 50)
	v.click(".strip", "Show picture 50")
	v.click(".stage", "Next")
	shown(thumbs, 52)
	v.await("the picture after the last one", `document.querySelectorAll('main .strip .thumb')[50].ariaPressed === 'true'`)

	// With exactly 50 pictures, there are no more.
	ada.Query(`mutation ($a: ID!, $b: ID!) { a: deleteImage(input: {id: $a}) { deletedId } b: deleteImage(input: {id: $b}) { deletedId } }`,
		servertest.Object{"a": fmt.Sprint(ids[0]), "b": fmt.Sprint(ids[7])}, new(any))
	for path, list := range map[string]string{"": thumbs, "/edit": pictures} {
		v.open(fmt.Sprintf("/thing:%d%s", thing, path))
		shown(list, 50)
		v.is("no more pictures",
			`![...document.querySelectorAll('main .strip .more, section[aria-label="Pictures"] .more')].length`)
	}
	v.noProblems()
}

// TestBrowserGalleryNewFilesAreLast checks that new files come after those to which another program
// has given higher ranks than their number, and that a new picture does not replace the cover.
func TestBrowserGalleryNewFilesAreLast(t *testing.T) {
	s := newScene(t)
	picture := servertest.Mesh(t, "lib3mf_thumbnail.png")
	s.ada.Finalize("THING", s.thing, s.ada.Upload("first.png", picture)).Want(t, 200)
	path := filepath.Join(t.TempDir(), "new.png")
	if err := os.WriteFile(path, append(slices.Clone(picture), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	v := visitGallery(t, s.Server)
	v.signInAs("ada")
	v.open(fmt.Sprintf("/thing:%d/edit", s.thing))
	v.choose("main .drop input", path)
	v.await("the new file at the end",
		`[...document.querySelectorAll('main .files:not(.uploads) h3')].map(e => e.innerText).join() === 'donut.stl,first.png,new.png'`)
	var found struct {
		Thing struct {
			Images []struct{ File struct{ Name string } }
		}
	}
	s.ada.Query(`query($id: ID!) { thing(id: $id) { images(first: 2) { file { name } } } }`,
		servertest.Object{"id": fmt.Sprint(s.thing)}, &found)
	if got, want := fmt.Sprint(found.Thing.Images), "[{{first.png}} {{new.png}}]"; got != want {
		t.Errorf("the first pictures are %s, want %s", got, want)
	}
}

// TestBrowserGalleryCover makes the last picture of a thing its cover.
func TestBrowserGalleryCover(t *testing.T) {
	s := newScene(t)
	thing := s.ada.Thing("A draft")
	picture := servertest.Mesh(t, "lib3mf_thumbnail.png")
	for _, name := range []string{"a.png", "b.png", "c.png"} {
		s.ada.Finalize("THING", thing, s.ada.Upload(name, append(slices.Clone(picture), name...))).Want(t, 200)
	}
	v := visitGallery(t, s.Server)
	v.signInAs("ada")
	v.open(fmt.Sprintf("/thing:%d/edit", thing))
	v.click(".pictures", "Use as cover: c.png")
	v.await("the new cover",
		`document.querySelector('.pictures li:first-child .badge')?.innerText === 'Cover' && document.querySelector('.pictures li:first-child button').ariaLabel === 'Delete: c.png'`)
	var found struct {
		Thing struct {
			DefaultImage struct{ Name string }
			Images       []struct{ Name string }
		}
	}
	s.ada.Query(`query ($id: ID!) { thing(id: $id) { defaultImage { name } images { name } } }`,
		servertest.Object{"id": fmt.Sprint(thing)}, &found)
	if got, want := fmt.Sprint(found.Thing), "{{c.png} [{c.png} {a.png} {b.png}]}"; got != want {
		t.Errorf("the cover and the pictures are %s, want %s", got, want)
	}
}

// TestBrowserGalleryManyPictures reaches all pictures of a make, also after a request has failed.
func TestBrowserGalleryManyPictures(t *testing.T) {
	s := newScene(t)
	v := visitGallery(t, s.Server)
	var created struct {
		CreateMake struct{ Make struct{ ID string } }
	}
	s.bob.Query(`mutation ($id: ID!) { createMake(input: {thingId: $id}) { make { id } } }`,
		servertest.Object{"id": fmt.Sprint(s.thing)}, &created)
	id, err := strconv.ParseInt(created.CreateMake.Make.ID, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	var ids []int64
	for i := range 51 {
		ids = append(ids, s.bob.Upload(fmt.Sprintf("%d.png", i), servertest.Image(t, uint32(i))))
	}
	s.bob.Finalize("MAKE", id, ids...).Want(t, 200)
	const thumbs = `document.querySelectorAll('main .strip .thumb')`
	v.open(fmt.Sprintf("/make:%d", id))
	v.await("50 pictures", thumbs+`.length === 50`)
	v.hold("make")
	v.click(".strip", "Show more")
	v.holds("make", 1)
	v.lose("make")
	v.await("the error", `document.querySelector('.strip [role=alert]') && `+thumbs+`.length === 50`)
	v.release("make")
	v.click(".strip", "Show more")
	v.await("all pictures", thumbs+`.length === 51 && !document.querySelector('main .strip .more')`)
	s.bob.Query(`mutation ($id: ID!) { deleteImage(input: {id: $id}) { deletedId } }`,
		servertest.Object{"id": fmt.Sprint(ids[3])}, new(any))
	v.open(fmt.Sprintf("/make:%d", id))
	v.await("50 pictures", thumbs+`.length === 50`)
	v.is("no more pictures", `!document.querySelector('main .strip .more')`)
	v.click(".strip", "Show picture 1") // otherwise the first one whose preview is made
	v.click(".stage", "Previous")
	v.await("the last picture", thumbs+`[49].ariaPressed === 'true'`)

	// New pictures come after all others, also after those that the page does not show.
	s.bob.Finalize("MAKE", id, s.bob.Upload("51.png", servertest.Image(t, 51))).Want(t, 200)
	v.signInAs("bob")
	v.open(fmt.Sprintf("/make:%d", id))
	v.await("50 of 51 pictures", thumbs+`.length === 50 && document.querySelector('main .strip .more')`)
	v.click(".summary", "More actions")
	v.click(".menu-items", "Edit")
	var paths []string
	for i, name := range []string{"new.png", "newer.png"} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, servertest.Image(t, 60+uint32(i)), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	v.choose("dialog input[type=file]", paths...)
	v.click("dialog", "Save")
	v.await("that it is saved", `!document.querySelector('dialog')`)
	var found struct {
		Make struct{ Files []struct{ Name string } }
	}
	s.bob.Query(`query($id: ID!) { make(id: $id) { files(first: 100) { name } } }`,
		servertest.Object{"id": fmt.Sprint(id)}, &found)
	if got, want := fmt.Sprint(found.Make.Files[51:]), "[{new.png} {newer.png}]"; got != want {
		t.Errorf("the last files are %s, want %s", got, want)
	}
}
