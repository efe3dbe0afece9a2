package servertest

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Cube returns the first triangles of a cube of 12 as ASCII STL. With fewer than 12, the cube is
// open.
func Cube(side float64, triangles int) []byte {
	corners := [][3]float64{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}}
	faces := [][3]int{{0, 2, 1}, {0, 3, 2}, {4, 5, 6}, {4, 6, 7}, {0, 1, 5}, {0, 5, 4}, {1, 2, 6}, {1, 6, 5}, {2, 3, 7},
		{2, 7, 6}, {3, 0, 4}, {3, 4, 7}}
	var b strings.Builder
	b.WriteString("solid cube\n")
	for _, face := range faces[:triangles] {
		b.WriteString("facet normal 0 0 0\nouter loop\n")
		for _, i := range face {
			fmt.Fprintf(&b, "vertex %g %g %g\n", corners[i][0]*side, corners[i][1]*side, corners[i][2]*side)
		}
		b.WriteString("endloop\nendfacet\n")
	}
	return []byte(b.String() + "endsolid cube\n")
}

// EveryLookup returns the responses of a client for all lookups, by path.
func EveryLookup(s *Server, c *Client, world map[string]any) map[string]string {
	responses := make(map[string]string)
	for _, row := range slices.Concat(Lookups, InFullWorld) {
		for _, more := range []map[string]any{nil, {"slug": "dice", "username": "bob", "term": "bracket"}} {
			path := regexp.MustCompile(`\{(\w+)\}`).ReplaceAllStringFunc(row.Path, func(name string) string {
				name = strings.Trim(name, "{}")
				if other, ok := more[name]; ok {
					return fmt.Sprint(other)
				}
				return fmt.Sprint(world[name])
			})
			responses[path] = string(c.Get(path).Bytes)
		}
	}
	return responses
}

// PublishedThing publishes a thing with one model and returns its id.
func PublishedThing(t *testing.T, c *Client, name string) int64 {
	t.Helper()
	id := c.Thing(name)
	c.Finalize("thing", id, c.Upload(name+".stl", Mesh(t, "hschendel_simple_bin.stl"))).Want(t, 200)
	c.Publish(id).Want(t, 200)
	return id
}

// Lookups are paths, with the published type of their response. Placeholders such as {thing_id} are
// replaced by IDs of the full or the empty catalogue.
var Lookups = []struct{ Path, Kind string }{
	{"/featured", "[FeaturedSchema]"}, {"/newest", "[ShortThingSchema]"}, {"/popular", "[ShortThingSchema]"},
	{"/search", "ThingHits"}, {"/search/{term}", "ThingHits"}, {"/search/{tag}/tag", "ThingHits"},
	{"/search/{term}/autocomplete", "ThingHits"},
	{"/search/{username}?type=users", "UserHits"},
	{"/things/{thing_id}", "ThingSchema"}, {"/things/{thing_id}/files", "[FileSchema]"},
	{"/things/{thing_id}/images", "[ThingImage]"},
	{"/things/{thing_id}/likes", "[UserSummary]"}, {"/things/{thing_id}/tags", "[Tag]"},
	{"/things/{thing_id}/categories", "[Category]"},
	{"/things/{thing_id}/ancestors", "[ShortThingSchema]"}, {"/things/{thing_id}/derivatives", "[ShortThingSchema]"},
	{"/things/{thing_id}/copies", "[CopySchema]"},
	{"/things/{thing_id}/comments", "[CommentSchema]"}, {"/things/{thing_id}/root-comments", "[CommentSchema]"},
	{"/things/{thing_id}/threaded-comments", "Threads"},
	{"/users/{username}", "UserSchema"}, {"/users/{username}/things", "[ShortThingSchema]"},
	{"/users/{username}/likes", "[ShortThingSchema]"},
	{"/users/{username}/favorites", "[ShortThingSchema]"}, {"/users/{username}/copies", "[CopySchema]"},
	{"/users/{username}/collections", "[Collection]"},
	{"/users/{username}/downloads", "[ThingSchema]"}, {"/users/{username}/search/{term}", "ThingHits"},
	{"/copies", "[CopySchema]"}, {"/copies/{copy_id}", "CopySchema"}, {"/copies/{copy_id}/images", "[ThingImage]"},
	{"/copies/{copy_id}/likes", "[UserSummary]"},
	{"/copies/{copy_id}/comments", "[CommentSchema]"},
	{"/comments", "[CommentSchema]"}, {"/comments/{comment_id}", "CommentSchema"},
	{"/comments/{comment_id}/replies", "[CommentSchema]"},
	{"/categories", "[Category]"}, {"/categories/{slug}", "CategoryTree"},
	{"/categories/{slug}/things", "[ShortThingSchema]"},
	{"/tags", "[Tag]"}, {"/tags/0/popular", "[Tag]"}, {"/tags/{tag}/search-tags", "[TagCount]"},
	{"/collections", "[Collection]"}, {"/collections/{collection_id}", "Collection"},
	{"/collections/{collection_id}/things", "[ShortThingSchema]"},
}

