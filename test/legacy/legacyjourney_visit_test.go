package legacy_test

import (
	"fmt"
	"strings"
)

// visit reads the thing as another user, who downloads it.
func (j *journey) visit() {
	ada, bob := j.ada, j.bob
	bob.same("is_liked", bob.one("GET", at("/things/%v", j.thing["id"]), nil, "ThingSchema")["is_liked"], false)
	bob.refused(403, "GET", at("/things/%v", j.draft["id"]), nil)
	bob.same("files", len(bob.list(fmt.Sprint(j.thing["files_url"]), "FileSchema")), 3)
	bob.list(fmt.Sprint(j.thing["images_url"]), "ThingImage")
	for range 2 {
		status, text := bob.do("GET", at("/files/%v/download", j.model["id"]), nil, "")
		bob.same(string(text)+" download", status, 302)
		bob.same("downloaded bytes", bob.fetch(bob.header.Get("Location")) == j.donut, true)
	}
	downloads := bob.list("/users/me/downloads", "ThingSchema")
	bob.same("downloads", len(downloads), 1)
	bob.holds("downloads", downloads, j.thing["id"], true)
	ada.refused(403, "GET", "/users/bob/downloads", nil)
}

// like likes the thing and takes the like back, twice.
func (j *journey) like() {
	ada, bob := j.ada, j.bob
	likes := at("/things/%v/likes", j.thing["id"])
	ada.refused(400, "POST", likes, "null")
	for range 2 {
		bob.done("POST", likes, nil)
		bob.same("likes", len(bob.list(likes, "UserSummary")), 1)
		liked := bob.one("GET", at("/things/%v", j.thing["id"]), nil, "ThingSchema")
		bob.same("liked", at("%v %v", liked["is_liked"], liked["like_count"]), "true 1")
		bob.holds("likes of bob", bob.list("/users/bob/likes", anyThing), j.thing["id"], true)
		bob.done("DELETE", likes, "null")
		bob.same("likes after", len(bob.list(fmt.Sprint(j.thing["likes_url"]), "UserSummary")), 0)
	}
	bob.done("POST", likes, legacyObject{})
	j.server.Fold() // the popularity is recomputed every few seconds
	bob.same("most popular", legacyID(append(bob.list("/popular", "ShortThingSchema"), legacyObject{})[0]), j.thing["id"])
	bob.list("/users/bob/favorites", "object")
}

// commentOn writes, changes and deletes comments.
func (j *journey) commentOn() {
	ada, bob := j.ada, j.bob
	of := at("/things/%v/", j.thing["id"])
	j.comment = bob.one("POST", of+"comments", legacyObject{"body": "Does it *hold* soup?"}, "CommentSchema")
	j.reply = ada.one("POST", at("/comments/%v/reply", j.comment["id"]), legacyObject{"body": "Half a bowl."},
		"CommentSchema")
	bob.same("parents", at("%v %v", j.comment["parent_id"], j.reply["parent_id"]), at("0 %v", j.comment["id"]))
	other := ada.one("POST", "/comments/", legacyObject{"body": "Print it slowly.", "target_type": "thing",
		"target_id": j.thing["id"], "parent_id": 0}, "CommentSchema")
	ada.same("target", other["target_id"], j.thing["id"])
	bob.same("comments", len(bob.walk(of+"comments?per_page=2", "CommentSchema")), 3)
	bob.holds("root comments", bob.list(of+"root-comments", "CommentSchema"), j.reply["id"], false)
	bob.holds("replies", bob.list(at("/comments/%v/replies", j.comment["id"]), "CommentSchema"), j.reply["id"], true)
	threads := bob.one("GET", of+"threaded-comments", nil, "Threads")
	children, _ := threads["comments"].(legacyObject)
	bob.holds("thread", legacyObjects(children["0"]), j.comment["id"], true)
	bob.holds("thread", legacyObjects(children[legacyID(j.comment)]), j.reply["id"], true)
	users, _ := threads["users"].(legacyObject)
	bob.same("users of threads", len(users), 2)

	j.comment["body"] = "Does it hold soup, please?"
	bob.one("PATCH", at("/comments/%v", j.comment["id"]), j.comment, "CommentSchema")
	bob.same("body", bob.one("GET", fmt.Sprint(j.comment["url"]), nil, "CommentSchema")["body"], j.comment["body"])
	ada.refused(400, "POST", of+"comments", legacyObject{})
	ada.refused(403, "PATCH", at("/comments/%v", j.comment["id"]), legacyObject{"body": "mine"})
	ada.refused(404, "POST", "/comments/", legacyObject{"body": "?", "target_type": "thing", "target_id": 99999})
	bob.done("DELETE", at("/comments/%v", j.comment["id"]), "null")
	gone := bob.one("GET", at("/comments/%v", j.comment["id"]), nil, "CommentSchema")
	bob.same("is_deleted", strings.NewReplacer("1", "true").Replace(fmt.Sprint(gone["is_deleted"])), true)
	bob.same("a deleted body is shown", strings.Contains(fmt.Sprint(gone["body"], gone["body_html"]), "soup"), false)
}

