package things_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/meshyard/meshyard/test/servertest"
)

// deletionFixture is a catalogue with a thing to delete, and with every kind of object that can be
// attached to it. Texts that must disappear with the thing contain "zeppelin".
type deletionFixture struct {
	s                                  *servertest.Server
	ada, bob, cyd                      *servertest.Client
	thing, ancestor, remix             int64
	stl, png                           int64 // ada's, of the thing
	make, makePicture                  int64 // bob's
	comment, attachment                int64 // bob's, on the thing
	reply                              int64 // cyd's
	makeComment, makeAttachment        int64 // cyd's, on the make
	collection                         int64 // bob's
	bystander, bystanderFile, makeFile int64
}

func newDeletionFixture(t *testing.T, s *servertest.Server) *deletionFixture {
	t.Helper()
	h := &deletionFixture{s: s, ada: s.User("ada"), bob: s.User("bob"), cyd: s.User("cyd")}
	n := 0
	publish := func(c *servertest.Client, name string, tags []string, ancestors ...int64) (thing, file int64) {
		n++
		thing, file = c.Thing(name), c.Upload("a.stl", fmt.Append(nil, "solid ", n))
		c.Finalize("thing", thing, file).Want(t, 200)
		c.Do("PATCH", fmt.Sprintf("/things/%d", thing),
			servertest.Object{"tags": tags, "ancestors": append([]int64{}, ancestors...)}).Want(t, 200)
		c.Publish(thing).Want(t, 200)
		return thing, file
	}
	h.ancestor, _ = publish(h.ada, "Ancestor", []string{"shared"})
	h.bystander, h.bystanderFile = publish(h.ada, "Bystander", []string{"shared"})
	h.thing, h.stl = publish(h.ada, "Zeppelin", []string{"shared"}, h.ancestor)
	h.remix, _ = publish(h.bob, "Remix", []string{"shared"}, h.thing)
	h.png = h.ada.Upload("zeppelin.png", servertest.Image(t, 1))
	h.ada.Finalize("thing", h.thing, h.png).Want(t, 200)
	s.Administrator().Query(`mutation ($id: ID!) { featureThing(input: {id: $id}) { thing { id } } }`,
		servertest.Object{"id": servertest.ID(h.thing)}, new(any))

	id := func(c *servertest.Client, document string, vars servertest.Object) int64 {
		t.Helper()
		r := c.GraphQL(document, vars)
		found := servertest.NewID.FindSubmatch(r.Data)
		if found == nil {
			t.Fatalf("%s %v: %s %+v", document, vars, r.Data, r.Errors)
		}
		return servertest.Atoi(t, string(found[1]))
	}
	attach := func(c *servertest.Client, kind string, to int64, name string, bytes []byte) int64 {
		t.Helper()
		file := c.Upload(name, bytes)
		c.Finalize(kind, to, file).Want(t, 200)
		return file
	}
	const comment = `mutation ($t: TargetInput, $p: ID, $b: String!) { createComment(input: {target: $t, parentId: $p, body: $b}) { comment { newId: id } } }`
	h.comment = id(h.bob, comment, servertest.Object{"t": servertest.Object{"type": "THING", "id": h.thing},
		"b": "What a zeppelin."})
	h.reply = id(h.cyd, comment, servertest.Object{"p": h.comment, "b": "A zeppelin indeed."})
	h.attachment = attach(h.bob, "comment", h.comment, "zeppelin.stl", []byte("solid attachment"))
	h.make = id(h.bob, `mutation ($id: ID!) { createMake(input: {thingId: $id, name: "Blimp", description: "Flies."}) { make { newId: id } } }`, servertest.Object{"id": h.thing})
	h.makePicture = attach(h.bob, "copy", h.make, "blimp.png", servertest.Image(t, 2))
	h.makeFile = attach(h.bob, "copy", h.make, "blimp.stl", []byte("solid blimp"))
	h.makeComment = id(h.cyd, comment, servertest.Object{"t": servertest.Object{"type": "MAKE", "id": h.make},
		"b": "A fine blimp."})
	h.makeAttachment = attach(h.cyd, "comment", h.makeComment, "blimp2.stl", []byte("solid blimp two"))
	h.collection = id(h.bob, `mutation { createCollection(input: {name: "Airships"}) { collection { newId: id } } }`, nil)
	for _, thing := range []int64{h.thing, h.bystander} {
		h.bob.Do("POST", fmt.Sprintf("/collections/%d/thing/%d", h.collection, thing), nil).Want(t, 200)
		h.bob.Do("POST", fmt.Sprintf("/things/%d/likes", thing), nil).Want(t, 200)
		h.cyd.Do("POST", fmt.Sprintf("/things/%d/likes", thing), nil).Want(t, 200)
	}
	h.cyd.Do("POST", fmt.Sprintf("/copies/%d/likes", h.make), nil).Want(t, 200)
	for _, file := range []int64{h.stl, h.png, h.attachment, h.makePicture, h.makePicture, h.bystanderFile} {
		h.bob.Get(fmt.Sprintf("/files/%d/download", file)).Want(t, 302)
		h.cyd.Get(fmt.Sprintf("/files/%d/download", file)).Want(t, 302)
	}
	return h
}