// InFullWorld are lookups of objects that exist only in the full catalogue.
var InFullWorld = []struct{ Path, Kind string }{
	{"/files/{file_id}", "FileSchema"}, {"/files/{file_id}/finalize", "FileSchema"}, {"/things/{thing_id}/files/{file_id}",
		"FileSchema"},
	{"/things/{thing_id}/images/{image_id}", "ImageSummary"}, {"/tags/{tag}", "Tag"},
	{"/tags/{tag}/things", "[ShortThingSchema]"}, {"/files/{image_id}", "FileSchema"},
}

// FullThing creates a featured thing of ada's with everything that a thing can have, and returns
// all IDs by the name of their path parameter.
func FullThing(t *testing.T, s *Server, ada, bob *Client) map[string]any {
	t.Helper()
	publish := func(c *Client, fields Object) (id, file int64) {
		thing := ReadObject(t, c.Do("POST", "/things/", fields))
		id = int64(thing["id"].(float64))
		file = c.Upload("part.stl", Mesh(t, "numpystl_HalfDonut_bin.stl"))
		c.Finalize("thing", id, file).Want(t, 200)
		c.Publish(id).Want(t, 200)
		return id, file
	}
	first, _ := publish(bob, Object{"name": "First bracket", "license": "cc", "category": "Tools", "description": "First.",
		"tags": []string{"first"}})
	id, file := publish(ada, Object{"name": "Bracket", "license": "cc-sa", "category": "Parts", "description": "*Holds*.",
		"instructions": "Print.", "tags": []string{"holder", "wall mount"}, "ancestors": []any{first}, "is_wip": 1})
	image := ada.Upload("a.png", Mesh(t, "lib3mf_thumbnail.png"))
	ada.Finalize("thing", id, image, ada.Upload("a.pdf", Mesh(t, "own_assembly.pdf"))).Want(t, 200)
	path := fmt.Sprintf("/things/%d", id)
	var made struct {
		CreateMake struct{ Make struct{ ID string } }
	}
	bob.Query(`mutation ($id: ID!) { createMake(input: {thingId: $id, description: "Went *well*."}) { make { id } } }`,
		Object{"id": ID(id)}, &made)
	var makeID int64
	_, _ = fmt.Sscan(made.CreateMake.Make.ID, &makeID)
	bob.Finalize("copy", makeID, bob.Upload("b.png", Mesh(t, "lib3mf_thumbnail.png"))).Want(t, 200)
	comment := ReadObject(t, bob.Do("POST", path+"/comments", Object{"body": "It *holds*."}))
	ada.Do("POST", fmt.Sprintf("/comments/%v/reply", comment["id"]), Object{"body": "Glad."}).Want(t, 200)
	bob.Finalize("comment", int64(comment["id"].(float64)), bob.Upload("c.stl", Mesh(t, "hschendel_simple_bin.stl"))).
		Want(t, 200)
	ada.Do("POST", fmt.Sprintf("/copies/%d/likes", makeID), nil).Want(t, 200)
	ada.Do("POST", fmt.Sprintf("/copies/%d/comments", makeID), Object{"body": "Neat."}).Want(t, 200)
	bob.Do("POST", path+"/likes", nil).Want(t, 200)
	ada.Do("POST", fmt.Sprintf("/things/%d/likes", first), nil).Want(t, 200)
	collection := ReadObject(t, ada.Do("POST", "/collections/", Object{"name": "Brackets", "description": "All."}))
	ada.Do("POST", fmt.Sprintf("/collections/%v/thing/%d", collection["id"], id), nil).Want(t, 200)
	ada.Get(fmt.Sprintf("/files/%d/download", file)).Want(t, http.StatusFound)
	ada.Do("PATCH", "/users/me", Object{"first_name": "Ada", "last_name": "L.", "bio": "I *print*.",
		"location": "London"}).Want(t, 200)
	s.Administrator().Query(`mutation ($id: ID!) { featureThing(input: {id: $id}) { thing { isFeatured featuredAt } } }`,
		Object{"id": ID(id)}, new(any))
	s.Fold()
	return map[string]any{
		"thing_id": id, "file_id": file, "image_id": image, "copy_id": makeID, "comment_id": comment["id"],
		"collection_id": collection["id"],
		"username":      "ada", "term": "bracket", "tag": "wall_mount", "slug": "tools",
	}
}

// Keyed returns a client like by whose requests have the key of an unlisted thing of owner.
func Keyed(t *testing.T, owner, by *Client, thing int64) *Client {
	t.Helper()
	c := by.For(t)
	c.Key = KeyOf(t, owner, thing)
	return c
}

// KeyOf returns the key of an unlisted thing from the URL that its owner shares.
func KeyOf(t *testing.T, owner *Client, thing int64) string {
	t.Helper()
	var v struct{ Thing struct{ ShareURL string } }
	owner.Query(`query ($id: ID!) { thing(id: $id) { shareUrl } }`, Object{"id": ID(thing)}, &v)
	u, err := url.Parse(v.Thing.ShareURL)
	if err != nil || u.Path != fmt.Sprint("/thing:", thing) || u.Query().Get("key") == "" {
		t.Fatalf("the URL of thing %d is %q (%v), want a key", thing, v.Thing.ShareURL, err)
	}
	return u.Query().Get("key")
}
