package legacy_test

import (
	"crypto/md5"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/test/servertest"
)

// anyThing is the type of lists of things for which the documents specify neither of the two types.
const anyThing = "ThingSchema|ShortThingSchema"

// at formats a path.
func at(format string, ids ...any) string { return fmt.Sprintf(format, ids...) }

// TestLegacyClientJourney performs all actions of existing clients as two users, with a client that
// knows only the published interface. Each step is a subtest that uses the objects of the steps
// before it.
func TestLegacyClientJourney(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		j := &journey{
			server: s,
			ada:    &legacyClient{base: s.URL, token: s.User("ada").Token},
			bob:    &legacyClient{base: s.URL, token: s.User("bob").Token},

			donut:   string(servertest.Mesh(t, "numpystl_HalfDonut_bin.stl")),
			box:     string(servertest.Mesh(t, "3mfsamples_box.3mf")),
			paper:   string(servertest.Mesh(t, "own_assembly.pdf")),
			picture: string(servertest.Mesh(t, "lib3mf_thumbnail.png")),
		}
		for _, step := range []struct {
			name string
			take func()
		}{
			{"sign in", j.signIn},
			{"profile", j.profile},
			{"browse", j.browse},
			{"create", j.create},
			{"change", j.change},
			{"upload", j.upload},
			{"publish", j.publish},
			{"files", j.files},
			{"images", j.images},
			{"pages", j.pages},
			{"visit", j.visit},
			{"like", j.like},
			{"comment", j.commentOn},
			{"make", j.make},
			{"collection", j.collect},
			{"remix", j.remixIt},
			{"search", j.search},
			{"tomorrow", j.tomorrow},
			{"refusals", j.refusals},
		} {
			t.Run(step.name, func(t *testing.T) {
				j.ada.T, j.bob.T = t, t
				step.take()
			})
		}
	})
}

// journey is the state of TestLegacyClientJourney. Ada publishes a thing, and bob uses it.
type journey struct {
	server   *servertest.Server
	ada, bob *legacyClient

	donut, box, paper, picture string // contents of files

	me                   legacyObject // the profile of ada
	thing, draft         legacyObject // of ada; the draft has no files
	model, image, second legacyObject // the model and the images of the thing
	plastic, sheet       any          // the IDs of its other files
	adas                 []string     // the IDs of ada's published things, newest first
	comment, reply       legacyObject // on the thing
	made                 legacyObject // a make of bob
	collection, remix    legacyObject // of bob
}

// signIn checks that a user sees their own profile, and others see it without the e-mail address.
func (j *journey) signIn() {
	ada, bob := j.ada, j.bob
	j.me = ada.one("GET", "/users/me", nil, "UserSchema")
	ada.same("name", j.me["name"], "ada")
	ada.same("url", j.me["url"], j.server.URL+"/users/ada")
	ada.same("default_license", j.me["default_license"], "cc")
	seen := bob.one("GET", "/users/ada", nil, "UserSchema")
	if email, there := seen["email"]; there && email != "" {
		bob.Errorf("bob sees the email %v", email)
	}
}

// profile changes a profile, completely and in part.
func (j *journey) profile() {
	ada, bob := j.ada, j.bob
	j.me["location"] = "Lisbon"
	ada.same("location", ada.one("PATCH", "/users/me", j.me, "UserSchema")["location"], "Lisbon")
	ada.one("PATCH", "/users/ada", legacyObject{"bio": "I *print*.", "first_name": "Ada"}, "UserSchema")
	after := bob.one("GET", "/users/ada", nil, "UserSchema")
	ada.same("profile", at("%v, %v, %v", after["first_name"], after["location"], after["bio"]), "Ada, Lisbon, I *print*.")
	ada.same("print in bio_html", strings.Contains(fmt.Sprint(after["bio_html"]), "print"), true)
	bob.refused(403, "PATCH", "/users/ada", legacyObject{"bio": "mine"})
	bob.refused(404, "GET", "/users/nobody-of-that-name", nil)
}

