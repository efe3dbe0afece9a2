package graph

import (
	"context"
	"slices"

	"github.com/meshyard/meshyard/graph/model"
	"github.com/meshyard/meshyard/internal/fieldset"
	"github.com/meshyard/meshyard/internal/tokenize"
	"github.com/meshyard/meshyard/models"
)

// The fields of rows that highlights are excerpts of.
var (
	thingTexts      = fieldset.Of[models.Thing]("Name", "Description")
	makeTexts       = fieldset.Of[models.Make]("Name", "Description")
	pathOfFile      = fieldset.Of[models.File]("Name", "Folder")
	collectionTexts = fieldset.Of[models.Collection]("Name", "Description")
)

// highlights returns excerpts of search hits with the matching words marked. The hits of a search
// have one type.
func (r *Resolver) highlights(ctx context.Context, edges []*model.SearchEdge) ([][]*model.Highlight, error) {
	var thingIDs, makeIDs, userIDs, collectionIDs []int64
	for _, e := range edges {
		switch hit := e.Node.(type) {
		case *models.Thing:
			thingIDs = append(thingIDs, hit.ID)
		case *models.Make:
			makeIDs = append(makeIDs, hit.ID)
		case *models.User:
			userIDs = append(userIDs, hit.ID)
		case *models.Collection:
			collectionIDs = append(collectionIDs, hit.ID)
		}
	}
	foundThings, err := models.ByIDs(ctx, r.Store.Store, caller(ctx), thingTexts, thingIDs)
	if err != nil {
		return nil, err
	}
	foundTags, err := r.Store.TagsOf(ctx, models.TagFields{}, thingIDs)
	if err != nil {
		return nil, err
	}
	foundMakes, err := models.ByIDs(ctx, r.Store.Store, caller(ctx), makeTexts, makeIDs)
	if err != nil {
		return nil, err
	}
	foundUsers, err := models.ByIDs(ctx, r.Store.Store, caller(ctx), nameOfUser, userIDs)
	if err != nil {
		return nil, err
	}
	foundCollections, err := models.ByIDs(ctx, r.Store.Store, caller(ctx), collectionTexts, collectionIDs)
	if err != nil {
		return nil, err
	}
	foundFiles, err := r.filesToMark(ctx, edges, foundThings, foundTags)
	if err != nil {
		return nil, err
	}
	return each(edges, func(e *model.SearchEdge) []*model.Highlight {
		all := []*model.Highlight{}
		mark := func(field model.HighlightField, text string) { all = append(all, highlight(field, text, e.Words)...) }
		switch hit := e.Node.(type) {
		case *models.Thing:
			if t := foundThings[hit.ID]; t != nil {
				mark(model.HighlightFieldName, t.Name)
				for _, tag := range foundTags[hit.ID] {
					mark(model.HighlightFieldTag, tag.Name)
				}
				mark(model.HighlightFieldDescription, t.Description)
				for _, f := range foundFiles[hit.ID] {
					if len(all) < maxHighlights {
						mark(model.HighlightFieldFile, f.Path())
					}
				}
			}
		case *models.Make:
			if m := foundMakes[hit.ID]; m != nil {
				mark(model.HighlightFieldName, m.Name)
				mark(model.HighlightFieldDescription, m.Description)
			}
		case *models.User:
			if u := foundUsers[hit.ID]; u != nil {
				mark(model.HighlightFieldName, u.Username)
			}
		case *models.Collection:
			if c := foundCollections[hit.ID]; c != nil {
				mark(model.HighlightFieldName, c.Name)
				mark(model.HighlightFieldDescription, c.Description)
			}
		}
		return all
	})
}

// maxHighlights is the maximum number of highlights of a thing: those of the name, the description
// and 20 tags, or else of this many files.
const maxHighlights = 22

// filesToMark returns the files of those things in which a search has found a word that is in none
// of their other texts.
func (r *Resolver) filesToMark(ctx context.Context, edges []*model.SearchEdge, found map[int64]*models.Thing,
	tags map[int64][]*models.Tag) (map[int64][]*models.File, error) {
	var ids []int64
	for _, e := range edges {
		hit, ok := e.Node.(*models.Thing)
		if !ok || found[hit.ID] == nil || len(e.Words) == 0 {
			continue
		}
		texts := []string{found[hit.ID].Name, found[hit.ID].Description}
		for _, tag := range tags[hit.ID] {
			texts = append(texts, tag.Name)
		}
		in := func(word tokenize.Word) bool {
			return slices.ContainsFunc(texts,
				func(text string) bool { return tokenize.Excerpt(text, []tokenize.Word{word}) != nil })
		}
		if slices.ContainsFunc(e.Words, func(word tokenize.Word) bool { return !in(word) }) {
			ids = append(ids, hit.ID)
		}
	}
	return r.Store.FilesOn(ctx, pathOfFile, models.OnThing, ids)
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