// make posts a make of the thing.
func (j *journey) make() {
	ada, bob := j.ada, j.bob
	bob.uploadByForm(at("/things/%v/copies", j.thing["id"]), "made.png", j.picture, "ImageSummary")
	j.made = append(bob.list("/users/bob/copies", "CopySchema"), legacyObject{})[0]
	path := at("/copies/%v", j.made["id"])
	of, _ := j.made["thing"].(legacyObject)
	bob.same("make", at("%v %v", j.made["type_name"], of["id"]), at("Make %v", j.thing["id"]))
	bob.same("public_url", strings.HasSuffix(fmt.Sprint(j.made["public_url"]), at("/make:%v", j.made["id"])), true)
	for _, list := range []string{"/copies/", at("/things/%v/copies", j.thing["id"])} {
		ada.holds(list, ada.list(list, "CopySchema"), j.made["id"], true)
	}
	j.made["description"] = "Made in *blue*."
	bob.same("description", bob.one("PATCH", path, j.made, "CopySchema")["description"], j.made["description"])
	ada.refused(403, "PATCH", path, legacyObject{"description": "mine"})
	bob.uploadByForm(path+"/images", "more.png", j.picture, "ImageSummary")
	bob.same("images of the make", len(ada.list(fmt.Sprint(j.made["images_url"]), "ThingImage")), 2)
	ada.done("POST", path+"/likes", nil)
	ada.same("likes of the make", len(bob.list(path+"/likes", "UserSummary")), 1)
	ada.one("POST", "/comments/", legacyObject{"body": "Nice blue.", "target_type": "make", "target_id": j.made["id"]},
		"CommentSchema")
	ada.same("comments of the make", len(bob.list(path+"/comments", "CommentSchema")), 1)
	seen := ada.one("GET", path, nil, "CopySchema")
	ada.same("make", at("%v %v %v", seen["like_count"], seen["is_liked"], seen["comment_count"]), "1 true 1")
	ada.same("make_count", ada.one("GET", at("/things/%v", j.thing["id"]), nil, "ThingSchema")["make_count"], 1)
}