// urls returns all URLs of the content of a file: public, direct, and the signed one that a
// download redirects to.
func (h *deletionFixture) urls(t *testing.T, file int64) []string {
	t.Helper()
	f := servertest.ReadObject(t, h.ada.Get(fmt.Sprintf("/files/%d", file)))
	found := []string{fmt.Sprintf("/download:%d", file), f["public_url"].(string),
		h.ada.Do("HEAD", fmt.Sprintf("/files/%d/download", file), nil).Want(t, 302).Header.Get("Location")}
	if direct, ok := f["direct_url"].(string); ok {
		found = append(found, direct)
	}
	return found
}

func (h *deletionFixture) bytes(t *testing.T, addresses []string, status int) {
	t.Helper()
	for _, address := range addresses {
		if got := h.s.Client("").Get(address).StatusCode; got != status {
			t.Errorf("GET %s: %d, want %d", address, got, status)
		}
	}
}

// absent checks that an object does not exist at a path and a GraphQL field, for its owner and for
// another user.
func (h *deletionFixture) absent(t *testing.T, path, field string, id int64) {
	t.Helper()
	for name, c := range map[string]*servertest.Client{"ada": h.ada, "bob": h.bob, "cyd": h.cyd} {
		if r := c.Get(fmt.Sprintf(path, id)); r.StatusCode != 404 {
			t.Errorf("GET "+path+" by %s: %d, want 404: %s", id, name, r.StatusCode, r.Bytes)
		}
		if r := c.GraphQL(fmt.Sprintf(`{ %s(id: %d) { id } }`, field, id), nil); r.Code() != "NOT_FOUND" {
			t.Errorf("%s(%d) by %s: %s %+v, want NOT_FOUND", field, id, name, r.Data, r.Errors)
		}
	}
}

// lists returns the lists that could contain the thing or the objects that are attached to it, for
// each user.
func (h *deletionFixture) lists() (paths []string) {
	paths = []string{"/newest", "/popular", "/featured", "/search", "/search/zeppelin", "/search/?type=makes",
		"/search/?type=collections", "/search/shared/tag", "/search/ada", "/tags", "/tags/shared/things",
		"/categories/tools/things",
		"/users/me/things", "/users/ada/things", "/users/bob/things", "/users/bob/likes", "/users/bob/favorites",
		"/users/me/likes", "/users/me/downloads", "/users/bob/copies", "/users/bob/collections", "/users/ada/search/zeppelin",
		"/copies", "/comments", "/collections", fmt.Sprintf("/collections/%d/things", h.collection),
		fmt.Sprintf("/things/%d/derivatives", h.ancestor), fmt.Sprintf("/things/%d/ancestors", h.remix),
		fmt.Sprintf("/things/%d", h.remix),
		fmt.Sprintf("/copies/%d/comments", h.make), fmt.Sprintf("/copies/%d/images", h.make),
		fmt.Sprintf("/copies/%d", h.make)}
	return paths
}

const everywhere = `{ me { downloads(first: 100) { nodes { thing { name } file { name } } } downloadedThings { nodes { name } } likedThings { nodes { name } } collections { nodes { things { nodes { name } } } } makes { nodes { thing { name } } } things { nodes { name files { name } } } }
	things(first: 100) { nodes { name ancestors { nodes { name } } remixes { nodes { name } } } } comments(first: 100) { nodes { body files { name } target { ... on Make { name thing { name } } ... on Thing { name } } } } }`

// seen returns all places where a user can see the thing or an object that is attached to it.
func (h *deletionFixture) seen(t *testing.T) (found []string) {
	t.Helper()
	for name, c := range map[string]*servertest.Client{"ada": h.ada, "bob": h.bob, "cyd": h.cyd} {
		for _, path := range h.lists() {
			if text := c.Get(path).Want(t, 200).Bytes; strings.Contains(strings.ToLower(string(text)), "zeppelin") {
				found = append(found, name+" at "+path)
			}
		}
		var all any
		r := c.GraphQL(everywhere, nil)
		servertest.Decode(t, r, &all)
		if strings.Contains(strings.ToLower(string(r.Data)), "zeppelin") {
			found = append(found, name+" by GraphQL")
		}
	}
	return found
}

// collected checks that the next garbage collection removes the given number of contents, and that
// the catalogue is consistent afterwards.
func (h *deletionFixture) collected(t *testing.T, contents int) {
	t.Helper()
	sweep, err := h.s.Store.Maintenance.CollectGarbage(context.Background(), 0, false)
	if err != nil || len(sweep.ContentObjects) != contents || len(sweep.PendingObjects) != 0 {
		t.Errorf("collected %+v (%v), want %d contents", sweep, err, contents)
	}
	servertest.SoundCatalogue(t, h.s)
	soundRows(t, h.s)
	h.s.Fold()
	servertest.SoundCounts(t, h.s)
}