// browse walks the categories and lists of a server without things.
func (j *journey) browse() {
	ada := j.ada
	var names []string
	for _, c := range ada.list("/categories", "Category") {
		names = append(names, fmt.Sprint(c["name"]))
		ada.one("GET", at("/categories/%v", c["slug"]), nil, "CategoryTree")
		ada.one("GET", fmt.Sprint(c["url"]), nil, "CategoryTree")
		ada.list(fmt.Sprint(c["things_url"]), anyThing)
	}
	for _, root := range []string{"3D Printing", "Art", "Fashion", "Gadgets", "Hobby", "Household", "Learning", "Models",
		"Tools", "Toys & Games", "Other"} {
		if !slices.Contains(names, root) {
			ada.Errorf("no category %s", root)
		}
	}
	ada.list("/categories?return=complete", "CategoryTree")
	ada.refused(404, "GET", "/categories/no-such-category", nil)
	for _, path := range []string{"/newest", "/popular?page=0&per_page=5"} {
		ada.list(path, "ShortThingSchema")
	}
	ada.list("/featured", "FeaturedSchema")
	ada.list("/tags/", "Tag")
	ada.list("/tags/0/popular", "Tag")
	ada.list("/copies/", "CopySchema")
	ada.list("/collections/", "Collection")
	ada.list("/comments/", "CommentSchema")
	for _, list := range []string{"things", "likes", "copies", "collections", "favorites", "downloads"} {
		ada.same(list+" of a new user", len(ada.list("/users/ada/"+list, "object")), 0)
	}
}

// create creates a thing and an empty draft.
func (j *journey) create() {
	ada := j.ada
	j.thing = ada.one("POST", "/things/", legacyObject{"name": "Donut dish", "license": "cc-sa", "category": "Household",
		"description": "Half a donut.",
		"tags":        []string{"dish", "Old Client"}, "is_wip": false}, "ThingSchema")
	ada.same("url", j.thing["url"], at("%s/things/%v", j.server.URL, j.thing["id"]))
	ada.same("state", at("%v %v %v %v", j.thing["is_published"], j.thing["is_wip"], j.thing["type_name"],
		j.thing["license"]), "0 0 Thing Creative Commons - Attribution - Share Alike")
	j.draft = ada.one("POST", "/things", legacyObject{"name": "Empty", "license": "ccnc", "category": "Art"},
		"ThingSchema")
	for _, lacking := range []legacyObject{{"license": "cc", "category": "Art"}, {"name": "A", "category": "Art"},
		{"name": "A", "license": "cc"}} {
		ada.refused(400, "POST", "/things/", lacking)
	}
}

// change sends a whole thing back, with fields that cannot be changed.
func (j *journey) change() {
	ada, bob := j.ada, j.bob
	j.thing["description"], j.thing["of_a_later_version"], j.thing["like_count"] = "Half a **donut**.",
		legacyObject{"x": nil}, 99
	after := ada.one("PATCH", at("/things/%v", j.thing["id"]), j.thing, "ThingSchema")
	ada.same("changed", at("%v, %v, %v", after["description"], after["license"], after["like_count"]),
		"Half a **donut**., Creative Commons - Attribution - Share Alike, 0")
	ada.same("bold in description_html", strings.Contains(fmt.Sprint(after["description_html"]), "<strong>donut</strong>"),
		true)
	ada.same("tags", len(legacyObjects(after["tags"])), 2)
	ada.same("tags listed", len(ada.list(fmt.Sprint(after["tags_url"]), "Tag")), 2)
	for _, c := range ada.list(fmt.Sprint(after["categories_url"]), "Category") {
		ada.same("category", c["name"], "Household")
	}
	bob.refused(403, "GET", at("/things/%v", j.thing["id"]), nil)
	bob.refused(403, "PATCH", at("/things/%v", j.thing["id"]), legacyObject{"name": "mine"})
}

