package legacy_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/test/servertest"
)

// publishedOnly are lookups that the specification of the legacy wire format does not describe.
// Their shapes are checked against the tables of the published interface in every test that calls
// them.
var publishedOnly = []string{
	"/users/{username}/following", "/users/{username}/followers", "/users/{username}/search",
	"/users/{username}/event-count",
	"/users/{username}/unread-message-count", "/users/{username}/recommended-things", "/users/{username}/recommended-tags",
	"/users/{username}/collections/all", "/users/{username}/collections/true", "/users/{username}/collections/false",
	"/users/{username}/all-collected-things", "/users/{username}/likesids", "/users/{username}/groups",
	"/users/{username}/stats-by-day/{startDate}/{endDate}", "/users/{username}/stats-by-thing/{startDate}/{endDate}",
	"/things/0/random", "/things/{thing_id}/package-url", "/things/{thing_id}/prints", "/copies/{copy_id}/root-comments",
	"/copies/{copy_id}/threaded-comments",
	"/collections/{thing_id}/by-thing-id", "/events", "/events/{id}", "/groups", "/printers/0/models",
	"/printers/0/brands",
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
		eve.Query(`mutation ($id: ID!) { createMake(input: {thingId: $id}) { make { id } } }`,
			servertest.Object{"id": servertest.ID(gone)}, &made)
		ada.Do("DELETE", fmt.Sprintf("/things/%d", gone), nil).Want(t, 200)
		comment := servertest.ReadObject(t, eve.Do("POST", fmt.Sprintf("/things/%d/comments", bare),
			servertest.Object{"body": "Hm."}))
		eve.Do("DELETE", fmt.Sprintf("/comments/%v", comment["id"]), nil).Want(t, 200)
		collection := servertest.ReadObject(t, eve.Do("POST", "/collections/", servertest.Object{"name": "Nothing"}))
		ids := map[string]any{
			"thing_id": bare, "copy_id": made.CreateMake.Make.ID, "comment_id": comment["id"], "collection_id": collection["id"],
			"username": "eve", "term": "nothing-of-the-kind", "tag": "none", "slug": "dice",
		}
		look := func(client *servertest.Client, what string, rows []struct{ Path, Kind string }) {
			old := &legacyClient{T: t, base: s.URL, token: client.Token}
			for _, row := range rows {
				path := regexp.MustCompile(`\{(\w+)\}`).
					ReplaceAllStringFunc(row.Path, func(name string) string { return fmt.Sprint(ids[strings.Trim(name, "{}")]) })
				status, text := old.do("GET", path, nil, "")
				if v := old.take(200, status, text, row.Kind, what+": "+path); what == "empty" &&
					strings.HasPrefix(row.Kind, "[") && v == nil {
					t.Errorf("%s: null, want []", path)
				}
			}
		}
		look(eve, "empty", servertest.Lookups)

		// ada has objects of every kind.
		full := servertest.FullThing(t, s, ada, bob)
		maps.Copy(ids, full)
		look(ada, "full", slices.Concat(servertest.Lookups, servertest.InFullWorld))
		for _, path := range []string{"/newest", "/featured", "/popular", "/copies", "/comments", "/collections", "/tags",
			"/users/ada/downloads", "/search/bracket", "/things/{thing_id}/ancestors",
			"/things/{thing_id}/likes", "/things/{thing_id}/images", "/things/{thing_id}/copies", "/things/{thing_id}/comments",
			"/users/ada/likes", "/users/ada/collections"} {
			path = strings.ReplaceAll(path, "{thing_id}", fmt.Sprint(full["thing_id"]))
			if body := string(ada.Get(path).Want(t, 200).Bytes); len(body) < 30 {
				t.Errorf("%s of the full world: %s", path, body)
			}
		}

		// Every GET path in the OpenAPI description was requested.
		var described struct{ Paths map[string]map[string]any }
		s.Client("").Get("/openapi.json").Want(t, 200, &described)
		for path, methods := range described.Paths {
			known := slices.ContainsFunc(slices.Concat(servertest.Lookups, servertest.InFullWorld),
				func(row struct{ Path, Kind string }) bool { return row.Path == path })
			if methods["get"] != nil && !known && !slices.Contains(publishedOnly, path) && path != "/files/{file_id}/download" {
				t.Errorf("GET %s is looked up in neither world", path)
			}
		}
	})
}