// remains checks that bob's make exists without its thing, and still has its images, its comments
// and their counts.
func (h *deletionFixture) remains(t *testing.T) {
	t.Helper()
	var got struct {
		Make struct {
			Name      string
			Thing     *struct{ ID string }
			Image     struct{ Name string }
			Files     []struct{ Name string }
			LikeCount int
			Comments  struct {
				Nodes []struct {
					Body  string
					Files []struct{ Name string }
				}
			}
		}
	}
	const want = "Blimp <nil> {blimp.png} [{blimp.png} {blimp.stl}] 1 {[{A fine blimp. [{blimp2.stl}]}]}"
	for _, c := range []*servertest.Client{h.ada, h.bob, h.cyd} {
		c.Query(`query ($id: ID!) { make(id: $id) { name thing { id } image { name } files { name } likeCount comments { nodes { body files { name } } } } }`, servertest.Object{"id": h.make}, &got)
		m := got.Make
		if s := fmt.Sprint(m.Name, " ", m.Thing, " ", m.Image, " ", m.Files, " ", m.LikeCount, " ", m.Comments); s != want {
			t.Errorf("the make is %s, want %s", s, want)
		}
		if o := servertest.ReadObject(t, c.Get(fmt.Sprintf("/copies/%d", h.make)).
			Want(t, 200)); fmt.Sprint(o["thing"]) != "map[]" {
			t.Errorf("GET /copies/%d: thing %v, want an empty object", h.make, o["thing"])
		}
	}
	// The make can be used as before.
	h.cyd.Do("POST", fmt.Sprintf("/copies/%d/comments", h.make), servertest.Object{"body": "Still flies."}).Want(t, 200)
	h.ada.Do("POST", fmt.Sprintf("/copies/%d/likes", h.make), nil).Want(t, 200)
	more := h.bob.Upload("more.png", servertest.Image(t, 3))
	h.bob.Finalize("copy", h.make, more).Want(t, 200)
	h.s.Client("").Get(fmt.Sprintf("/download:%d", more)).Want(t, 200)
}

// TestDeletedThingIsGone checks that a deleted thing and its own objects disappear from every path,
// list, count and history, with their content. Makes of other users stay.
func TestDeletedThingIsGone(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		h := newDeletionFixture(t, s)
		if found := h.seen(t); len(found) < 45 {
			t.Errorf("before: the thing appears in only %d places, too few for the test: %q", len(found), found)
		}
		own := [][]string{h.urls(t, h.stl), h.urls(t, h.png), h.urls(t, h.attachment)}
		others := [][]string{h.urls(t, h.makePicture), h.urls(t, h.makeFile), h.urls(t, h.makeAttachment)}
		for _, addresses := range append(own, others...) {
			h.bytes(t, addresses, 200)
		}
		h.bob.Do("DELETE", fmt.Sprintf("/things/%d", h.thing), nil).Want(t, 403)
		h.ada.Do("DELETE", fmt.Sprintf("/things/%d", h.thing), nil).Want(t, 200)
		h.ada.Do("DELETE", fmt.Sprintf("/things/%d", h.thing), nil).Want(t, 404)

		for _, below := range []string{"", "/files", "/images", "/likes", "/tags", "/categories", "/ancestors",
			"/derivatives", "/copies", "/comments", "/root-comments", "/threaded-comments"} {
			h.absent(t, "/things/%d"+below, "thing", h.thing)
		}
		for _, file := range []int64{h.stl, h.png, h.attachment} {
			h.absent(t, "/files/%d", "file", file)
			h.bob.Get(fmt.Sprintf("/files/%d/download", file)).Want(t, 404)
		}
		for _, comment := range []int64{h.comment, h.reply} {
			h.absent(t, "/comments/%d", "comment", comment)
			h.absent(t, "/comments/%d/replies", "comment", comment)
		}
		for _, change := range []string{"/things/%d/likes", "/things/%d/comments", "/things/%d/copies",
			fmt.Sprint("/collections/", h.collection, "/thing/%d"), "/things/%d/publish", "/things/%d/files"} {
			h.bob.Do("POST", fmt.Sprintf(change, h.thing), servertest.Object{"body": "Zeppelin?", "filename": "zeppelin.stl"}).
				Want(t, 404)
		}
		for _, addresses := range own {
			h.bytes(t, addresses, 404)
		}
		for _, addresses := range others {
			h.bytes(t, addresses, 200)
		}
		if found := h.seen(t); len(found) > 0 {
			t.Errorf("still visible after the deletion: %q", found)
		}
		h.collected(t, 3)
		counts := struct {
			Ada, Bob, Cyd struct{ ThingCount, LikeCount, MakeCount int }
			Ancestor      struct{ RemixCount int }
			Remix         struct{ Ancestors struct{ TotalCount int } }
			Collection    struct{ ThingCount int }
			Tag           struct{ ThingCount int }
			Category      struct{ ThingCount int }
			Me            struct{ Downloads, DownloadedThings struct{ TotalCount int } }
		}{}
		h.bob.Query(`query ($a: ID!, $r: ID!, $c: ID!) { ada: user(username: "ada") { ...U } bob: user(username: "bob") { ...U } cyd: user(username: "cyd") { ...U } ancestor: thing(id: $a) { remixCount }
			remix: thing(id: $r) { ancestors { totalCount } } collection(id: $c) { thingCount } tag(name: "shared") { thingCount } category(slug: "tools") { thingCount }
			me { downloads { totalCount } downloadedThings { totalCount } } } fragment U on User { thingCount likeCount makeCount }`, servertest.Object{"a": h.ancestor, "r": h.remix, "c": h.collection}, &counts)
		if got, want := fmt.Sprint(counts), "{{2 0 0} {1 1 1} {0 1 0} {0} {{0}} {1} {3} {3} {{1} {1}}}"; got != want {
			t.Errorf("counts %s, want %s", got, want)
		}
		h.remains(t)
		h.collected(t, 0)
	})
}

