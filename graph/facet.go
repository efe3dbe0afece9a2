package graph

import (
	"context"

	"github.com/meshyard/meshyard/models"
)

// facet is what all facets are: a value that hits have in common, and how many do.
type facet[V any] struct {
	value V
	Count int32
}

// The facets of the schema.
type (
	CategoryFacet struct{ facet[int64] }
	LicenseFacet  struct{ facet[models.License] }
	TagFacet      struct{ facet[int64] }
	CreatorFacet  struct{ facet[int64] }
)

// License is the value of a licence's facet.
func (f *LicenseFacet) License() models.License { return f.value }

// facetsOf gives counts as the schema shows them, which were read together.
func facetsOf[F comparable, V any](ctx context.Context, counts []models.Facet[V], as func(facet[V]) F) []F {
	shown := make([]F, len(counts))
	for i, c := range counts {
		shown[i] = as(facet[V]{c.Value, int32(c.Count)})
	}
	gather(loadersOf(ctx), shown)
	return shown
}
