package graphql_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/graph"
	"github.com/meshyard/meshyard/test/servertest"
)

// lastTimes are the times of activity that the server writes in the background, in responses of
// REST and in GraphQL queries.
var lastTimes = regexp.MustCompile(`"last_active":"[^"]*"|\blast(Active|Used)At\b`)

// TestReadsTogether checks that clients that read at the same time get the same responses as
// clients that read alone: random GraphQL queries, the paths of the REST API and pages, by visitors
// and two users.
func TestReadsTogether(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		world := servertest.FullThing(t, s, ada, bob)
		clients := []*servertest.Client{s.Client(""), ada, bob}

		type request func(c *servertest.Client) string
		var requests []request
		get := func(path string) {
			requests = append(requests, func(c *servertest.Client) string {
				r := c.Get(path)
				return fmt.Sprintf("%s: %d\n%s", path, r.StatusCode, lastTimes.ReplaceAll(r.Bytes, nil))
			})
		}
		var described struct{ Paths map[string]map[string]any }
		s.Client("").Get("/openapi.json").Want(t, 200, &described)
		for path, methods := range described.Paths {
			// Downloads are counted, and random things differ.
			if methods["get"] == nil || strings.HasSuffix(path, "/download") || strings.HasSuffix(path, "/random") {
				continue
			}
			for parameter, known := range world {
				path = strings.ReplaceAll(path, "{"+parameter+"}", fmt.Sprint(known))
			}
			get(path)
		}
		for _, path := range []string{"/", "/explore?q=bracket", "/thing:1", "/ada", "/schema.graphql", "/migration",
			"/reference", "/sitemap.xml", "/robots.txt"} {
			get(path)
		}
		schema := graph.New(nil).Schema()
		ids := []string{fmt.Sprint(world["thing_id"]), fmt.Sprint(world["file_id"]), fmt.Sprint(world["copy_id"]), "1",
			"2", "3"}
		for seed := range uint64(100) {
			q := randomQuery{Rand: rand.New(rand.NewPCG(seed, 11)), schema: schema, ids: ids, variables: make(map[string]any)}
			text := q.operation()
			if lastTimes.MatchString(text) {
				continue
			}
			requests = append(requests, func(c *servertest.Client) string {
				r := c.Do(http.MethodPost, "/graphql", servertest.Object{"query": text, "variables": q.variables})
				return fmt.Sprintf("%s: %d\n%s", text, r.StatusCode, r.Bytes)
			})
		}

		// Responses that differ between two reads alone, such as those with the time, are left out.
		type read struct {
			request
			client *servertest.Client
			alone  string
		}
		var reads []read
		for _, request := range requests {
			for _, c := range clients {
				if alone := request(c); request(c) == alone {
					reads = append(reads, read{request, c, alone})
				}
			}
		}
		if len(reads) < 2*len(requests) {
			t.Errorf("only %d of %d responses can be compared", len(reads), len(clients)*len(requests))
		}
		servertest.Together(8, func(i int) bool {
			r := rand.New(rand.NewPCG(uint64(i), 12))
			for _, at := range r.Perm(len(reads)) {
				if got := reads[at].request(reads[at].client); got != reads[at].alone {
					t.Errorf("beside other reads: %.500s\nalone: %.500s", got, reads[at].alone)
				}
			}
			return true
		})
	})
}