// TestDownloadOfWhatOutlivedItsThing checks that files that remain after their thing is deleted can
// be downloaded. A tracked download of them adds nothing to the history.
func TestDownloadOfWhatOutlivedItsThing(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		h := newDeletionFixture(t, s)
		h.ada.Do("DELETE", fmt.Sprintf("/things/%d", h.thing), nil).Want(t, 200)
		for _, file := range []int64{h.makePicture, h.makeAttachment} {
			if r := h.cyd.Get(fmt.Sprintf("/files/%d/download", file)); r.StatusCode != 302 {
				t.Errorf("GET /files/%d/download: %d, want 302: %s", file, r.StatusCode, r.Bytes)
			} else {
				h.bytes(t, []string{r.Header.Get("Location")}, 200)
			}
			r := h.cyd.GraphQL(`mutation ($id: ID!) { recordDownload(input: {fileId: $id}) { url expiresAt download { createdAt } } }`, servertest.Object{"id": file})
			if data := string(r.Data); r.Code() != "" || !strings.Contains(data, `"download":null`) {
				t.Errorf("recordDownload of file %d: %s %+v, want an address and no download", file, data, r.Errors)
			}
			if r := h.cyd.Do(http.MethodHead, fmt.Sprintf("/files/%d/download", file), nil); r.StatusCode != 302 {
				t.Errorf("HEAD /files/%d/download: %d, want 302", file, r.StatusCode)
			}
		}
	})
}