// upload adds files and images to the thing, by both ways to upload.
func (j *journey) upload() {
	ada, bob := j.ada, j.bob
	j.model = ada.uploadByForm(at("/things/%v/files", j.thing["id"]), "donut.stl", j.donut, "FileSchema")
	sum := md5.Sum([]byte(j.donut))
	ada.same("file", at("%v %v %v %v", j.model["name"], j.model["size"], j.model["formatted_size"], j.model["hash"]),
		at("donut.stl %d 14 kb %s", len(j.donut), base64.StdEncoding.EncodeToString(sum[:])))
	j.image = ada.uploadByForm(at("/things/%v/files", j.thing["id"]), "donut.png", j.picture, "ImageSummary")
	j.second = ada.uploadByForm(at("/things/%v/files", j.thing["id"]), "second.png", j.picture, "ImageSummary")
	j.plastic, j.sheet = ada.upload("box.3mf", j.box, "model"), ada.upload("sheet.pdf", j.paper, "attachment")
	finalize := legacyObject{"pending_uploads": []legacyObject{{"id": j.sheet, "rank": 30}, {"id": j.plastic, "rank": 20}},
		"target_id": fmt.Sprint(j.thing["id"]), "target_type": "thing"}
	ada.done("POST", "/files/0/FinalizeFiles", finalize)
	ada.done("POST", "/files/0/FinalizeFiles", finalize) // sent again, as after a lost response
	bob.refused(403, "GET", at("/files/%v", j.model["id"]), nil)
	bob.refused(403, "POST", at("/things/%v/files", j.thing["id"]), legacyObject{"filename": "mine.stl"})
}

// publish publishes the thing. The empty draft cannot be published.
func (j *journey) publish() {
	ada, bob := j.ada, j.bob
	refusal := ada.refused(400, "POST", at("/things/%v/publish", j.draft["id"]), "null")
	if reasons, _ := refusal["errors"].([]any); len(reasons) == 0 {
		ada.Errorf("an empty draft: %v", refusal)
	}
	bob.refused(403, "POST", at("/things/%v/publish", j.thing["id"]), "null")
	ada.same("is_published", ada.one("POST", at("/things/%v/publish", j.thing["id"]), "null",
		"ThingSchema")["is_published"], 1)
}

// files reads the files of the thing and their bytes.
func (j *journey) files() {
	ada := j.ada
	files := ada.list(at("/things/%v/files", j.thing["id"]), "FileSchema")
	ada.same("files", len(files), 3)
	rank := func(id any) int {
		return slices.IndexFunc(files, func(o legacyObject) bool { return legacyID(o) == fmt.Sprint(id) })
	}
	ada.same("the sheet's place after the box", rank(j.sheet) > rank(j.plastic), true)
	contents := map[string]string{legacyID(j.model): j.donut, fmt.Sprint(j.plastic): j.box, fmt.Sprint(j.sheet): j.paper}
	ada.same("files by id", len(ada.list(at("/things/%v/files?file_id=%v", j.thing["id"], j.plastic), "FileSchema")), 1)
	for _, f := range files {
		ada.one("GET", at("/things/%v/files/%v", j.thing["id"], f["id"]), nil, "FileSchema")
		same := ada.one("GET", fmt.Sprint(f["url"]), nil, "FileSchema")
		ada.same("direct_url of a pdf is null", same["direct_url"] == nil, legacyID(f) == fmt.Sprint(j.sheet))
		ada.same("addresses", at("%v %v %v", f["url"], f["public_url"], f["download_url"]),
			strings.ReplaceAll(at("%s/files/ID %[1]s/download:ID %[1]s/files/ID/download", j.server.URL), "ID", legacyID(f)))
		ada.same("bytes of public_url", ada.fetch(f["public_url"]) == contents[legacyID(f)], true)
		if f["direct_url"] != nil {
			ada.same("bytes of direct_url", ada.fetch(f["direct_url"]) == contents[legacyID(f)], true)
		}
		ada.fetch(f["thumbnail"])
	}
	j.thing = ada.one("GET", at("/things/%v", j.thing["id"]), nil, "ThingSchema")
	ada.same("file_count", j.thing["file_count"], 3)
	zip, _ := j.thing["zip_data"].(legacyObject)
	ada.same("zip_data", at("%d files, %d pictures", len(legacyObjects(zip["files"])), len(legacyObjects(zip["images"]))),
		"3 files, 2 pictures")
	for _, entry := range append(legacyObjects(zip["files"]), legacyObjects(zip["images"])...) {
		ada.fetch(entry["url"])
	}
}

