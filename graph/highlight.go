package graph

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"

	"github.com/meshyard/meshyard/internal/tokenize"
	"github.com/meshyard/meshyard/models"
)

// highlightBefore and highlightLength are how many bytes of a long text are shown before the first word that matches, and in all.
const (
	highlightBefore = 60
	highlightLength = 240
)

// searched gives the words of the search that the field under way stands in.
func searched(ctx context.Context) []tokenize.Word {
	for at := graphql.GetFieldContext(ctx); at != nil; at = at.Parent {
		if query, ok := at.Args["query"].(string); ok {
			return tokenize.Query(query)
		}
	}
	return nil
}

// highlights shows where the words of the search stand in what it found.
func (r *Resolver) highlights(ctx context.Context, hit SearchHit) ([]*Highlight, error) {
	query := searched(ctx)
	var all []*Highlight
	mark := func(field HighlightField, text string) { all = append(all, highlight(field, text, query)...) }
	switch hit := hit.(type) {
	case *models.Thing:
		mark(HighlightFieldName, hit.Name)
		tags, err := each(ctx, []*models.Thing{hit}, &loadersOf(ctx).tagsOf, thingID, same)
		if err != nil {
			return nil, err
		}
		for _, tag := range tags[0] {
			mark(HighlightFieldTag, tag.Name)
		}
		mark(HighlightFieldDescription, hit.Description)
	case *models.Make:
		mark(HighlightFieldName, hit.Name)
		mark(HighlightFieldDescription, hit.Description)
	case *models.User:
		mark(HighlightFieldName, hit.Username)
	case *models.Collection:
		mark(HighlightFieldName, hit.Name)
		mark(HighlightFieldDescription, hit.Description)
	}
	return listed(all), nil
}

// highlight gives a text with what matches marked; nothing where nothing does.
func highlight(field HighlightField, text string, query []tokenize.Word) []*Highlight {
	marks := tokenize.Marks(text, query)
	if len(marks) == 0 {
		return nil
	}
	start, end := 0, len(text)
	if end > highlightLength {
		start = blank(text, max(0, marks[0].Start-highlightBefore))
		end = max(marks[0].End, blank(text, min(end, start+highlightLength)))
	}
	h := &Highlight{Field: field}
	part := func(from, to int, match bool) {
		if from < to {
			h.Parts = append(h.Parts, &HighlightPart{Text: text[from:to], IsMatch: match})
		}
	}
	at := start
	for _, m := range marks {
		if m.End > end {
			break
		}
		part(at, m.Start, false)
		part(m.Start, m.End, true)
		at = m.End
	}
	part(at, end, false)
	return []*Highlight{h}
}

// blank moves a place in a text to the end of the blank before it, if one is near, else to where a character begins.
func blank(text string, at int) int {
	if at == 0 || at >= len(text) {
		return min(at, len(text))
	}
	if i := strings.LastIndexByte(text[max(0, at-20):at], ' '); i >= 0 {
		return max(0, at-20) + i + 1
	}
	for !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}
