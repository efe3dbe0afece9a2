package search_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/test/servertest"
)

// hits returns the IDs of all results of a REST search, from all pages.
func hits(t *testing.T, c *servertest.Client, path string) (ids []int64) {
	t.Helper()
	for path != "" {
		var found struct{ Hits []struct{ ID int64 } }
		r := c.Get(path).Want(t, 200, &found)
		for _, h := range found.Hits {
			ids = append(ids, h.ID)
		}
		path = ""
		for _, link := range strings.Split(r.Header.Get("Link"), ", ") {
			if address, ok := strings.CutSuffix(link, `>; rel="next"`); ok {
				path = strings.TrimPrefix(address, "<")
			}
		}
	}
	return ids
}

// TestSearchByIDOrURL checks that the ID of a thing, or its URL on this server, finds that thing
// before all others, whatever its text is. Drafts are not found.
func TestSearchByIDOrURL(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		publish := func(name string) int64 {
			id := ada.Thing(name)
			ada.Finalize("thing", id, ada.Upload("a.stl", []byte("solid a\nendsolid a\n"))).Want(t, 200)
			ada.Publish(id).Want(t, 200)
			return id
		}
		plain := publish("Bracket")
		var others []int64
		for i := range 5 {
			others = append(others, publish(fmt.Sprintf("Part %d no. %d", plain, i)))
		}
		slices.Reverse(others)
		draft := ada.Thing("Draft")
		address := fmt.Sprintf("%s/thing:%d", s.URL, plain)
		for _, query := range []string{
			fmt.Sprint(plain), fmt.Sprintf(" %d ", plain), address, address + "/files", strings.TrimPrefix(address, "http://"),
			fmt.Sprintf("/thing:%d", plain), fmt.Sprintf("thing:%d", plain), fmt.Sprintf("%s/things/%d", s.URL, plain),
			fmt.Sprintf("%s/view/%d", s.URL, plain),
		} {
			want := append([]int64{plain}, others...)
			for _, path := range []string{"/search?per_page=2&term=" + url.QueryEscape(query), "/search/" +
				url.PathEscape(query) + "?per_page=2", "/api/search/" + url.PathEscape(query) + "/?sort=text"} {
				if got := hits(t, ada, path); !slices.Equal(got, want) {
					t.Errorf("%s finds %v, want %v", path, got, want)
				}
			}
		}
		for _, query := range []string{fmt.Sprint(draft), "987654", "99999999999999999999",
			fmt.Sprintf("%s/thing:%d", s.URL, draft)} {
			if got := hits(t, ada, "/search?term="+url.QueryEscape(query)); len(got) != 0 {
				t.Errorf("%q finds %v, want nothing", query, got)
			}
		}
		if got := hits(t, ada, "/search?license=bsd&term="+fmt.Sprint(plain)); len(got) != 0 {
			t.Errorf("a filter that the thing does not pass lets %v through", got)
		}
	})
}

// TestLenientSearch checks that an unknown sort order means relevance, and that the filters of the
// published interface are applied or ignored.
func TestLenientSearch(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		var ids, files []int64
		for _, name := range []string{"Gear", "Gear box"} {
			id, file := ada.Thing(name), ada.Upload("a.stl", []byte("solid a\nendsolid a\n"))
			ada.Finalize("thing", id, file).Want(t, 200)
			ada.Publish(id).Want(t, 200)
			ids, files = append(ids, id), append(files, file)
		}
		all := hits(t, ada, "/search/gear")
		for query, want := range map[string][]int64{
			"sort=bestest": all, "sort=": all, "sort=RELEVANT": all,
			"customizable=1": all, "is_edu_approved=1": all, "is_challenge_winner=1": all,
			"show_customized=1&subjects=art&grades=1&standards=x": all,
			"collected_by=9999": nil, "collected_by=0": nil, "liked_by=0": nil, "made_by=0": nil, "user_id=0": nil,
			"posted_before=2012-01-01T00:00:00+00:00": nil, "posted_after=2012-01-01T00:00:00+00:00": all,
			"posted_before=now+1d": all,
		} {
			if got := hits(t, ada, "/search/gear?"+query); !slices.Equal(got, want) {
				t.Errorf("%s finds %v, want %v", query, got, want)
			}
		}
		// Do this last, because things in collections rank higher.
		collection := servertest.ReadObject(t, bob.Do("POST", "/collections", servertest.Object{"name": "Gears"}))
		bob.Do("POST", fmt.Sprintf("/collections/%v/thing/%d", collection["id"], ids[0]), nil).Want(t, 200)
		bobID := servertest.ReadObject(t, bob.Get("/users/me"))["id"]
		if got, want := hits(t, ada, fmt.Sprintf("/search/gear?collected_by=%v", bobID)), ids[:1]; !slices.Equal(got, want) {
			t.Errorf("collected by a user: found %v, want %v", got, want)
		}
		// The order of one of these is not that of relevance.
		bob.Do("POST", fmt.Sprintf("/things/%d/likes", ids[1]), nil).Want(t, 200)
		bob.Get(fmt.Sprintf("/files/%d/download", files[0])).Want(t, 302)
		s.Fold()
		for sort, want := range map[string][]int64{"likes": {ids[1], ids[0]}, "downloads": ids} {
			if got := hits(t, ada, "/search/gear?sort="+sort); !slices.Equal(got, want) {
				t.Errorf("sorted by %s: %v, want %v", sort, got, want)
			}
		}
		for _, query := range []string{"type=users&sort=things", "type=makes&sort=designs", "type=collections&sort=x"} {
			ada.Get("/search/gear?"+query).Want(t, 200)
		}
	})
}