// TestDeletedPartIsGone checks that a deleted make, comment, file or collection disappears with its
// own objects and nothing else.
func TestDeletedPartIsGone(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		h := newDeletionFixture(t, s)
		addresses := func(files ...int64) (all []string) {
			for _, file := range files {
				all = append(all, h.urls(t, file)...)
			}
			return all
		}

		// Delete a file.
		own := addresses(h.stl)
		h.bob.Do("DELETE", fmt.Sprintf("/things/%d/files/%d", h.thing, h.stl), nil).Want(t, 403)
		// A file of another thing is not found.
		h.ada.Do("DELETE", fmt.Sprintf("/things/%d/files/%d", h.bystander, h.stl), nil).Want(t, 404)
		h.ada.Do("DELETE", fmt.Sprintf("/things/%d/files/%d", h.thing, h.stl), nil).Want(t, 200)
		h.ada.Do("DELETE", fmt.Sprintf("/things/%d/files/%d", h.thing, h.stl), nil).Want(t, 404)
		h.absent(t, "/files/%d", "file", h.stl)
		h.bytes(t, own, 404)
		var after struct {
			Thing struct {
				DownloadCount, FileCount int
				Files                    []struct{ Name string }
			}
			Me struct {
				Downloads struct {
					Nodes []struct {
						Thing struct{ Name string }
						File  *struct{ Name string }
					}
				}
			}
		}
		h.bob.Query(`query ($id: ID!) { thing(id: $id) { downloadCount fileCount files { name } } me { downloads { nodes { thing { name } file { name } } } } }`, servertest.Object{"id": h.thing}, &after)
		history := after.Me.Downloads.Nodes
		if after.Thing.DownloadCount != 10 || after.Thing.FileCount != 1 ||
			fmt.Sprint(after.Thing.Files) != "[{zeppelin.png}]" || len(history) != 6 || history[5].File != nil ||
			history[5].Thing.Name != "Zeppelin" {
			t.Errorf("with a file deleted: %+v, want 10 downloads, the picture, and a history of 6 whose first has no file",
				after)
		}
		h.collected(t, 1)

		// Delete a comment: a placeholder remains for the replies to it.
		own = addresses(h.attachment)
		h.cyd.Do("DELETE", fmt.Sprintf("/comments/%d", h.comment), nil).Want(t, 403)
		for range 2 {
			h.bob.Do("DELETE", fmt.Sprintf("/comments/%d", h.comment), nil).Want(t, 200)
		}
		h.absent(t, "/files/%d", "file", h.attachment)
		h.bytes(t, own, 404)
		var thread struct {
			Thing struct {
				CommentCount, RootCommentCount int
				Comments                       struct {
					Nodes []struct {
						ID, Body, BodyHTML string
						IsDeleted          bool
						ReplyCount         int
						Files              []struct{ ID string }
						Parent             *struct{ ID string }
					}
				}
			}
			Comments struct{ Nodes []struct{ ID string } }
		}
		h.cyd.Query(`query ($id: ID!) { thing(id: $id) { commentCount rootCommentCount comments { nodes { id body bodyHtml isDeleted replyCount files { id } parent { id } } } } comments { nodes { id } } }`, servertest.Object{"id": h.thing}, &thread)
		if got, want := fmt.Sprint(thread),
			fmt.Sprintf("{{1 0 {[{%d A zeppelin indeed. <p>A zeppelin indeed.</p>\n false 0 [] %p} {%d   true 1 [] <nil>}]}} {[{%d} {%d}]}}",
				h.reply, thread.Thing.Comments.Nodes[0].Parent, h.comment, h.makeComment, h.reply); got != want {
			t.Errorf("with a comment deleted: %s, want %s", got, want)
		}
		h.bob.Do("PATCH", fmt.Sprintf("/comments/%d", h.comment), servertest.Object{"body": "Back."}).Want(t, 400)
		h.bob.Do("POST", fmt.Sprintf("/comments/%d/reply", h.comment), servertest.Object{"body": "Back."}).Want(t, 400)
		h.bob.Finalize("comment", h.comment, h.bob.Upload("back.stl", []byte("solid blimp"))).Want(t, 404)
		h.collected(t, 1)

		// Delete a collection: the things stay.
		h.ada.Do("DELETE", fmt.Sprintf("/collections/%d", h.collection), nil).Want(t, 403)
		h.bob.Do("DELETE", fmt.Sprintf("/collections/%d", h.collection), nil).Want(t, 200)
		h.absent(t, "/collections/%d", "collection", h.collection)
		h.absent(t, "/collections/%d/things", "collection", h.collection)
		var kept struct {
			Thing struct {
				CollectCount int
				IsCollected  bool
			}
			Me struct {
				CollectionCount int
				Collections     struct{ TotalCount int }
			}
		}
		h.bob.Query(`query ($id: ID!) { thing(id: $id) { collectCount isCollected } me { collectionCount collections { totalCount } } }`, servertest.Object{"id": h.thing}, &kept)
		if fmt.Sprint(kept) != "{{0 false} {0 {0}}}" {
			t.Errorf("with the collection deleted: %+v, want nothing of it", kept)
		}
		h.collected(t, 0)

		// Delete a make, with the objects that are attached to it.
		own = addresses(h.makePicture, h.makeFile, h.makeAttachment)
		h.ada.Do("DELETE", fmt.Sprintf("/copies/%d", h.make), nil).Want(t, 403)
		h.bob.Do("DELETE", fmt.Sprintf("/copies/%d", h.make), nil).Want(t, 200)
		h.bob.Do("DELETE", fmt.Sprintf("/copies/%d", h.make), nil).Want(t, 404)
		for _, below := range []string{"", "/images", "/likes", "/comments"} {
			h.absent(t, "/copies/%d"+below, "make", h.make)
		}
		h.absent(t, "/comments/%d", "comment", h.makeComment)
		for _, file := range []int64{h.makePicture, h.makeFile, h.makeAttachment} {
			h.absent(t, "/files/%d", "file", file)
		}
		h.bytes(t, own, 404)
		for _, path := range []string{"/copies", "/comments", "/users/bob/copies", fmt.Sprintf("/things/%d/copies", h.thing),
			"/search/?type=makes"} {
			if text := h.cyd.Get(path).Want(t, 200).Bytes; strings.Contains(strings.ToLower(string(text)), "blimp") {
				t.Errorf("GET %s shows the make: %s", path, text)
			}
		}
		// The make had three contents. A pending upload shares its bytes with one of the other files.
		h.collected(t, 3)
		if o := servertest.ReadObject(t, h.cyd.Get(fmt.Sprintf("/things/%d", h.thing))); o["make_count"] != 0.0 ||
			o["name"] != "Zeppelin" {
			t.Errorf("the thing is %v", o)
		}
	})
}

// TestTagsAreThoseInUse checks that a tag exists only while a published thing has it.
func TestTagsAreThoseInUse(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		w := servertest.NewWorld(t, s)
		tag := func(thing int64, tags ...string) {
			w.Ada.Do("PATCH", fmt.Sprintf("/things/%d", thing), servertest.Object{"tags": tags}).Want(t, 200)
			s.Fold()
		}
		check := func(when, want string) {
			t.Helper()
			var got struct {
				Tags struct{ Nodes []struct{ Slug string } }
			}
			w.Bob.Query(`{ tags { nodes { slug } } }`, nil, &got)
			if fmt.Sprint(got.Tags.Nodes) != want {
				t.Errorf("%s: tags %v, want %s", when, got.Tags.Nodes, want)
			}
		}
		tag(w.Thing, "Seen")
		check("of a published thing", "[{seen}]")
		tag(w.Draft, "Secret")
		check("of a draft of another", "[{seen}]")
		tag(w.Thing, "Later")
		check("filed under another", "[{later}]")
		w.Ada.Do("DELETE", fmt.Sprintf("/things/%d", w.Thing), nil).Want(t, 200)
		s.Fold()
		check("with the thing deleted", "[]")
	})
}

