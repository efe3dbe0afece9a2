package model

import "github.com/meshyard/meshyard/models"

// Facet is a value that search results have in common, and the number of those results.
type Facet[V any] struct {
	Value V
	Count int32
}

// The facets of the schema. The values are ids, except for licences.
type (
	CategoryFacet struct{ Facet[int64] }
	LicenseFacet  struct{ Facet[models.License] }
	TagFacet      struct{ Facet[int64] }
	CreatorFacet  struct{ Facet[int64] }
)

// License returns the licence.
func (f *LicenseFacet) License() models.License { return f.Value }