// collect puts the thing into a collection, and deletes the collection.
func (j *journey) collect() {
	ada, bob := j.ada, j.bob
	j.collection = bob.one("POST", "/collections/", legacyObject{"name": "Kitchen", "description": "What one eats from."},
		"Collection")
	path := at("/collections/%v", j.collection["id"])
	put := at("%s/thing/%v", path, j.thing["id"])
	bob.done("POST", put, "null")
	bob.holds("collection", ada.list(path+"/things", anyThing), j.thing["id"], true)
	kept := bob.one("GET", at("/things/%v", j.thing["id"]), nil, "ThingSchema")
	bob.same("collected", at("%v %v", kept["is_collected"], kept["collect_count"]), "true 1")
	bob.call(200, "PATCH", path, legacyObject{"name": "Table"}, "Collection|Done")
	bob.same("name", ada.one("GET", path, nil, "Collection")["name"], "Table")
	bob.holds("collections of bob", bob.list("/users/bob/collections", "Collection"), j.collection["id"], true)
	bob.holds("search", legacyObjects(bob.one("GET", "/search/table?type=collections", nil, "CollectionHits")["hits"]),
		j.collection["id"], true)
	ada.refused(403, "POST", put, "null")
	ada.refused(403, "DELETE", path, nil)
	bob.same("removed", bob.call(200, "DELETE", put, "null", "int"), 1)
	bob.same("emptied", len(bob.list(path+"/things", anyThing)), 0)
	bob.done("DELETE", path, nil)
	bob.refused(404, "GET", path, nil)
}

// remixIt publishes a remix of the thing.
func (j *journey) remixIt() {
	ada, bob := j.ada, j.bob
	file := bob.upload("donut.stl", j.donut, "model")
	j.remix = bob.one("POST", "/things/", legacyObject{"name": "Whole donut", "description": "Both halves.",
		"license": "cc-sa", "category": "Household",
		"ancestors": []any{j.thing["id"]}, "is_remix": true, "files": []legacyObject{{"id": file, "type": "pending"}}},
		"ThingSchema")
	bob.one("POST", at("/things/%v/publish", j.remix["id"]), nil, "ThingSchema")
	bob.holds("ancestors", bob.list(fmt.Sprint(j.remix["ancestors_url"]), anyThing), j.thing["id"], true)
	bob.holds("derivatives", ada.list(fmt.Sprint(j.thing["derivatives_url"]), anyThing), j.remix["id"], true)
	j.remix = bob.one("GET", fmt.Sprint(j.remix["url"]), nil, "ThingSchema")
	bob.same("is_derivative", j.remix["is_derivative"], true)
	bob.same("remix_count", bob.one("GET", fmt.Sprint(j.thing["url"]), nil, "ThingSchema")["remix_count"], 1)
}

// search finds the thing by words and filters.
func (j *journey) search() {
	ada, bob := j.ada, j.bob
	hits := func(path, kind string, id any, want bool) {
		found := ada.one("GET", path, nil, kind)
		ada.holds(path, legacyObjects(found["hits"]), id, want)
	}
	for query, isHit := range map[string]bool{"donut+dish": true, "donut%20dish": true, "zebra": false,
		"donut?type=things&sort=newest": true, "?has_makes=1": true, "?is_featured=1": false,
		"donut/?license=ccsa": true, "donut?license=bsd": false, "?is_derivative=1": false, "?posted_after=now-7d": true,
		"?posted_before=now-1M/d": false, "?sort=popular&page=1": true,
		at("?liked_by=%v", bob.one("GET", "/users/me", nil, "UserSchema")["id"]): true,
		at("?made_by=%v", j.me["id"]):                                            false} {
		hits("/search/"+query, "ThingHits", j.thing["id"], isHit)
	}
	hits("/search/donut?is_derivative=1", "ThingHits", j.remix["id"], true)
	hits("/search/dish/tag", "ThingHits", j.thing["id"], true)
	hits("/users/ada/search/donut", "ThingHits", j.thing["id"], true)
	hits("/search/?type=users&sort=designs", "UserHits", j.me["id"], true)
	hits("/search/ada/?type=users", "UserHits", j.me["id"], true)
	hits("/search?type=makes", "AnyHits", j.made["id"], true)
	ada.one("GET", "/search/don/autocomplete", nil, "AnyHits")
	ada.same("total", ada.one("GET", "/search/box?per_page=1", nil, "ThingHits")["total"], 5)
}

