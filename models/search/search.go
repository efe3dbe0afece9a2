package search

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/tokenize"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/lists"
)

// Each object in a search result contains all words of the query, each as a prefix of a word in the
// name, the tags, the creator's name, the description or the paths of files. A word that is no
// prefix of a known word is replaced by the most similar known words. If no object contains all
// words, the result has objects with some of them, those with the most words first.

// SearchType is the type of the objects to search.
type SearchType string

// The types of objects that can be searched.
const (
	SearchThings      SearchType = "things"
	SearchMakes       SearchType = "makes"
	SearchUsers       SearchType = "users"
	SearchCollections SearchType = "collections"
)

// SearchResult is a search result.
type SearchResult struct {
	models.List
	Query  []tokenize.Word // the words of the query
	kind   SearchType
	sort   lists.Sort
	filter lists.Filter
	things func(lists.Filter) *bun.SelectQuery // FROM and WHERE of the results, with another filter

	facets facetCounts
}

// Search returns the objects of a type that match the words of a query and a filter. A query
// without text matches all objects that pass the filter.
func (s *Store) Search(ctx context.Context, kind SearchType, query string, f lists.Filter,
	sort lists.Sort) (*SearchResult, error) {
	if err := models.CheckText("query", query, models.MaxName); err != nil {
		return nil, err
	}
	ix, list, err := s.find(kind, f, sort)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(query) == "" {
		return &SearchResult{List: list.Bounded(models.MaxFound), kind: kind, sort: sort, filter: f,
			things: func(f lists.Filter) *bun.SelectQuery { return lists.FilteredThings(s.core.DB.Literal(), f) }}, nil
	}
	asked := tokenize.Query(query)
	list.Total = nil
	list = list.Bounded(models.MaxFound)
	e, err := expressionOf(ctx, s.core.DB, ix, asked)
	if err != nil {
		return nil, err
	}
	all := list.Select // search results have no parent
	var exact int64
	if id := bareID(query); kind == SearchThings && id != 0 {
		found, err := all().ColumnExpr("1").Where("t.id = ?", id).Exists(ctx)
		if err != nil {
			return nil, err
		}
		if found {
			exact = id
		}
	}
	matching := func() *bun.SelectQuery {
		matching := s.core.DB.Matching(ix, e.match)
		if e.match != "" {
			matching = s.core.DB.FullText().Latest(matching)
		}
		if exact != 0 {
			matching = s.core.DB.Read.NewSelect().TableExpr("(?) AS x", matching).Column("x.id").
				Union(s.core.DB.Read.NewSelect().ColumnExpr("?", exact))
		}
		return matching
	}
	found := func(q *bun.SelectQuery) *bun.SelectQuery { return q.Where("? IN (?)", bun.Safe(ix.ID), matching()) }
	rows := func(*database.Builder, any) *bun.SelectQuery { return found(all()) }
	if s.core.DB.FullText().ReadsFound() && kind == SearchThings && f.IsZero() && slices.Contains(inThingsFound, sort) {
		rows = func(b *database.Builder, _ any) *bun.SelectQuery {
			return lists.FilteredThings(b, lists.Filter{Found: matching()})
		}
	}
	list = list.WithRows(rows)
	if kind == SearchThings && f.IsZero() && exact == 0 && e.match != "" && sort != lists.ByFeatured {
		list.Total = lists.TotalOf(func(ctx context.Context) (int64, error) { return s.countMatching(ctx, ix, e.match) })
	}
	if e.match != "" && (sort == lists.ByRelevance || sort == lists.ByText) {
		list.Best = s.best(list, ix, e, sort, exact)
	}
	things := func(f lists.Filter) *bun.SelectQuery { return found(lists.FilteredThings(s.core.DB.Literal(), f)) }
	return &SearchResult{List: list, Query: asked, kind: kind, sort: sort, filter: f, things: things}, nil
}

// inThingsFound are the orders of things whose keys are in the index things_found.
var inThingsFound = []lists.Sort{lists.ByRelevance, lists.ByText, lists.ByPopular, lists.ByNewest, lists.ByOldest}

