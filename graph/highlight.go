package graph

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"

	"github.com/meshyard/meshyard/graph/batch"
	"github.com/meshyard/meshyard/graph/model"
	"github.com/meshyard/meshyard/internal/tokenize"
	"github.com/meshyard/meshyard/models"
)

// The length of an excerpt and of the text before its first match, in bytes.
const (
	excerptLength = 240
	excerptBefore = 60
	// excerptWindow is the number of bytes at the start of a text that are searched for matches.
	excerptWindow = 2 << 10
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
	marks := tokenize.Marks(window(text), words)
	if len(marks) == 0 {
		return nil
	}
	start, end := 0, len(text)
	if end > excerptLength {
		start = wordStart(text, max(0, marks[0].Start-excerptBefore))
		end = max(marks[0].End, wordStart(text, min(end, start+excerptLength)))
	}
	h := &model.Highlight{Field: field}
	add := func(from, to int, match bool) {
		if from < to {
			h.Parts = append(h.Parts, &model.HighlightPart{Text: text[from:to], IsMatch: match})
		}
	}
	at := start
	for _, m := range marks {
		if m.End > end {
			break
		}
		add(at, m.Start, false)
		add(m.Start, m.End, true)
		at = m.End
	}
	add(at, end, false)
	return []*model.Highlight{h}
}

// window returns the first excerptWindow bytes of a text, cut at a word or, if there is no space
// nearby, at a character.
func window(text string) string { return text[:wordStart(text, min(len(text), excerptWindow))] }

// wordStart moves an offset back to the start of a word if a space is within 20 bytes, otherwise to
// the start of a character.
func wordStart(text string, at int) int {
	const near = 20 // bytes
	if at == 0 || at >= len(text) {
		return min(at, len(text))
	}
	if i := strings.LastIndexByte(text[max(0, at-near):at], ' '); i >= 0 {
		return max(0, at-near) + i + 1
	}
	for !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}