// images reads, orders and deletes the images of the thing.
func (j *journey) images() {
	ada, bob := j.ada, j.bob
	images := at("/things/%v/images", j.thing["id"])
	order := func(want ...any) {
		var got []any
		for _, i := range ada.list(images, "ThingImage") {
			got = append(got, i["id"])
		}
		ada.same("images", got, want)
	}
	order(j.image["id"], j.second["id"])
	for _, i := range ada.list(images+"/?type=display&size=large", "ThingImage") {
		sizes := legacyObjects(i["sizes"])
		ada.same("sizes", len(sizes), 1)
		for _, size := range sizes {
			ada.same("size", at("%v %v", size["type"], size["size"]), "display large")
			ada.fetch(size["url"])
		}
	}
	ada.same("sizes", len(legacyObjects(ada.one("GET", at("%s/%v", images, j.image["id"]), nil, "ImageSummary")["sizes"])),
		15)
	ada.same("one size",
		len(legacyObjects(ada.one("GET", at("%s/%v?type=display&size=large", images, j.image["id"]), nil,
			"ImageSummary")["sizes"])), 1)
	ada.call(200, "PATCH", at("%s/%v", images, j.image["id"]), legacyObject{"rank": 900}, "Done|ThingImage")
	order(j.second["id"], j.image["id"])
	bob.refused(403, "PATCH", at("%s/%v", images, j.image["id"]), legacyObject{"rank": 1})
	bob.refused(403, "DELETE", at("%s/%v", images, j.second["id"]), nil)
	ada.done("DELETE", at("%s/%v", images, j.second["id"]), "null")
	ada.refused(404, "GET", at("%s/%v", images, j.second["id"]), nil)
	order(j.image["id"])
}

// pages publishes more things and walks the pages of lists.
func (j *journey) pages() {
	ada, bob := j.ada, j.bob
	j.adas = []string{legacyID(j.thing)}
	for i := range 4 {
		file := ada.upload("box.3mf", j.box, "model")
		more := ada.one("POST", "/things/", legacyObject{"name": at("Box %d", i), "description": "A box.", "license": "cc-nd",
			"category": "Tools",
			"files":    []legacyObject{{"id": file, "type": "pending"}}}, "ThingSchema")
		ada.done("POST", "/files/0/FinalizeFiles", legacyObject{"pending_uploads": []legacyObject{{"id": file}},
			"target_id": more["id"], "target_type": "thing"})
		ada.one("POST", at("/things/%v/publish", more["id"]), legacyObject{}, "ThingSchema")
		j.adas = slices.Insert(j.adas, 0, legacyID(more))
	}
	var newest []string
	for _, o := range ada.walk("/newest?per_page=2", "ShortThingSchema") {
		newest = append(newest, legacyID(o))
		ada.same("is_published", o["is_published"], 1)
		ada.fetch(o["thumbnail"])
	}
	ada.same("newest", newest, j.adas)
	bob.same("popular", len(bob.walk("/popular?per_page=2", "ShortThingSchema")), len(j.adas))
	for _, c := range []*legacyClient{ada, bob} {
		things := c.walk("/users/ada/things?per_page=2", anyThing)
		for _, id := range j.adas {
			c.holds("things of ada", things, id, true)
		}
		if c == bob {
			c.holds("what bob sees of ada", things, j.draft["id"], false)
		}
	}
	bob.holds("things of a user", bob.list(fmt.Sprint(j.me["things_url"]), anyThing), j.thing["id"], true)
	for _, tag := range legacyObjects(j.thing["tags"]) {
		bob.holds("things of a tag", bob.list(fmt.Sprint(tag["things_url"]), anyThing), j.thing["id"], true)
		bob.same("tag", bob.one("GET", fmt.Sprint(tag["url"]), nil, "Tag")["count"], 1)
	}
	bob.same("search for a tag finds any", len(bob.list("/tags/dis/search-tags", "TagCount")) > 0, true)
	bob.holds("things of a category", bob.list("/categories/household/things", anyThing), j.thing["id"], true)
}
