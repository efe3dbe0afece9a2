package model

import (
	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/models"
)

// Facet is a value that search results have in common, with the number of those results.
type Facet[V any] struct {
	Value V
	Count int32
}

// The facet types of the schema. The values of creator facets are user IDs.
type (
	CategoryFacet struct{ Facet[*models.Category] }
	LicenseFacet  struct{ Facet[models.License] }
	TagFacet      struct{ Facet[*models.Tag] }
	CreatorFacet  struct{ Facet[int64] }
	FormatFacet   struct{ Facet[mesh.Format] }
)

// License returns the license.
func (f *LicenseFacet) License() models.License { return f.Value }

// Format returns the format.
func (f *FormatFacet) Format() mesh.Format { return f.Value }