// countMatching returns the number of documents that match, at most maxFound. For things it is the
// number of published things, because only those have documents.
func (s *Store) countMatching(ctx context.Context, ix *models.Index, match string) (n int64, err error) {
	some := s.core.DB.Read.NewSelect().TableExpr("(?) AS m", s.core.DB.Matching(ix, match).Limit(models.MaxFound)).
		ColumnExpr("count(*)")
	return n, some.Scan(ctx, &n)
}

// bareID returns the ID if the query consists of one, and 0 otherwise.
func bareID(query string) int64 {
	id, err := strconv.ParseInt(strings.TrimSpace(query), 10, 64)
	if err != nil || id < 1 {
		return 0
	}
	return id
}

// find lists the objects of a type that pass a filter.
func (s *Store) find(kind SearchType, f lists.Filter, sort lists.Sort) (*models.Index, models.List, error) {
	var list models.List
	var err error
	switch kind {
	case SearchMakes:
		list, err = s.lists.FindMakes(f, sort)
		return models.MakeIndex, list, err
	case SearchUsers:
		list, err = s.lists.FindUsers(f, sort)
		return models.UserIndex, list, err
	case SearchCollections:
		list, err = s.lists.FindCollections(f, sort)
		return models.CollectionIndex, list, err
	}
	list, err = s.lists.Things(f, sort)
	return models.ThingIndex, list, err
}

// expression is a query in the full-text query language of the engine.
type expression struct {
	match  string
	levels []level
}

// level is a condition that increases the score of a match.
type level struct {
	match string
	worth int // in steps; see step
}

// The worth of the levels, in steps. If documents match all words of the query, the first level
// that holds counts. Otherwise, all levels that hold are added up, one for each word.
const (
	inName       = 3 // each word is a prefix of a word of the name
	isName       = 4 // each word is a whole word of the name
	inNameOrTags = 2 // each word is a prefix of a word of the name or the tags
	oneOfSeveral = 5 // one of the words matches; no document matches all of them
)

// expressionOf looks up the words of a query and builds the expression.
func expressionOf(ctx context.Context, db *models.DB, ix *models.Index, query []tokenize.Word) (expression, error) {
	if len(query) == 0 {
		return expression{match: ""}, nil // only punctuation, which matches nothing
	}
	terms, found, err := terms(ctx, db, ix, query)
	if err != nil {
		return expression{}, err
	}
	every := everyTerm(db, terms)
	all := expression{match: allOf(db, every)}
	if !found {
		all.match = ""
	}
	if all.match == "" {
		some, or := expression{}, db.FullText().Or()
		for _, one := range every {
			if one != "" {
				some.levels = append(some.levels, level{one, oneOfSeveral})
				some.match = strings.TrimPrefix(some.match+or+one, or)
			}
		}
		return some, nil
	}
	var whole, named, tagged []string
	for _, t := range terms {
		whole = append(whole, anyOf(db, t.whole, t.parts, false, 1))
		named = append(named, anyOf(db, t.prefixes, t.parts, true, 1))
		tagged = append(tagged, anyOf(db, t.prefixes, t.parts, true, 2))
	}
	all.levels = []level{{allOf(db, whole), isName}, {allOf(db, named), inName}, {allOf(db, tagged), inNameOrTags}}
	return all, nil
}

// everyTerm returns an expression for each term: the word in any field.
func everyTerm(db *models.DB, terms []term) []string {
	every := make([]string, len(terms))
	for i, t := range terms {
		every[i] = anyOf(db, t.prefixes, t.parts, true, 4)
	}
	return every
}

// anyOf returns an expression for documents that contain one of the words (or prefixes, if
// beginning is set), or all parts, in the first fields of the document.
func anyOf(db *models.DB, alternatives, parts []string, beginning bool, fields int) string {
	text := db.FullText()
	var written []string
	for _, word := range alternatives {
		written = append(written, text.Word(word, beginning, fields))
	}
	if len(parts) > 0 {
		together := make([]string, len(parts))
		for i, part := range parts {
			together[i] = text.Word(part, true, fields)
		}
		written = append(written, "("+allOf(db, together)+")")
	}
	if len(written) == 0 {
		return ""
	}
	return text.InList("("+strings.Join(written, text.Or())+")", fields)
}