// TestOperationsDuringDeletion checks that operations on a thing, its makes and its comments that
// run concurrently with its deletion cause no internal errors, and leave no objects behind.
func TestOperationsDuringDeletion(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		ada, bob, cyd := s.User("ada"), s.User("bob"), s.User("cyd")
		id := func(r *servertest.Result) string {
			t.Helper()
			found := servertest.NewID.FindSubmatch(r.Data)
			if found == nil {
				t.Fatalf("%s %+v", r.Data, r.Errors)
			}
			return string(found[1])
		}
		collection := id(cyd.GraphQL(`mutation { createCollection(input: {name: "Best"}) { collection { newId: id } } }`,
			nil))
		remix := ada.Thing("Remix")
		r := rand.New(rand.NewPCG(5, 5))
		for round := range 8 {
			thing := ada.Thing("Short-lived")
			file := ada.Upload("a.stl", fmt.Append(nil, "solid ", round))
			ada.Finalize("thing", thing, file).Want(t, 200)
			ada.Publish(thing).Want(t, 200)
			vars := servertest.Object{"t": servertest.Object{"type": "THING", "id": thing}, "id": thing, "c": collection,
				"f": file, "r": remix}
			comment := id(bob.GraphQL(
				`mutation ($t: TargetInput!) { createComment(input: {target: $t, body: "Nice."}) { comment { newId: id } } }`,
				vars))
			made := id(bob.GraphQL(`mutation ($id: ID!) { createMake(input: {thingId: $id}) { make { newId: id } } }`, vars))
			onMake := id(cyd.GraphQL(
				`mutation ($m: ID!) { createComment(input: {target: {type: MAKE, id: $m}, body: "Nice."}) { comment { newId: id } } }`, servertest.Object{"m": made}))
			maps.Copy(vars, map[string]any{"m": made, "p": comment, "q": onMake})
			uploads := make([]int64, 4)
			for i, c := range []*servertest.Client{ada, bob, bob, cyd} {
				uploads[i] = c.Upload("b.stl", fmt.Append(nil, "solid ", round, " ", i))
			}
			delete := `mutation ($id: ID!) { deleteThing(input: {id: $id}) { deletedId } }`
			who := ada
			switch round % 4 {
			case 1:
				delete, who = `mutation ($m: ID!) { deleteMake(input: {id: $m}) { deletedId } }`, bob
			case 2:
				delete, who = `mutation ($p: ID!) { deleteComment(input: {id: $p}) { comment { id isDeleted } } }`, bob
			}
			graph := func(c *servertest.Client, document string) func() {
				return func() {
					if r := c.GraphQL(document, vars); r.Code() == "INTERNAL" {
						t.Errorf("round %d: %.80s: %+v", round, document, r.Errors)
					}
				}
			}
			finalize := func(c *servertest.Client, kind, to string, upload int64) func() {
				return func() {
					if r := c.Finalize(kind, servertest.Atoi(t, to), upload); r.StatusCode >= 500 {
						t.Errorf("round %d: finalize onto a %s: %d", round, kind, r.StatusCode)
					}
				}
			}
			acts := []func(){
				graph(who, delete), graph(who, delete),
				finalize(ada, "thing", servertest.ID(thing), uploads[0]), finalize(bob, "copy", made, uploads[1]),
				finalize(bob, "comment", comment, uploads[2]), finalize(cyd, "comment", onMake, uploads[3]),
				graph(bob, `mutation ($id: ID!) { likeThing(input: {id: $id}) { thing { likeCount } } }`),
				graph(cyd, `mutation ($m: ID!) { likeMake(input: {id: $m}) { make { id } } } } }`),
				graph(cyd, `mutation ($t: TargetInput!) { createComment(input: {target: $t, body: "So it is."}) { comment { target { __typename } replyCount } } }`),
				graph(cyd, `mutation ($p: ID!) { createComment(input: {parentId: $p, body: "So it is."}) { comment { parent { body } target { ... on Thing { name } } } } }`),
				graph(bob, `mutation ($q: ID!) { createComment(input: {parentId: $q, body: "So it is."}) { comment { target { ... on Make { name } } } } }`),
				graph(cyd, `mutation ($c: ID!, $id: ID!) { addToCollection(input: {collectionId: $c, thingId: $id}) { collection { thingCount things { nodes { name } } } } }`),
				graph(bob, `mutation ($f: ID!) { recordDownload(input: {fileId: $f}) { download { thing { name } file { name } } } }`),
				graph(cyd, `mutation ($id: ID!) { createMake(input: {thingId: $id, pictureName: "a.png"}) { make { name thing { name } } upload { fileId } } }`),
				graph(ada, `mutation ($r: ID!, $id: ID!) { updateThing(input: {id: $r, ancestorIds: [$id]}) { thing { ancestors { nodes { name } } } } }`),
				graph(ada, `mutation ($f: ID!) { deleteFile(input: {id: $f}) { deletedId } }`),
				s.Fold,
			}
			r.Shuffle(len(acts), func(i, j int) { acts[i], acts[j] = acts[j], acts[i] })
			var next sync.Mutex
			servertest.Together(8, func(int) int {
				for {
					next.Lock()
					if len(acts) == 0 {
						next.Unlock()
						return 0
					}
					act := acts[0]
					acts = acts[1:]
					next.Unlock()
					act()
				}
			})
		}
		if _, err := s.Store.Maintenance.CollectGarbage(context.Background(), 0, false); err != nil {
			t.Error(err)
		}
		servertest.SoundCatalogue(t, s)
		soundRows(t, s)
		s.Fold()
		servertest.SoundCounts(t, s)
	})
}

