package server_test

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/cmd/meshyard/server/servertest"
)

// lookups are paths, with the published type of their response. Placeholders such as {thing_id} are
// replaced by IDs of the full or the empty catalogue.
var lookups = []struct{ path, kind string }{
	{"/featured", "[FeaturedSchema]"}, {"/newest", "[ShortThingSchema]"}, {"/popular", "[ShortThingSchema]"},
	{"/search", "ThingHits"}, {"/search/{term}", "ThingHits"}, {"/search/{tag}/tag", "ThingHits"}, {"/search/{term}/autocomplete", "ThingHits"},
	{"/search/{username}?type=users", "UserHits"},
	{"/things/{thing_id}", "ThingSchema"}, {"/things/{thing_id}/files", "[FileSchema]"}, {"/things/{thing_id}/images", "[ThingImage]"},
	{"/things/{thing_id}/likes", "[UserSummary]"}, {"/things/{thing_id}/tags", "[Tag]"}, {"/things/{thing_id}/categories", "[Category]"},
	{"/things/{thing_id}/ancestors", "[ShortThingSchema]"}, {"/things/{thing_id}/derivatives", "[ShortThingSchema]"}, {"/things/{thing_id}/copies", "[CopySchema]"},
	{"/things/{thing_id}/comments", "[CommentSchema]"}, {"/things/{thing_id}/root-comments", "[CommentSchema]"}, {"/things/{thing_id}/threaded-comments", "Threads"},
	{"/users/{username}", "UserSchema"}, {"/users/{username}/things", "[ShortThingSchema]"}, {"/users/{username}/likes", "[ShortThingSchema]"},
	{"/users/{username}/favorites", "[ShortThingSchema]"}, {"/users/{username}/copies", "[CopySchema]"}, {"/users/{username}/collections", "[Collection]"},
	{"/users/{username}/downloads", "[ThingSchema]"}, {"/users/{username}/search/{term}", "ThingHits"},
	{"/copies", "[CopySchema]"}, {"/copies/{copy_id}", "CopySchema"}, {"/copies/{copy_id}/images", "[ThingImage]"}, {"/copies/{copy_id}/likes", "[UserSummary]"},
	{"/copies/{copy_id}/comments", "[CommentSchema]"},
	{"/comments", "[CommentSchema]"}, {"/comments/{comment_id}", "CommentSchema"}, {"/comments/{comment_id}/replies", "[CommentSchema]"},
	{"/categories", "[Category]"}, {"/categories/{slug}", "CategoryTree"}, {"/categories/{slug}/things", "[ShortThingSchema]"},
	{"/tags", "[Tag]"}, {"/tags/0/popular", "[Tag]"}, {"/tags/{tag}/search-tags", "[TagCount]"},
	{"/collections", "[Collection]"}, {"/collections/{collection_id}", "Collection"}, {"/collections/{collection_id}/things", "[ShortThingSchema]"},
}

// inFullWorld are lookups of objects that exist only in the full catalogue.
var inFullWorld = []struct{ path, kind string }{
	{"/files/{file_id}", "FileSchema"}, {"/files/{file_id}/finalize", "FileSchema"}, {"/things/{thing_id}/files/{file_id}", "FileSchema"},
	{"/things/{thing_id}/images/{image_id}", "ImageSummary"}, {"/tags/{tag}", "Tag"}, {"/tags/{tag}/things", "[ShortThingSchema]"}, {"/files/{image_id}", "FileSchema"},
}

// publishedOnly are lookups that the specification of the legacy wire format does not describe.
// Their shapes are checked against the tables of the published interface in every test that calls
// them.
var publishedOnly = []string{
	"/users/{username}/following", "/users/{username}/followers", "/users/{username}/search", "/users/{username}/event-count",
	"/users/{username}/unread-message-count", "/users/{username}/recommended-things", "/users/{username}/recommended-tags",
	"/users/{username}/collections/all", "/users/{username}/collections/true", "/users/{username}/collections/false",
	"/users/{username}/all-collected-things", "/users/{username}/likesids", "/users/{username}/groups",
	"/users/{username}/stats-by-day/{startDate}/{endDate}", "/users/{username}/stats-by-thing/{startDate}/{endDate}",
	"/things/0/random", "/things/{thing_id}/package-url", "/things/{thing_id}/prints", "/copies/{copy_id}/root-comments", "/copies/{copy_id}/threaded-comments",
	"/collections/{thing_id}/by-thing-id", "/events", "/events/{id}", "/groups", "/printers/0/models", "/printers/0/brands",
	"/programs/0/all",
}