// tomorrow uses new clients, as after a restart of the program, and deletes the thing.
func (j *journey) tomorrow() {
	ada := &legacyClient{T: j.ada.T, base: j.server.URL, token: j.ada.token}
	bob := &legacyClient{T: j.bob.T, base: j.server.URL, token: j.bob.token}
	path := at("/things/%v", j.thing["id"])
	after := ada.one("GET", path, nil, "ThingSchema")
	ada.same("counts", at("%v likes, %v makes, %v files, %v downloads", after["like_count"], after["make_count"],
		after["file_count"], bob.one("GET", at("/files/%v", j.model["id"]), nil, "FileSchema")["download_count"]),
		"1 likes, 1 makes, 3 files, 2 downloads")
	bob.holds("likes", bob.list("/users/bob/likes", anyThing), j.thing["id"], true)
	bob.holds("downloads", bob.list("/users/bob/downloads", "ThingSchema"), j.thing["id"], true)
	for _, change := range [][2]string{{"PATCH", path}, {"DELETE", path}, {"DELETE", at("%s/files/%v", path, j.plastic)}} {
		bob.refused(403, change[0], change[1], legacyObject{"name": "mine"})
	}
	changed := ada.one("PATCH", path, legacyObject{"name": "Dish", "license": "pd0", "category": "Art",
		"tags": []string{"bowl"}}, "ThingSchema")
	ada.same("changed", at("%v, %v, %d", changed["name"], changed["license"], len(legacyObjects(changed["tags"]))),
		"Dish, Creative Commons - Public Domain Dedication, 1")
	ada.done("DELETE", at("%s/files/%v", path, j.plastic), "null")
	ada.refused(404, "GET", at("%s/files/%v", path, j.plastic), nil)
	ada.refused(404, "GET", at("/files/%v", j.plastic), nil)
	ada.same("files", len(ada.list(path+"/files", "FileSchema")), 2)
	ada.done("DELETE", path, "null")
	for _, gone := range []string{path, path + "/files", path + "/comments", at("/files/%v", j.model["id"]),
		at("/files/%v/download", j.model["id"])} {
		bob.refused(404, "GET", gone, nil)
	}
	ada.refused(404, "DELETE", path, nil)
	bob.holds("newest", bob.list("/newest", "ShortThingSchema"), j.thing["id"], false)
	bob.one("GET", at("/copies/%v", j.made["id"]), nil, "CopySchema")
	bob.one("GET", at("/things/%v", j.remix["id"]), nil, "ThingSchema")
	bob.list("/users/me/downloads", "ThingSchema")
	bob.list("/users/me/likes", anyThing)
	bob.done("DELETE", at("/copies/%v", j.made["id"]), nil)
	bob.refused(404, "GET", at("/copies/%v", j.made["id"]), nil)
}

// refusals sends requests without a valid token, and for objects that do not exist.
func (j *journey) refusals() {
	ada := j.ada
	nobody, stranger := &legacyClient{T: ada.T, base: j.server.URL}, &legacyClient{T: ada.T, base: j.server.URL,
		token: "not-a-token"}
	for _, path := range []string{"/newest", "/users/me", "/categories", "/search/donut", "/copies/",
		at("/things/%v", j.remix["id"]), "/things/99999"} {
		nobody.refused(401, "GET", path, nil)
		stranger.refused(401, "GET", path, nil)
	}
	for _, path := range []string{"/things/", "/files/0/FinalizeFiles", "/collections/",
		at("/things/%v/likes", j.remix["id"])} {
		nobody.refused(401, "POST", path, legacyObject{"name": "A"})
	}
	for _, path := range []string{"/groups/1", "/apps/1", "/things/99999", "/files/99999", "/copies/99999",
		"/comments/99999", "/collections/99999", "/things/99999/likes", "/users/nobody-of-that-name/things"} {
		ada.refused(404, "GET", path, nil)
	}
}