// TestReadListsDuringDeletion checks that reading lists while their entries are deleted returns the
// existing entries and causes no internal errors.
func TestReadListsDuringDeletion(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		stl := servertest.Mesh(t, "hschendel_simple_bin.stl")
		end := time.Now().Add(3 * time.Second)
		looks, failed := make([]int, 8), sync.Map{}
		servertest.Together(8, func(i int) int {
			for n := 0; time.Now().Before(end); n++ {
				if i < 2 {
					thing := ada.Thing("Short-lived")
					file := ada.Upload("a.stl", stl)
					ada.Finalize("thing", thing, file)
					ada.Publish(thing)
					vars := servertest.Object{"id": thing, "t": servertest.Object{"type": "THING", "id": thing}}
					bob.GraphQL(`mutation ($id: ID!, $t: TargetInput!) { likeThing(input: {id: $id}) { thing { id } } createComment(input: {target: $t, body: "Nice."}) { comment { id } } createMake(input: {thingId: $id}) { make { id } } }`, vars)
					bob.Get(fmt.Sprintf("/files/%d/download", file))
					ada.Do("DELETE", fmt.Sprintf("/things/%d", thing), nil).Want(t, 200)
					continue
				}
				looks[i]++
				if i%2 == 0 {
					for _, document := range []string{
						`{ comments { nodes { body creator { username } target { ... on Thing { name } ... on Make { name thing { name } } } } } }`,
						`{ things { nodes { name creator { username } files { name target { __typename } } comments(first: 20) { nodes { body } } makes { nodes { name } } likers { nodes { username } } } } }`,
						`{ me { downloads { nodes { thing { name } file { name } } } downloadedThings { nodes { name } } likedThings { nodes { name } } } search { nodes { ... on Thing { name } } } }`,
					} {
						if r := bob.GraphQL(document, nil); r.Code() != "" {
							failed.LoadOrStore(document, fmt.Sprintf("%+v", r.Errors[0]))
						}
					}
					continue
				}
				for _, path := range []string{"/newest", "/popular", "/comments", "/users/ada/things", "/users/me/downloads",
					"/users/me/likes", "/copies", "/search/short"} {
					if r := bob.Get(path); r.StatusCode != 200 {
						failed.LoadOrStore(path, fmt.Sprintf("%d %s", r.StatusCode, r.Bytes))
					}
				}
			}
			return 0
		})
		failed.Range(func(what, how any) bool {
			t.Errorf("%s: %s", what, how)
			return true
		})
		t.Logf("looked %v times", looks)
	})
}