// TestLegacyResponseShapes checks that no field that the specification of the legacy wire format
// requires is null or missing, in a full and in an empty catalogue. The shapes are those of an
// existing client.
func TestLegacyResponseShapes(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob, eve := s.User("ada"), s.User("bob"), s.User("eve")
		// eve has almost nothing: an empty draft, a make of a deleted thing, a deleted comment, and an
		// empty collection.
		gone, bare := ada.Thing("Gone"), eve.Thing("Bare")
		ada.Finalize("thing", gone, ada.Upload("a.stl", servertest.Mesh(t, "hschendel_simple_bin.stl"))).Want(t, 200)
		ada.Publish(gone).Want(t, 200)
		var made struct {
			CreateMake struct{ Make struct{ ID string } }
		}
		eve.Query(`mutation ($id: ID!) { createMake(input: {thingId: $id}) { make { id } } }`, object{"id": servertest.ID(gone)}, &made)
		ada.Do("DELETE", fmt.Sprintf("/things/%d", gone), nil).Want(t, 200)
		comment := read(t, eve.Do("POST", fmt.Sprintf("/things/%d/comments", bare), object{"body": "Hm."}))
		eve.Do("DELETE", fmt.Sprintf("/comments/%v", comment["id"]), nil).Want(t, 200)
		collection := read(t, eve.Do("POST", "/collections/", object{"name": "Nothing"}))
		ids := map[string]any{
			"thing_id": bare, "copy_id": made.CreateMake.Make.ID, "comment_id": comment["id"], "collection_id": collection["id"],
			"username": "eve", "term": "nothing-of-the-kind", "tag": "none", "slug": "dice",
		}
		look := func(client *servertest.Client, what string, rows []struct{ path, kind string }) {
			old := &legacyClient{T: t, base: s.URL, token: client.Token}
			for _, row := range rows {
				path := regexp.MustCompile(`\{(\w+)\}`).ReplaceAllStringFunc(row.path, func(name string) string { return fmt.Sprint(ids[strings.Trim(name, "{}")]) })
				status, text := old.do("GET", path, nil, "")
				if v := old.take(200, status, text, row.kind, what+": "+path); what == "empty" && strings.HasPrefix(row.kind, "[") && v == nil {
					t.Errorf("%s: null, want []", path)
				}
			}
		}
		look(eve, "empty", lookups)

		// ada has objects of every kind.
		full := fullThing(t, s, ada, bob)
		maps.Copy(ids, full)
		look(ada, "full", slices.Concat(lookups, inFullWorld))
		for _, path := range []string{"/newest", "/featured", "/popular", "/copies", "/comments", "/collections", "/tags", "/users/ada/downloads", "/search/bracket", "/things/{thing_id}/ancestors",
			"/things/{thing_id}/likes", "/things/{thing_id}/images", "/things/{thing_id}/copies", "/things/{thing_id}/comments", "/users/ada/likes", "/users/ada/collections"} {
			path = strings.ReplaceAll(path, "{thing_id}", fmt.Sprint(full["thing_id"]))
			if body := string(ada.Get(path).Want(t, 200).Bytes); len(body) < 30 {
				t.Errorf("%s of the full world: %s", path, body)
			}
		}

		// Every GET path in the OpenAPI description was requested.
		var described struct{ Paths map[string]map[string]any }
		s.Client("").Get("/openapi.json").Want(t, 200, &described)
		for path, methods := range described.Paths {
			known := slices.ContainsFunc(slices.Concat(lookups, inFullWorld), func(row struct{ path, kind string }) bool { return row.path == path })
			if methods["get"] != nil && !known && !slices.Contains(publishedOnly, path) && path != "/files/{file_id}/download" {
				t.Errorf("GET %s is looked up in neither world", path)
			}
		}
	})
}

