package graph

import (
	"context"
	"regexp"
	"strings"

	"github.com/meshyard/meshyard/graph/batch"
	"github.com/meshyard/meshyard/graph/model"
	"github.com/meshyard/meshyard/models"
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
func (r *Resolver) names(ctx context.Context, found *models.SearchResult, n int) ([]string, error) {
	pages, err := found.Page(ctx, []int64{0}, models.Slice{First: maxFirst})
	if err != nil {
		return nil, err
	}
	entries := pages[0].Entries
	batch.Add(batch.FromContext(ctx), entries)
	things, err := batch.Load(ctx, entries, loadersOf(ctx).things, func(e *models.Entry) int64 { return e.NodeID })
	names, seen := []string{}, make(map[string]bool)
	for _, t := range things {
		if t != nil && len(names) < n && !seen[strings.ToLower(t.Name)] {
			seen[strings.ToLower(t.Name)] = true
			names = append(names, t.Name)
		}
	}
	return names, err
}

// facetsOf converts the facets of a search. They form a batch.
func facetsOf[F comparable, V any](ctx context.Context, counts []models.Facet[V], as func(model.Facet[V]) F) []F {
	facets := make([]F, len(counts))
	for i, c := range counts {
		facets[i] = as(model.Facet[V]{Value: c.Value, Count: int32(c.Count)})
	}
	batch.Add(batch.FromContext(ctx), facets)
	return facets
}