// TestSearchOfUser checks that a search in the things of a user finds those, and that it is not
// found if the user does not exist.
func TestSearchOfUser(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		var ids []int64
		for _, c := range []*servertest.Client{ada, bob} {
			id := c.Thing("Gear")
			c.Finalize("thing", id, c.Upload("a.stl", []byte("solid a\nendsolid a\n"))).Want(t, 200)
			c.Publish(id).Want(t, 200)
			ids = append(ids, id)
		}
		for path, want := range map[string][]int64{
			"/users/ada/search/gear": ids[:1], "/users/ada/search": ids[:1], "/users/me/search/gear": ids[:1],
			"/users/bob/search/gear?type=things":      ids[1:],
			"/users/bob/search/gear?type=collections": nil,
		} {
			if got := hits(t, ada, path); !slices.Equal(got, want) {
				t.Errorf("%s finds %v, want %v", path, got, want)
			}
		}
		for _, name := range []string{"carol", "carol%20x", "-1", strings.Repeat("x", 300)} {
			for _, path := range []string{"/search/gear", "/search", "/search/gear?type=makes", "/things"} {
				ada.Get("/users/"+name+path).Want(t, 404)
			}
		}
	})
}

// TestSearchCollections checks the order and the filters of a search for collections.
func TestSearchCollections(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		var things, collections []int64
		for i := range 3 {
			id := ada.Thing(fmt.Sprint("Part ", i))
			ada.Finalize("thing", id, ada.Upload("a.stl", []byte("solid a\nendsolid a\n"))).Want(t, 200)
			ada.Publish(id).Want(t, 200)
			things = append(things, id)
		}
		for i, name := range []string{"Parts", "Other", "Gear parts"} {
			var collection struct{ ID int64 }
			ada.Do("POST", "/collections", servertest.Object{"name": name, "description": []string{"", "Gear and other parts.",
				""}[i]}).Want(t, 200, &collection)
			for _, thing := range things[:[]int{1, 3, 2}[i]] {
				ada.Do("POST", fmt.Sprintf("/collections/%d/thing/%d", collection.ID, thing), nil).Want(t, 200)
			}
			collections = append(collections, collection.ID)
		}
		bob.Do("POST", fmt.Sprintf("/collections/%d/like", collections[2]), nil).Want(t, 200)
		s.Fold()
		bobID := servertest.ReadObject(t, bob.Get("/users/me"))["id"]
		most := []int64{collections[1], collections[2], collections[0]}
		for query, want := range map[string][]int64{
			"/parts/?type=collections&sort=things": most, "/?type=collections&sort=things": most,
			"/gear?type=collections&sort=things":                              most[:2],
			"/parts/?type=collections&sort=newest":                            {collections[2], collections[1], collections[0]},
			"/parts/?type=collections&is_featured=1":                          nil,
			"/parts/?type=collections&is_featured=0&sort=things":              most,
			fmt.Sprintf("/parts/?type=collections&liked_by=%v", bobID):        {collections[2]},
			"/parts/?type=collections&liked_by=0":                             nil,
			"/?type=collections&liked_by=999999":                              nil,
			fmt.Sprintf("/parts/?type=collections&liked_by=%v&page=2", bobID): nil,
			fmt.Sprintf("/parts/?type=things&liked_by=%v&sort=things", bobID): nil,
		} {
			if got := hits(t, ada, "/search"+query); !slices.Equal(got, want) {
				t.Errorf("%s finds %v, want %v", query, got, want)
			}
		}
	})
}
