package server_test

import (
	"crypto/md5"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/cmd/meshyard/server/servertest"
)

// anyThing is the type of lists of things for which the documents specify neither of the two types.
const anyThing = "ThingSchema|ShortThingSchema"

// TestJourneyOfOldClient performs all actions of existing clients as two users, with a client that
// knows only the published interface.
func TestJourneyOfOldClient(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := &oldClient{base: s.URL, token: s.User("ada").Token}
		bob := &oldClient{base: s.URL, token: s.User("bob").Token}
		donut, box, paper := string(servertest.Mesh(t, "numpystl_HalfDonut_bin.stl")), string(servertest.Mesh(t, "3mfsamples_box.3mf")), string(servertest.Mesh(t, "own_assembly.pdf"))
		picture := string(servertest.Mesh(t, "lib3mf_thumbnail.png"))
		step := func(name string, take func()) {
			t.Run(name, func(t *testing.T) {
				ada.T, bob.T = t, t
				take()
			})
		}
		// at formats a path.
		at := func(format string, ids ...any) string { return fmt.Sprintf(format, ids...) }
		var me, thing, draft, model, image, second, comment, reply, made, collection, remix oldObject
		var plastic, sheet any
		var adas []string // IDs of ada's published things, newest first

		step("sign in", func() {
			me = ada.one("GET", "/users/me", nil, "UserSchema")
			ada.same("name", me["name"], "ada")
			ada.same("url", me["url"], s.URL+"/users/ada")
			if _, there := me["default_license"]; !there {
				ada.Error("me has no default_license")
			}
			seen := bob.one("GET", "/users/ada", nil, "UserSchema")
			if email, there := seen["email"]; there && email != "" {
				bob.Errorf("bob sees the email %v", email)
			}
		})

		step("profile", func() {
			me["location"] = "Lisbon"
			ada.same("location", ada.one("PATCH", "/users/me", me, "UserSchema")["location"], "Lisbon")
			ada.one("PATCH", "/users/ada", oldObject{"bio": "I *print*.", "first_name": "Ada"}, "UserSchema")
			after := bob.one("GET", "/users/ada", nil, "UserSchema")
			ada.same("profile", at("%v, %v, %v", after["first_name"], after["location"], after["bio"]), "Ada, Lisbon, I *print*.")
			ada.same("print in bio_html", strings.Contains(fmt.Sprint(after["bio_html"]), "print"), true)
			bob.refused(403, "PATCH", "/users/ada", oldObject{"bio": "mine"})
			bob.refused(404, "GET", "/users/nobody-of-that-name", nil)
		})

		step("browse", func() {
			var names []string
			for _, c := range ada.list("/categories", "Category") {
				names = append(names, fmt.Sprint(c["name"]))
				ada.one("GET", at("/categories/%v", c["slug"]), nil, "CategoryTree")
				ada.one("GET", fmt.Sprint(c["url"]), nil, "CategoryTree")
				ada.list(fmt.Sprint(c["things_url"]), anyThing)
			}
			for _, root := range []string{"3D Printing", "Art", "Fashion", "Gadgets", "Hobby", "Household", "Learning", "Models", "Tools", "Toys & Games", "Other"} {
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
		})

		step("create", func() {
			thing = ada.one("POST", "/things/", oldObject{"name": "Donut dish", "license": "cc-sa", "category": "Household", "description": "Half a donut.",
				"tags": []string{"dish", "Old Client"}, "is_wip": false}, "ThingSchema")
			ada.same("url", thing["url"], at("%s/things/%v", s.URL, thing["id"]))
			ada.same("state", at("%v %v %v %v", thing["is_published"], thing["is_wip"], thing["type_name"], thing["license"]), "0 0 Thing Creative Commons - Attribution - Share Alike")
			draft = ada.one("POST", "/things", oldObject{"name": "Empty", "license": "ccnc", "category": "Art"}, "ThingSchema")
			for _, lacking := range []oldObject{{"license": "cc", "category": "Art"}, {"name": "A", "category": "Art"}, {"name": "A", "license": "cc"}} {
				ada.refused(400, "POST", "/things/", lacking)
			}
		})

		step("change", func() {
			thing["description"], thing["of_a_later_version"], thing["like_count"] = "Half a **donut**.", oldObject{"x": nil}, 99
			after := ada.one("PATCH", at("/things/%v", thing["id"]), thing, "ThingSchema")
			ada.same("changed", at("%v, %v, %v", after["description"], after["license"], after["like_count"]), "Half a **donut**., Creative Commons - Attribution - Share Alike, 0")
			ada.same("bold in description_html", strings.Contains(fmt.Sprint(after["description_html"]), "<strong>donut</strong>"), true)
			ada.same("tags", len(oldObjects(after["tags"])), 2)
			ada.same("tags listed", len(ada.list(fmt.Sprint(after["tags_url"]), "Tag")), 2)
			for _, c := range ada.list(fmt.Sprint(after["categories_url"]), "Category") {
				ada.same("category", c["name"], "Household")
			}
			bob.refused(403, "GET", at("/things/%v", thing["id"]), nil)
			bob.refused(403, "PATCH", at("/things/%v", thing["id"]), oldObject{"name": "mine"})
		})

		step("upload", func() {
			model = ada.uploadByForm(at("/things/%v/files", thing["id"]), "donut.stl", donut, "FileSchema")
			sum := md5.Sum([]byte(donut))
			ada.same("file", at("%v %v %v %v", model["name"], model["size"], model["formatted_size"], model["hash"]), at("donut.stl %d 14 kb %s", len(donut), base64.StdEncoding.EncodeToString(sum[:])))
			image = ada.uploadByForm(at("/things/%v/files", thing["id"]), "donut.png", picture, "ImageSummary")
			second = ada.uploadByForm(at("/things/%v/files", thing["id"]), "second.png", picture, "ImageSummary")
			plastic, sheet = ada.upload("box.3mf", box, "model"), ada.upload("sheet.pdf", paper, "attachment")
			finalize := oldObject{"pending_uploads": []oldObject{{"id": sheet, "rank": 30}, {"id": plastic, "rank": 20}}, "target_id": fmt.Sprint(thing["id"]), "target_type": "thing"}
			ada.done("POST", "/files/0/FinalizeFiles", finalize)
			ada.done("POST", "/files/0/FinalizeFiles", finalize) // sent again, as after a lost response
			bob.refused(403, "GET", at("/files/%v", model["id"]), nil)
			bob.refused(403, "POST", at("/things/%v/files", thing["id"]), oldObject{"filename": "mine.stl"})
		})

		step("publish", func() {
			refusal := ada.refused(400, "POST", at("/things/%v/publish", draft["id"]), "null")
			if reasons, _ := refusal["errors"].([]any); len(reasons) == 0 {
				ada.Errorf("an empty draft: %v", refusal)
			}
			bob.refused(403, "POST", at("/things/%v/publish", thing["id"]), "null")
			ada.same("is_published", ada.one("POST", at("/things/%v/publish", thing["id"]), "null", "ThingSchema")["is_published"], 1)
		})

		step("files", func() {
			files := ada.list(at("/things/%v/files", thing["id"]), "FileSchema")
			ada.same("files", len(files), 3)
			rank := func(id any) int {
				return slices.IndexFunc(files, func(o oldObject) bool { return oldID(o) == fmt.Sprint(id) })
			}
			ada.same("the sheet's place after the box", rank(sheet) > rank(plastic), true)
			contents := map[string]string{oldID(model): donut, fmt.Sprint(plastic): box, fmt.Sprint(sheet): paper}
			ada.same("files by id", len(ada.list(at("/things/%v/files?file_id=%v", thing["id"], plastic), "FileSchema")), 1)
			for _, f := range files {
				ada.one("GET", at("/things/%v/files/%v", thing["id"], f["id"]), nil, "FileSchema")
				same := ada.one("GET", fmt.Sprint(f["url"]), nil, "FileSchema")
				ada.same("direct_url of a pdf is null", same["direct_url"] == nil, oldID(f) == fmt.Sprint(sheet))
				ada.same("addresses", at("%v %v %v", f["url"], f["public_url"], f["download_url"]), strings.ReplaceAll(at("%s/files/ID %[1]s/download:ID %[1]s/files/ID/download", s.URL), "ID", oldID(f)))
				ada.same("bytes of public_url", ada.fetch(f["public_url"]) == contents[oldID(f)], true)
				if f["direct_url"] != nil {
					ada.same("bytes of direct_url", ada.fetch(f["direct_url"]) == contents[oldID(f)], true)
				}
				ada.fetch(f["thumbnail"])
			}
			thing = ada.one("GET", at("/things/%v", thing["id"]), nil, "ThingSchema")
			ada.same("file_count", thing["file_count"], 3)
			zip, _ := thing["zip_data"].(oldObject)
			ada.same("zip_data", at("%d files, %d pictures", len(oldObjects(zip["files"])), len(oldObjects(zip["images"]))), "3 files, 2 pictures")
			for _, entry := range append(oldObjects(zip["files"]), oldObjects(zip["images"])...) {
				ada.fetch(entry["url"])
			}
		})

		step("images", func() {
			images := at("/things/%v/images", thing["id"])
			order := func(want ...any) {
				var got []any
				for _, i := range ada.list(images, "ThingImage") {
					got = append(got, i["id"])
				}
				ada.same("images", got, want)
			}
			order(image["id"], second["id"])
			for _, i := range ada.list(images+"/?type=display&size=large", "ThingImage") {
				sizes := oldObjects(i["sizes"])
				ada.same("sizes", len(sizes), 1)
				for _, size := range sizes {
					ada.same("size", at("%v %v", size["type"], size["size"]), "display large")
					ada.fetch(size["url"])
				}
			}
			ada.same("sizes", len(oldObjects(ada.one("GET", at("%s/%v", images, image["id"]), nil, "ImageSummary")["sizes"])), 15)
			ada.same("one size", len(oldObjects(ada.one("GET", at("%s/%v?type=display&size=large", images, image["id"]), nil, "ImageSummary")["sizes"])), 1)
			ada.call(200, "PATCH", at("%s/%v", images, image["id"]), oldObject{"rank": 900}, "Done|ThingImage")
			order(second["id"], image["id"])
			bob.refused(403, "PATCH", at("%s/%v", images, image["id"]), oldObject{"rank": 1})
			bob.refused(403, "DELETE", at("%s/%v", images, second["id"]), nil)
			ada.done("DELETE", at("%s/%v", images, second["id"]), "null")
			ada.refused(404, "GET", at("%s/%v", images, second["id"]), nil)
			order(image["id"])
		})

		step("pages", func() {
			adas = []string{oldID(thing)}
			for i := range 4 {
				file := ada.upload("box.3mf", box, "model")
				more := ada.one("POST", "/things/", oldObject{"name": at("Box %d", i), "description": "A box.", "license": "cc-nd", "category": "Tools",
					"files": []oldObject{{"id": file, "type": "pending"}}}, "ThingSchema")
				ada.done("POST", "/files/0/FinalizeFiles", oldObject{"pending_uploads": []oldObject{{"id": file}}, "target_id": more["id"], "target_type": "thing"})
				ada.one("POST", at("/things/%v/publish", more["id"]), oldObject{}, "ThingSchema")
				adas = slices.Insert(adas, 0, oldID(more))
			}
			var newest []string
			for _, o := range ada.walk("/newest?per_page=2", "ShortThingSchema") {
				newest = append(newest, oldID(o))
				ada.same("is_published", o["is_published"], 1)
				ada.fetch(o["thumbnail"])
			}
			ada.same("newest", newest, adas)
			bob.same("popular", len(bob.walk("/popular?per_page=2", "ShortThingSchema")), len(adas))
			for _, c := range []*oldClient{ada, bob} {
				things := c.walk("/users/ada/things?per_page=2", anyThing)
				for _, id := range adas {
					c.holds("things of ada", things, id, true)
				}
				if c == bob {
					c.holds("what bob sees of ada", things, draft["id"], false)
				}
			}
			bob.holds("things of a user", bob.list(fmt.Sprint(me["things_url"]), anyThing), thing["id"], true)
			for _, tag := range oldObjects(thing["tags"]) {
				bob.holds("things of a tag", bob.list(fmt.Sprint(tag["things_url"]), anyThing), thing["id"], true)
				bob.same("tag", bob.one("GET", fmt.Sprint(tag["url"]), nil, "Tag")["count"], 1)
			}
			bob.same("search for a tag finds any", len(bob.list("/tags/dis/search-tags", "TagCount")) > 0, true)
			bob.holds("things of a category", bob.list("/categories/household/things", anyThing), thing["id"], true)
		})

		step("visit", func() {
			bob.same("is_liked", bob.one("GET", at("/things/%v", thing["id"]), nil, "ThingSchema")["is_liked"], false)
			bob.refused(403, "GET", at("/things/%v", draft["id"]), nil)
			bob.same("files", len(bob.list(fmt.Sprint(thing["files_url"]), "FileSchema")), 3)
			bob.list(fmt.Sprint(thing["images_url"]), "ThingImage")
			for range 2 {
				status, text := bob.do("GET", at("/files/%v/download", model["id"]), nil, "")
				bob.same(string(text)+" download", status, 302)
				bob.same("downloaded bytes", bob.fetch(bob.header.Get("Location")) == donut, true)
			}
			downloads := bob.list("/users/me/downloads", "ThingSchema")
			bob.same("downloads", len(downloads), 1)
			bob.holds("downloads", downloads, thing["id"], true)
			ada.refused(403, "GET", "/users/bob/downloads", nil)
		})

		step("like", func() {
			likes := at("/things/%v/likes", thing["id"])
			ada.refused(400, "POST", likes, "null")
			for range 2 {
				bob.done("POST", likes, nil)
				bob.same("likes", len(bob.list(likes, "UserSummary")), 1)
				liked := bob.one("GET", at("/things/%v", thing["id"]), nil, "ThingSchema")
				bob.same("liked", at("%v %v", liked["is_liked"], liked["like_count"]), "true 1")
				bob.holds("likes of bob", bob.list("/users/bob/likes", anyThing), thing["id"], true)
				bob.done("DELETE", likes, "null")
				bob.same("likes after", len(bob.list(fmt.Sprint(thing["likes_url"]), "UserSummary")), 0)
			}
			bob.done("POST", likes, oldObject{})
			s.Fold() // the popularity is recomputed every few seconds
			bob.same("most popular", oldID(append(bob.list("/popular", "ShortThingSchema"), oldObject{})[0]), thing["id"])
			bob.list("/users/bob/favorites", "object")
		})

		step("comment", func() {
			of := at("/things/%v/", thing["id"])
			comment = bob.one("POST", of+"comments", oldObject{"body": "Does it *hold* soup?"}, "CommentSchema")
			reply = ada.one("POST", at("/comments/%v/reply", comment["id"]), oldObject{"body": "Half a bowl."}, "CommentSchema")
			bob.same("parents", at("%v %v", comment["parent_id"], reply["parent_id"]), at("0 %v", comment["id"]))
			other := ada.one("POST", "/comments/", oldObject{"body": "Print it slowly.", "target_type": "thing", "target_id": thing["id"], "parent_id": 0}, "CommentSchema")
			ada.same("target", other["target_id"], thing["id"])
			bob.same("comments", len(bob.walk(of+"comments?per_page=2", "CommentSchema")), 3)
			bob.holds("root comments", bob.list(of+"root-comments", "CommentSchema"), reply["id"], false)
			bob.holds("replies", bob.list(at("/comments/%v/replies", comment["id"]), "CommentSchema"), reply["id"], true)
			threads := bob.one("GET", of+"threaded-comments", nil, "Threads")
			children, _ := threads["comments"].(oldObject)
			bob.holds("thread", oldObjects(children["0"]), comment["id"], true)
			bob.holds("thread", oldObjects(children[oldID(comment)]), reply["id"], true)
			users, _ := threads["users"].(oldObject)
			bob.same("users of threads", len(users), 2)

			comment["body"] = "Does it hold soup, please?"
			bob.one("PATCH", at("/comments/%v", comment["id"]), comment, "CommentSchema")
			bob.same("body", bob.one("GET", fmt.Sprint(comment["url"]), nil, "CommentSchema")["body"], comment["body"])
			ada.refused(400, "POST", of+"comments", oldObject{})
			ada.refused(403, "PATCH", at("/comments/%v", comment["id"]), oldObject{"body": "mine"})
			ada.refused(404, "POST", "/comments/", oldObject{"body": "?", "target_type": "thing", "target_id": 99999})
			bob.done("DELETE", at("/comments/%v", comment["id"]), "null")
			gone := bob.one("GET", at("/comments/%v", comment["id"]), nil, "CommentSchema")
			bob.same("is_deleted", strings.NewReplacer("1", "true").Replace(fmt.Sprint(gone["is_deleted"])), true)
			bob.same("a deleted body is shown", strings.Contains(fmt.Sprint(gone["body"], gone["body_html"]), "soup"), false)
		})

		step("make", func() {
			bob.uploadByForm(at("/things/%v/copies", thing["id"]), "made.png", picture, "ImageSummary")
			made = append(bob.list("/users/bob/copies", "CopySchema"), oldObject{})[0]
			path := at("/copies/%v", made["id"])
			of, _ := made["thing"].(oldObject)
			bob.same("make", at("%v %v", made["type_name"], of["id"]), at("Make %v", thing["id"]))
			bob.same("public_url", strings.HasSuffix(fmt.Sprint(made["public_url"]), at("/make:%v", made["id"])), true)
			for _, list := range []string{"/copies/", at("/things/%v/copies", thing["id"])} {
				ada.holds(list, ada.list(list, "CopySchema"), made["id"], true)
			}
			made["description"] = "Made in *blue*."
			bob.same("description", bob.one("PATCH", path, made, "CopySchema")["description"], made["description"])
			ada.refused(403, "PATCH", path, oldObject{"description": "mine"})
			bob.uploadByForm(path+"/images", "more.png", picture, "ImageSummary")
			bob.same("images of the make", len(ada.list(fmt.Sprint(made["images_url"]), "ThingImage")), 2)
			ada.done("POST", path+"/likes", nil)
			ada.same("likes of the make", len(bob.list(path+"/likes", "UserSummary")), 1)
			ada.one("POST", "/comments/", oldObject{"body": "Nice blue.", "target_type": "make", "target_id": made["id"]}, "CommentSchema")
			ada.same("comments of the make", len(bob.list(path+"/comments", "CommentSchema")), 1)
			seen := ada.one("GET", path, nil, "CopySchema")
			ada.same("make", at("%v %v %v", seen["like_count"], seen["is_liked"], seen["comment_count"]), "1 true 1")
			ada.same("make_count", ada.one("GET", at("/things/%v", thing["id"]), nil, "ThingSchema")["make_count"], 1)
		})

		step("collection", func() {
			collection = bob.one("POST", "/collections/", oldObject{"name": "Kitchen", "description": "What one eats from."}, "Collection")
			path := at("/collections/%v", collection["id"])
			put := at("%s/thing/%v", path, thing["id"])
			bob.done("POST", put, "null")
			bob.holds("collection", ada.list(path+"/things", anyThing), thing["id"], true)
			kept := bob.one("GET", at("/things/%v", thing["id"]), nil, "ThingSchema")
			bob.same("collected", at("%v %v", kept["is_collected"], kept["collect_count"]), "true 1")
			bob.call(200, "PATCH", path, oldObject{"name": "Table"}, "Collection|Done")
			bob.same("name", ada.one("GET", path, nil, "Collection")["name"], "Table")
			bob.holds("collections of bob", bob.list("/users/bob/collections", "Collection"), collection["id"], true)
			bob.holds("search", oldObjects(bob.one("GET", "/search/table?type=collections", nil, "CollectionHits")["hits"]), collection["id"], true)
			ada.refused(403, "POST", put, "null")
			ada.refused(403, "DELETE", path, nil)
			bob.same("removed", bob.call(200, "DELETE", put, "null", "int"), 1)
			bob.same("emptied", len(bob.list(path+"/things", anyThing)), 0)
			bob.done("DELETE", path, nil)
			bob.refused(404, "GET", path, nil)
		})

		step("remix", func() {
			file := bob.upload("donut.stl", donut, "model")
			remix = bob.one("POST", "/things/", oldObject{"name": "Whole donut", "description": "Both halves.", "license": "cc-sa", "category": "Household",
				"ancestors": []any{thing["id"]}, "is_remix": true, "files": []oldObject{{"id": file, "type": "pending"}}}, "ThingSchema")
			bob.one("POST", at("/things/%v/publish", remix["id"]), nil, "ThingSchema")
			bob.holds("ancestors", bob.list(fmt.Sprint(remix["ancestors_url"]), anyThing), thing["id"], true)
			bob.holds("derivatives", ada.list(fmt.Sprint(thing["derivatives_url"]), anyThing), remix["id"], true)
			remix = bob.one("GET", fmt.Sprint(remix["url"]), nil, "ThingSchema")
			bob.same("is_derivative", remix["is_derivative"], true)
			bob.same("remix_count", bob.one("GET", fmt.Sprint(thing["url"]), nil, "ThingSchema")["remix_count"], 1)
		})

		step("search", func() {
			hits := func(path, kind string, id any, want bool) {
				found := ada.one("GET", path, nil, kind)
				ada.holds(path, oldObjects(found["hits"]), id, want)
			}
			for query, isHit := range map[string]bool{"donut+dish": true, "donut%20dish": true, "zebra": false, "donut?type=things&sort=newest": true, "?has_makes=1": true, "?is_featured=1": false,
				"donut/?license=ccsa": true, "donut?license=bsd": false, "?is_derivative=1": false, "?posted_after=now-7d": true, "?posted_before=now-1M/d": false, "?sort=popular&page=1": true,
				at("?liked_by=%v", bob.one("GET", "/users/me", nil, "UserSchema")["id"]): true, at("?made_by=%v", me["id"]): false} {
				hits("/search/"+query, "ThingHits", thing["id"], isHit)
			}
			hits("/search/donut?is_derivative=1", "ThingHits", remix["id"], true)
			hits("/search/dish/tag", "ThingHits", thing["id"], true)
			hits("/users/ada/search/donut", "ThingHits", thing["id"], true)
			hits("/search/?type=users&sort=designs", "UserHits", me["id"], true)
			hits("/search/ada/?type=users", "UserHits", me["id"], true)
			hits("/search?type=makes", "AnyHits", made["id"], true)
			ada.one("GET", "/search/don/autocomplete", nil, "AnyHits")
			ada.same("total", ada.one("GET", "/search/box?per_page=1", nil, "ThingHits")["total"], 4)
		})

		step("tomorrow", func() {
			ada, bob = &oldClient{T: ada.T, base: s.URL, token: ada.token}, &oldClient{T: bob.T, base: s.URL, token: bob.token}
			path := at("/things/%v", thing["id"])
			after := ada.one("GET", path, nil, "ThingSchema")
			ada.same("counts", at("%v likes, %v makes, %v files, %v downloads", after["like_count"], after["make_count"], after["file_count"], bob.one("GET", at("/files/%v", model["id"]), nil, "FileSchema")["download_count"]), "1 likes, 1 makes, 3 files, 2 downloads")
			bob.holds("likes", bob.list("/users/bob/likes", anyThing), thing["id"], true)
			bob.holds("downloads", bob.list("/users/bob/downloads", "ThingSchema"), thing["id"], true)
			for _, change := range [][2]string{{"PATCH", path}, {"DELETE", path}, {"DELETE", at("%s/files/%v", path, plastic)}} {
				bob.refused(403, change[0], change[1], oldObject{"name": "mine"})
			}
			changed := ada.one("PATCH", path, oldObject{"name": "Dish", "license": "pd0", "category": "Art", "tags": []string{"bowl"}}, "ThingSchema")
			ada.same("changed", at("%v, %v, %d", changed["name"], changed["license"], len(oldObjects(changed["tags"]))), "Dish, Creative Commons - Public Domain Dedication, 1")
			ada.done("DELETE", at("%s/files/%v", path, plastic), "null")
			ada.refused(404, "GET", at("%s/files/%v", path, plastic), nil)
			ada.refused(404, "GET", at("/files/%v", plastic), nil)
			ada.same("files", len(ada.list(path+"/files", "FileSchema")), 2)
			ada.done("DELETE", path, "null")
			for _, gone := range []string{path, path + "/files", path + "/comments", at("/files/%v", model["id"]), at("/files/%v/download", model["id"])} {
				bob.refused(404, "GET", gone, nil)
			}
			ada.refused(404, "DELETE", path, nil)
			bob.holds("newest", bob.list("/newest", "ShortThingSchema"), thing["id"], false)
			bob.one("GET", at("/copies/%v", made["id"]), nil, "CopySchema")
			bob.one("GET", at("/things/%v", remix["id"]), nil, "ThingSchema")
			bob.list("/users/me/downloads", "ThingSchema")
			bob.list("/users/me/likes", anyThing)
			bob.done("DELETE", at("/copies/%v", made["id"]), nil)
			bob.refused(404, "GET", at("/copies/%v", made["id"]), nil)
		})

		step("refusals", func() {
			nobody, stranger := &oldClient{T: ada.T, base: s.URL}, &oldClient{T: ada.T, base: s.URL, token: "not-a-token"}
			for _, path := range []string{"/newest", "/users/me", "/categories", "/search/donut", "/copies/", at("/things/%v", remix["id"]), "/things/99999"} {
				nobody.refused(401, "GET", path, nil)
				stranger.refused(401, "GET", path, nil)
			}
			for _, path := range []string{"/things/", "/files/0/FinalizeFiles", "/collections/", at("/things/%v/likes", remix["id"])} {
				nobody.refused(401, "POST", path, oldObject{"name": "A"})
			}
			for _, path := range []string{"/groups/1", "/apps/1", "/things/99999", "/files/99999", "/copies/99999", "/comments/99999", "/collections/99999", "/things/99999/likes", "/users/nobody-of-that-name/things"} {
				ada.refused(404, "GET", path, nil)
			}
		})
	})
}
