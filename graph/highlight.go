package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"github.com/meshyard/meshyard/graph/batch"
	"github.com/meshyard/meshyard/graph/model"
	"github.com/meshyard/meshyard/internal/tokenize"
	"github.com/meshyard/meshyard/models"
)

// searchWords returns the words of the search that contains the field being resolved.
func searchWords(ctx context.Context) []tokenize.Word {
	for field := graphql.GetFieldContext(ctx); field != nil; field = field.Parent {
		if query, ok := field.Args["query"].(string); ok {
			return tokenize.Query(query)
		}
	}
	return nil
}

// highlights returns excerpts of a search hit with the matching words marked.
func (r *Resolver) highlights(ctx context.Context, hit model.SearchHit) ([]*model.Highlight, error) {
	words := searchWords(ctx)
	var all []*model.Highlight
	mark := func(field model.HighlightField, text string) { all = append(all, highlight(field, text, words)...) }
	switch hit := hit.(type) {
	case *models.Thing:
		mark(model.HighlightFieldName, hit.Name)
		tags, err := batch.Load(ctx, []*models.Thing{hit}, loadersOf(ctx).tagsOf, thingID)
		if err != nil {
			return nil, err
		}
		for _, tag := range tags[0] {
			mark(model.HighlightFieldTag, tag.Name)
		}
		mark(model.HighlightFieldDescription, hit.Description)
	case *models.Make:
		mark(model.HighlightFieldName, hit.Name)
		mark(model.HighlightFieldDescription, hit.Description)
	case *models.User:
		mark(model.HighlightFieldName, hit.Username)
	case *models.Collection:
		mark(model.HighlightFieldName, hit.Name)
		mark(model.HighlightFieldDescription, hit.Description)
	}
	return orEmpty(all), nil
}

// highlight returns an excerpt of a text with the matching words marked, or nil if no word matches.
func highlight(field model.HighlightField, text string, words []tokenize.Word) []*model.Highlight {
	excerpt := tokenize.Excerpt(text, words)
	if excerpt == nil {
		return nil
	}
	h := &model.Highlight{Field: field}
	for _, part := range excerpt {
		h.Parts = append(h.Parts, &model.HighlightPart{Text: part.Text, IsMatch: part.IsMatch})
	}
	return []*model.Highlight{h}
}
