package permissions_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/test/servertest"
)

// TestDraftsAreHidden checks that nothing reveals a draft to users other than its owner: no list,
// search, count or related object.
func TestDraftsAreHidden(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		world := servertest.FullThing(t, s, ada, bob)
		before := servertest.EveryLookup(s, bob, world)

		draft := servertest.ReadObject(t,
			ada.Do("POST", "/things/", servertest.Object{"name": "Secret draft", "license": "cc", "category": "Dice",
				"description": "Secret words.", "tags": []string{"secret tag", "holder"}, "ancestors": []any{world["thing_id"]}}))
		id := int64(draft["id"].(float64))
		file, image := ada.Upload("secret.stl", servertest.Mesh(t, "hschendel_simple_ascii.stl")),
			ada.Upload("secret.png", servertest.Mesh(t, "lib3mf_thumbnail.png"))
		ada.Finalize("thing", id, file, image).Want(t, 200)
		var made struct {
			CreateMake struct{ Make struct{ ID string } }
		}
		ada.Query(`mutation ($id: ID!) { createMake(input: {thingId: $id, name: "Secret make", description: "Secret."}) { make { id } } }`, servertest.Object{"id": servertest.ID(id)}, &made)
		comment := servertest.ReadObject(t, ada.Do("POST", fmt.Sprintf("/things/%d/comments", id),
			servertest.Object{"body": "Secret thought."}))
		onMake := servertest.ReadObject(t, ada.Do("POST", "/copies/"+made.CreateMake.Make.ID+"/comments",
			servertest.Object{"body": "Secret thought on a make."}))
		ada.Do("POST", fmt.Sprintf("/collections/%v/thing/%d", world["collection_id"], id), nil).Want(t, 200)
		ada.Do("PATCH", fmt.Sprintf("/things/%v", world["thing_id"]), servertest.Object{"ancestors": []any{id}}).Want(t, 200)
		ada.Get(fmt.Sprintf("/files/%d/download", file)).Want(t, 302)
		s.Fold()

		secrets := regexp.MustCompile(fmt.Sprintf(`(?i)secret|/things/%d\b|/files/(%d|%d)\b`, id, file, image))
		after := servertest.EveryLookup(s, bob, world)
		for path, body := range after {
			if at := secrets.FindString(body); at != "" && !strings.Contains(path, "secret") {
				t.Errorf("%s shows bob %q: %.300s", path, at, body)
			}
			if strings.Contains(path, "dice") && body != before[path] {
				t.Errorf("%s changed\nfrom %s\nto   %s", path, before[path], body)
			}
		}
		for _, path := range []string{"/search/secret", "/search/secret?type=makes", "/search/secret tag/tag",
			"/tags/secret_tag/things", "/users/ada/search/secret"} {
			if body := string(bob.Get(strings.ReplaceAll(path, " ", "%20")).Bytes); secrets.MatchString(strings.ReplaceAll(body,
				"secret_tag", "")) && !strings.Contains(body, `"error"`) {
				t.Errorf("%s shows bob %.300s", path, body)
			}
		}
		for path, status := range map[string]int{
			fmt.Sprintf("/things/%d", id): 403, fmt.Sprintf("/files/%d", file): 403, fmt.Sprintf("/things/%d/comments", id): 403,
			fmt.Sprintf("/comments/%v", comment["id"]): 403,
			fmt.Sprintf("/comments/%v", onMake["id"]):  403, "/copies/" + made.CreateMake.Make.ID: 403,
			fmt.Sprintf("/things/%d/images", id): 403,
		} {
			r := bob.Get(path).Want(t, status)
			if strings.Contains(strings.ToLower(string(r.Bytes)), "secret") {
				t.Errorf("%s reveals to bob %s", path, r.Bytes)
			}
		}
		for _, try := range []struct {
			method, path string
			body         any
		}{
			{"POST", fmt.Sprintf("/things/%d/likes", id), nil}, {"POST", fmt.Sprintf("/things/%d/comments", id),
				servertest.Object{"body": "x"}}, {"POST", fmt.Sprintf("/comments/%v/reply", comment["id"]),
				servertest.Object{"body": "x"}},
			{"POST", fmt.Sprintf("/things/%d/copies", id), servertest.Object{"filename": "a.png"}},
			{"PATCH", fmt.Sprintf("/things/%d", id), servertest.Object{"name": "x"}},
			{"DELETE", fmt.Sprintf("/things/%d", id), nil},
			{"DELETE", fmt.Sprintf("/things/%d/files/%d", id, file), nil}, {"POST", "/copies/" + made.CreateMake.Make.ID +
				"/likes", nil}, {"POST", "/things/", servertest.Object{"name": "x", "license": "cc", "category": "Art",
				"ancestors": []any{id}}},
		} {
			if r := bob.Do(try.method, try.path, try.body); r.StatusCode != 403 {
				t.Errorf("%s %s by bob: %d %s", try.method, try.path, r.StatusCode, r.Bytes)
			}
		}
		// ada sees her own draft.
		for _, path := range []string{"/users/ada/things", "/users/me/copies", "/users/me/downloads",
			fmt.Sprintf("/things/%v/ancestors", world["thing_id"])} {
			if body := string(ada.Get(path).Want(t, 200).Bytes); !strings.Contains(body, "Secret") {
				t.Errorf("%s does not show ada her draft: %s", path, body)
			}
		}
	})
}

// TestTagsOfHiddenThings checks that recommendations do not reveal the tags that a liked thing got
// after it was hidden.
func TestTagsOfHiddenThings(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		thing := servertest.PublishedThing(t, ada, "Lamp")
		page := fmt.Sprintf("/things/%d", thing)
		tags := func(c *servertest.Client, want ...string) {
			t.Helper()
			var data struct {
				Me struct{ RecommendedTags []struct{ Slug string } }
			}
			c.Query(`{ me { recommendedTags { slug } } }`, nil, &data)
			var got []string
			for _, tag := range data.Me.RecommendedTags {
				got = append(got, tag.Slug)
			}
			if !slices.Equal(got, want) {
				t.Errorf("recommended tags: got %v, want %v", got, want)
			}
		}
		ada.Do("PATCH", page, servertest.Object{"tags": []string{"lamp"}}).Want(t, 200)
		bob.Do("POST", page+"/likes", nil).Want(t, 200)
		tags(bob, "lamp")
		var hidden struct {
			UnpublishThing struct{ Thing struct{ State string } }
		}
		ada.Query(`mutation ($id: ID!) { unpublishThing(input: {id: $id}) { thing { state } } }`,
			servertest.Object{"id": servertest.ID(thing)}, &hidden)
		ada.Do("PATCH", page, servertest.Object{"tags": []string{"secret"}}).Want(t, 200)
		tags(bob)
		tags(ada, "secret")
		ada.Publish(thing).Want(t, 200)
		tags(bob, "secret")
	})
}