// TestOperationsThatWaitWithDelete checks that an operation that waits for a row lock together with
// a delete succeeds, and leaves nothing behind. SQLite serializes writers from their first
// statement, so there is nothing to wait for.
func TestOperationsThatWaitWithDelete(t *testing.T) {
	t.Parallel()
	deleteThing := func(h *deletionFixture) int {
		return h.ada.Do("DELETE", fmt.Sprintf("/things/%d", h.thing), nil).StatusCode
	}
	for name, test := range map[string]struct {
		held          string // the row whose lock both wait for
		first, second func(h *deletionFixture, upload int64) int
		by            func(h *deletionFixture) *servertest.Client
		after         func(t *testing.T, h *deletionFixture, upload int64)
	}{
		"a file of a comment on a deleted thing": {
			held: "comments WHERE target_type = 'thing' AND parent_id IS NULL",
			by:   func(h *deletionFixture) *servertest.Client { return h.bob },
			first: func(h *deletionFixture, upload int64) int {
				return h.bob.Finalize("comment", h.comment, upload).StatusCode
			},
			second: func(h *deletionFixture, _ int64) int { return deleteThing(h) },
			after: func(t *testing.T, h *deletionFixture, upload int64) {
				h.absent(t, "/files/%d", "file", upload)
				h.bytes(t, []string{fmt.Sprintf("/download:%d", upload)}, 404)
			},
		},
		"a file of a comment on a deleted make": {
			held: "comments WHERE target_type = 'make'",
			by:   func(h *deletionFixture) *servertest.Client { return h.cyd },
			first: func(h *deletionFixture, upload int64) int {
				return h.cyd.Finalize("comment", h.makeComment, upload).StatusCode
			},
			second: func(h *deletionFixture, _ int64) int {
				return h.bob.Do("DELETE", fmt.Sprintf("/copies/%d", h.make), nil).StatusCode
			},
			after: func(t *testing.T, h *deletionFixture, upload int64) {
				h.absent(t, "/files/%d", "file", upload)
				h.bytes(t, []string{fmt.Sprintf("/download:%d", upload)}, 404)
			},
		},
		"a file of a make of a deleted thing": {
			held:   "makes",
			by:     func(h *deletionFixture) *servertest.Client { return h.bob },
			first:  func(h *deletionFixture, upload int64) int { return h.bob.Finalize("copy", h.make, upload).StatusCode },
			second: func(h *deletionFixture, _ int64) int { return deleteThing(h) },
			after: func(t *testing.T, h *deletionFixture, upload int64) {
				h.bytes(t, []string{fmt.Sprintf("/download:%d", upload)}, 200)
				h.cyd.Get(fmt.Sprintf("/files/%d", upload)).Want(t, 200)
			},
		},
		"a file of a comment on a make of a deleted thing": {
			held: "comments WHERE target_type = 'make'",
			by:   func(h *deletionFixture) *servertest.Client { return h.cyd },
			first: func(h *deletionFixture, upload int64) int {
				return h.cyd.Finalize("comment", h.makeComment, upload).StatusCode
			},
			second: func(h *deletionFixture, _ int64) int { return deleteThing(h) },
			after: func(t *testing.T, h *deletionFixture, upload int64) {
				h.bytes(t, []string{fmt.Sprintf("/download:%d", upload)}, 200)
				h.bob.Get(fmt.Sprintf("/files/%d", upload)).Want(t, 200)
			},
		},
		"a download of a deleted file": {
			held:  "things WHERE name = 'Zeppelin'",
			by:    func(h *deletionFixture) *servertest.Client { return h.bob },
			first: func(h *deletionFixture, _ int64) int { return deleteThing(h) },
			second: func(h *deletionFixture, _ int64) int {
				return h.bob.Get(fmt.Sprintf("/files/%d/download", h.stl)).StatusCode
			},
		},
		"a like of a deleted thing": {
			held:  "things WHERE name = 'Zeppelin'",
			by:    func(h *deletionFixture) *servertest.Client { return h.bob },
			first: func(h *deletionFixture, _ int64) int { return deleteThing(h) },
			second: func(h *deletionFixture, _ int64) int {
				return h.bob.Do("POST", fmt.Sprintf("/things/%d/likes", h.thing), nil).StatusCode
			},
		},
		"a reply on a deleted thing": {
			held:  "things WHERE name = 'Zeppelin'",
			by:    func(h *deletionFixture) *servertest.Client { return h.bob },
			first: func(h *deletionFixture, _ int64) int { return deleteThing(h) },
			second: func(h *deletionFixture, _ int64) int {
				return h.bob.Do("POST", fmt.Sprintf("/comments/%d/reply", h.comment), servertest.Object{"body": "A zeppelin?"}).
					StatusCode
			},
		},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			h := newDeletionFixture(t, servertest.Start(t, "postgres"))
			h.s.Fold() // so that no job waits for the lock too
			upload := test.by(h).Upload("late.stl", []byte("solid late"))
			db := servertest.OpenDB(t, h.s).SQL()
			holding, err := db.Begin()
			if err != nil {
				t.Fatal(err)
			}
			defer holding.Rollback()
			if _, err := holding.Exec("SELECT id FROM " + test.held + " FOR UPDATE"); err != nil {
				t.Fatal(err)
			}
			var both sync.WaitGroup
			begin := func(place int, act func(h *deletionFixture, upload int64) int) {
				both.Go(func() {
					if status := act(h, upload); status >= 500 {
						t.Errorf("number %d returns %d", place, status)
					}
				})
				for deadline := time.Now().Add(servertest.Hung); ; time.Sleep(5 * time.Millisecond) {
					var waiting int
					err := db.QueryRow("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'").Scan(&waiting)
					if err != nil || time.Now().After(deadline) {
						t.Fatalf("%d wait, want %d (%v)", waiting, place, err)
					}
					if waiting == place {
						return
					}
				}
			}
			begin(1, test.first)
			begin(2, test.second)
			if err := holding.Rollback(); err != nil {
				t.Fatal(err)
			}
			both.Wait()
			soundRows(t, h.s)
			if test.after != nil {
				test.after(t, h, upload)
			}
			if _, err := h.s.Store.Maintenance.CollectGarbage(context.Background(), 0, false); err != nil {
				t.Error(err)
			}
			servertest.SoundCatalogue(t, h.s)
		})
	}
}

// TestOnlyModelStays checks that the only model of a published thing cannot be deleted, unless the
// client announces that it will upload another one, as clients of the REST API do.
func TestOnlyModelStays(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		thing, stl := ada.Thing("Vase"), servertest.Mesh(t, "hschendel_simple_bin.stl")
		first, second, text := ada.Upload("a.stl", stl), ada.Upload("b.stl", stl), ada.Upload("a.txt", []byte("Text."))
		ada.Finalize("thing", thing, first, second, text).Want(t, 200)
		const remove = `mutation ($id: ID!) { deleteFile(input: {id: $id}) { deletedId } }`
		ada.Publish(thing).Want(t, 200)
		ada.Query(remove, servertest.Object{"id": servertest.ID(first)}, new(any))
		r := ada.GraphQL(remove, servertest.Object{"id": servertest.ID(second)})
		if r.Code() != "BAD_USER_INPUT" || !strings.Contains(r.Errors[0].Message, "only model") {
			t.Errorf("the only model: %+v", r.Errors)
		}
		ada.Query(remove, servertest.Object{"id": servertest.ID(text)}, new(any))
		ada.Do("DELETE", fmt.Sprintf("/things/%d/files/%d", thing, second), nil).Want(t, 200)
	})
}
