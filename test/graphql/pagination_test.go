package graphql_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/meshyard/meshyard/test/servertest"
)

// TestLinksWhilePublishing checks that a client that follows next links receives each thing that
// existed at the start exactly once, while others are published and deleted. The token is in the
// first URL only.
func TestLinksWhilePublishing(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		stl := servertest.Mesh(t, "hschendel_simple_bin.stl")
		publish := func(name string) int64 {
			id := ada.Thing(name)
			ada.Finalize("thing", id, ada.Upload("a.stl", stl)).Want(t, 200)
			ada.Publish(id).Want(t, 200)
			return id
		}
		var there, doomed []int64
		for i := range 23 {
			there = append(there, publish(fmt.Sprint("There ", i)))
			if i%4 == 0 {
				doomed = append(doomed, publish(fmt.Sprint("Doomed ", i)))
			}
		}
		s.Administrator().Query(`mutation ($id: ID!) { featureThing(input: {id: $id}) { thing { id } } }`,
			servertest.Object{"id": servertest.ID(there[0])}, new(any))
		paths := []string{"/newest?per_page=2", "/popular?per_page=3", "/search/?sort=newest&per_page=2",
			"/users/ada/things?per_page=2", "/categories/tools/things?per_page=3", "/search/there?per_page=4&sort=popular"}
		stop, done := make(chan struct{}), sync.WaitGroup{}
		done.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				publish(fmt.Sprint("Later, and there ", i))
				if i%3 == 0 && len(doomed) > 0 {
					ada.Do("DELETE", fmt.Sprintf("/things/%d", doomed[0]), nil).Want(t, 200)
					doomed = doomed[1:]
				}
			}
		})
		nobody := s.Client("")
		for _, path := range paths {
			seen, next, pages := make(map[int64]bool), path+"&access_token="+ada.Token, 0
			for ; next != "" && pages < 300; pages++ {
				response := nobody.Get(next)
				var things []struct{ ID int64 }
				if strings.HasPrefix(path, "/search") {
					var found struct{ Hits []struct{ ID int64 } }
					response.Want(t, 200, &found)
					things = found.Hits
				} else {
					response.Want(t, 200, &things)
				}
				for _, thing := range things {
					if seen[thing.ID] {
						t.Errorf("%s: thing %d comes twice", path, thing.ID)
					}
					seen[thing.ID] = true
				}
				next = servertest.NextOf(response)
			}
			for _, id := range there {
				if !seen[id] {
					t.Errorf("%s: thing %d was passed over", path, id)
				}
			}
			if pages < 6 {
				t.Errorf("%s: %d pages", path, pages)
			}
		}
		close(stop)
		done.Wait()
	})
}

// TestConditionalGet checks that a response that the client has cached is not sent again unless it
// changed.
func TestConditionalGet(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		ids := servertest.FullThing(t, s, ada, bob)
		path := fmt.Sprintf("/things/%v", ids["thing_id"])
		get := func(path, tag string) *servertest.Response {
			r := bob.Request("GET", path, nil)
			if tag != "" {
				r.Header.Set("If-None-Match", tag)
			}
			return bob.Send(r)
		}
		for _, path := range []string{path, "/newest", "/users/ada", "/categories", "/search/bracket"} {
			response := get(path, "").Want(t, 200)
			tag := response.Header.Get("ETag")
			if !strings.HasPrefix(tag, `W/"`) || response.Header.Get("Cache-Control") != "private, no-cache" ||
				!strings.Contains(strings.Join(response.Header.Values("Vary"), ","), "Authorization") {
				t.Errorf("%s: ETag %q, Cache-Control %q, Vary %q", path, tag, response.Header.Get("Cache-Control"),
					response.Header.Values("Vary"))
			}
			for _, sent := range []string{tag, strings.TrimPrefix(tag, "W/"), `"other", ` + tag, "*"} {
				if again := get(path, sent); again.StatusCode != http.StatusNotModified || len(again.Bytes) > 0 ||
					again.Header.Get("ETag") != tag {
					t.Errorf("%s with If-None-Match %s: %d, %d bytes, ETag %q", path, sent, again.StatusCode, len(again.Bytes),
						again.Header.Get("ETag"))
				}
			}
			get(path, `W/"other"`).Want(t, 200)
		}
		tag := get(path, "").Header.Get("ETag")
		ada.Do("PATCH", path, servertest.Object{"instructions": "Print it twice."}).Want(t, 200)
		if changed := get(path, tag).Want(t, 200); changed.Header.Get("ETag") == tag {
			t.Errorf("the thing changed, and its tag %s did not", tag)
		}
		if h := ada.Do("PATCH", path, servertest.Object{}).Want(t, 200).Header; h.Get("ETag") != "" ||
			h.Get("Cache-Control") != "no-store" {
			t.Errorf("PATCH: ETag %q, Cache-Control %q", h.Get("ETag"), h.Get("Cache-Control"))
		}
	})
}