// allOf returns an expression for documents that match all expressions, or "" if one of them cannot
// match.
func allOf(db *models.DB, expressions []string) string {
	if slices.Contains(expressions, "") {
		return ""
	}
	return strings.Join(expressions, db.FullText().And())
}

// maxBest is the maximum number of results that are sorted by how well their texts match. If more
// objects match, only the most popular ones are sorted in this way, which limits the cost of a
// page.
const maxBest = 300

// step returns what one step of a level adds to the sort key. For things sorted by relevance, whose
// key is a logarithm, one step counts as much as a popularity that is four times as high. Otherwise
// a step is so large that the level alone decides.
func step(ix *models.Index, sort lists.Sort) int64 {
	if ix == models.ThingIndex && sort == lists.ByRelevance {
		return 2 * models.PopularityUnit
	}
	return 1e15
}

// exactScore is the score of the object whose ID is the query. It is above all other scores.
const exactScore = database.BestKey / 4

// best returns the first entries of a result list, sorted by level and key together. The object
// with the ID exact, unless that is 0, comes first.
func (s *Store) best(list models.List, ix *models.Index, e expression, sort lists.Sort, exact int64) *database.Best {
	key, id := bun.Safe(list.By.Key), bun.Safe(list.By.ID)
	limit := int64(maxBest)
	others := func() *bun.SelectQuery { return list.Select() }
	if exact != 0 {
		limit--
		others = func() *bun.SelectQuery { return list.Select().Where("? <> ?", id, exact) }
	}
	first := func() *bun.SelectQuery {
		return others().ColumnExpr("? AS id, ? AS number", id, key).OrderExpr("? DESC, ? DESC", key, id).Limit(limit)
	}
	rows := func(*database.Builder, any) *bun.SelectQuery {
		q := s.core.DB.Read.NewSelect().TableExpr("(?) AS b", first()).ColumnExpr("b.id").
			ColumnExpr("? AS score", s.score(ix, e, sort))
		q = s.core.DB.FullText().WithDocuments(q, ix)
		if exact != 0 {
			q = q.UnionAll(s.core.DB.Read.NewSelect().ColumnExpr("? AS id, ? AS score", exact, int64(exactScore)))
		} else {
			q = q.Limit(limit) // without it, SQLite computes the score twice, also for the order
		}
		return s.core.DB.Read.NewSelect().TableExpr("(?) AS r", q)
	}
	rest := list.WithRows(func(*database.Builder, any) *bun.SelectQuery {
		last := s.core.DB.Read.NewSelect().TableExpr("(?) AS b", first()).ColumnExpr("b.number, b.id").
			OrderExpr("b.number, b.id").Limit(1)
		return others().Where("(?, ?) < (?)", key, id, last)
	})
	return &database.Best{First: models.List{DB: s.core.DB.DB, By: database.Order{Key: "r.score", ID: "r.id"},
		Rows: database.RowsFunc(rows), Bound: maxBest}, Rest: rest}
}

// score returns the expression that sorts the best results.
func (s *Store) score(ix *models.Index, e expression, sort lists.Sort) bun.Safe {
	step := step(ix, sort)
	holds := func(match string) string { return s.core.DB.FullText().Holds(s.core.DB, ix, match) }
	points := func(l level) string { return s.core.DB.Read.NewRaw("THEN ?", int64(l.worth)*step).String() }
	// Things that are less popular than a thing with one action a year ago count as equally popular.
	// The time is truncated to a day, so that positions do not change while a client pages through the
	// results.
	floor := int64(0)
	if ix == models.ThingIndex {
		floor = models.PopularityAt(models.Now().Truncate(24*time.Hour).AddDate(-1, 0, 0))
	}
	score := s.core.DB.Read.NewRaw("CASE WHEN b.number > ?0 THEN b.number ELSE ?0 END", floor).String()
	if len(e.levels) > 0 && e.levels[0].worth == oneOfSeveral {
		for _, l := range e.levels {
			score += " + CASE WHEN " + holds(l.match) + " " + points(l) + " ELSE 0 END"
		}
		return bun.Safe(score)
	}
	score += " + CASE"
	for _, l := range e.levels {
		score += " WHEN " + holds(l.match) + " " + points(l)
	}
	return bun.Safe(score + " ELSE 0 END")
}
