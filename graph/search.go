package graph

import (
	"context"
	"regexp"
	"strings"

	"github.com/meshyard/meshyard/graph/model"
	"github.com/meshyard/meshyard/internal/fieldset"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/search"
)

// thingPath matches the paths of a thing on this server: its page, its viewer and its REST
// resource.
var thingPath = regexp.MustCompile(`^/?(?:api/)?(?:thing:|things/|view/)([1-9][0-9]{0,18})(?:[/?#].*)?$`)

// thingAt returns the ID of the thing if text is its URL on this server, or "" if it is not. The
// URL can omit the scheme and the host.
func (r *Resolver) thingAt(text string) string {
	text = strings.TrimSpace(text)
	_, host, _ := strings.Cut(r.URLs.Base, "://")
	for _, prefix := range []string{"https://" + host, "http://" + host, host} {
		if rest, ok := strings.CutPrefix(text, prefix); ok && host != "" {
			text = rest
			break
		}
	}
	if found := thingPath.FindStringSubmatch(text); found != nil {
		return found[1]
	}
	return ""
}

// names returns up to n distinct names of the things that a search found, ignoring case.
func (r *Resolver) names(ctx context.Context, found *search.SearchResult, n int) ([]string, error) {
	pages, err := models.Pages(ctx, r.Store.Store, caller(ctx), nameOfThing, found.List, []int64{0},
		models.Slice{First: maxFirst})
	names, seen := []string{}, make(map[string]bool)
	for _, e := range pages[0].Entries {
		if name := e.Node.Name; len(names) < n && !seen[strings.ToLower(name)] {
			seen[strings.ToLower(name)] = true
			names = append(names, name)
		}
	}
	return names, err
}

// nameOfThing has the name of a thing.
var nameOfThing = fieldset.Of[models.Thing]("Name")

// facetsOf converts the facets of a search.
func facetsOf[F, V any](counts []search.Facet[V], as func(model.Facet[V]) F) []F {
	facets := make([]F, len(counts))
	for i, c := range counts {
		facets[i] = as(model.Facet[V]{Value: c.Value, Count: int32(c.Count)})
	}
	return facets
}