// fullThing creates a featured thing of ada's with everything that a thing can have, and returns
// all IDs by the name of their path parameter.
func fullThing(t *testing.T, s *servertest.Server, ada, bob *servertest.Client) map[string]any {
	t.Helper()
	publish := func(c *servertest.Client, fields object) (id, file int64) {
		thing := read(t, c.Do("POST", "/things/", fields))
		id = int64(thing["id"].(float64))
		file = c.Upload("part.stl", servertest.Mesh(t, "numpystl_HalfDonut_bin.stl"))
		c.Finalize("thing", id, file).Want(t, 200)
		c.Publish(id).Want(t, 200)
		return id, file
	}
	first, _ := publish(bob, object{"name": "First bracket", "license": "cc", "category": "Tools", "description": "First.", "tags": []string{"first"}})
	id, file := publish(ada, object{"name": "Bracket", "license": "cc-sa", "category": "Parts", "description": "*Holds*.", "instructions": "Print.", "tags": []string{"holder", "wall mount"}, "ancestors": []any{first}, "is_wip": 1})
	image := ada.Upload("a.png", servertest.Mesh(t, "lib3mf_thumbnail.png"))
	ada.Finalize("thing", id, image, ada.Upload("a.pdf", servertest.Mesh(t, "own_assembly.pdf"))).Want(t, 200)
	path := fmt.Sprintf("/things/%d", id)
	var made struct {
		CreateMake struct{ Make struct{ ID string } }
	}
	bob.Query(`mutation ($id: ID!) { createMake(input: {thingId: $id, description: "Went *well*."}) { make { id } } }`, object{"id": servertest.ID(id)}, &made)
	var makeID int64
	_, _ = fmt.Sscan(made.CreateMake.Make.ID, &makeID)
	bob.Finalize("copy", makeID, bob.Upload("b.png", servertest.Mesh(t, "lib3mf_thumbnail.png"))).Want(t, 200)
	comment := read(t, bob.Do("POST", path+"/comments", object{"body": "It *holds*."}))
	ada.Do("POST", fmt.Sprintf("/comments/%v/reply", comment["id"]), object{"body": "Glad."}).Want(t, 200)
	bob.Finalize("comment", int64(comment["id"].(float64)), bob.Upload("c.stl", servertest.Mesh(t, "hschendel_simple_bin.stl"))).Want(t, 200)
	ada.Do("POST", fmt.Sprintf("/copies/%d/likes", makeID), nil).Want(t, 200)
	ada.Do("POST", fmt.Sprintf("/copies/%d/comments", makeID), object{"body": "Neat."}).Want(t, 200)
	bob.Do("POST", path+"/likes", nil).Want(t, 200)
	ada.Do("POST", fmt.Sprintf("/things/%d/likes", first), nil).Want(t, 200)
	collection := read(t, ada.Do("POST", "/collections/", object{"name": "Brackets", "description": "All."}))
	ada.Do("POST", fmt.Sprintf("/collections/%v/thing/%d", collection["id"], id), nil).Want(t, 200)
	ada.Get(fmt.Sprintf("/files/%d/download", file)).Want(t, http.StatusFound)
	ada.Do("PATCH", "/users/me", object{"first_name": "Ada", "last_name": "L.", "bio": "I *print*.", "location": "London"}).Want(t, 200)
	s.Administrator().Query(`mutation ($id: ID!) { featureThing(input: {id: $id}) { thing { isFeatured featuredAt } } }`, object{"id": servertest.ID(id)}, new(any))
	s.Fold()
	return map[string]any{
		"thing_id": id, "file_id": file, "image_id": image, "copy_id": makeID, "comment_id": comment["id"], "collection_id": collection["id"],
		"username": "ada", "term": "bracket", "tag": "wall_mount", "slug": "tools",
	}
}
