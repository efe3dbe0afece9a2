package models

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/tokenize"
)

// What a search finds holds all words of the query, each as the beginning of a word in the name,
// the tags, the creator's name or the description. A word that begins none that is known is taken
// for a misspelling of the nearest that are. Where nothing holds all words, what holds some of them
// is found, that with the most first.

// Kind is what a search is for.
type Kind string

// The kinds of what is found.
const (
	Things      Kind = "things"
	Makes       Kind = "makes"
	Users       Kind = "users"
	Collections Kind = "collections"
)

// Found is what a search finds.
type Found struct {
	List
	Query []tokenize.Word // the words that were asked for
	kind  Kind
}

// Search finds objects of a kind by the words of a query and by a filter; a query without any text
// finds all that pass the filter.
func (s *Store) Search(ctx context.Context, kind Kind, query string, f Filter, sort Sort) (*Found, error) {
	if err := text("query", query, maxName); err != nil {
		return nil, err
	}
	ix, list, err := s.find(kind, f, sort)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(query) == "" {
		return &Found{List: list.Bounded(), kind: kind}, nil
	}
	asked := tokenize.Query(query)
	list.total = nil
	list = list.Bounded()
	e, err := s.db.expression(ctx, ix, asked)
	if err != nil {
		return nil, err
	}
	all := list.rows
	var exact int64
	if id := bareID(query); kind == Things && id != 0 {
		found, err := all(0).ColumnExpr("1").Where("t.id = ?", id).Exists(ctx)
		if err != nil {
			return nil, err
		}
		if found {
			exact = id
		}
	}
	list.rows = func(parent int64) *bun.SelectQuery {
		matching := s.db.matching(ix, e.match)
		if s.db.Engine == SQLite && e.match != "" { // PostgreSQL reads no more of them than it needs
			matching = matching.OrderExpr("rowid DESC").Limit(maxMatched)
		}
		if exact != 0 {
			matching = s.db.read.NewSelect().TableExpr("(?) AS x", matching).Column("x.id").UnionAll(s.db.read.NewSelect().ColumnExpr("?", exact))
		}
		return all(parent).Where("? IN (?)", bun.Safe(ix.id), matching)
	}
	if e.match != "" && (sort == ByRelevance || sort == ByText) {
		list.best = s.best(list, ix, e, sort, exact)
	}
	return &Found{list, asked, kind}, nil
}

// bareID returns the id that a query consists of, or 0 if it is no id.
func bareID(query string) int64 {
	id, err := strconv.ParseInt(strings.TrimSpace(query), 10, 64)
	if err != nil || id < 1 {
		return 0
	}
	return id
}

// find lists objects of a kind that pass a filter.
func (s *Store) find(kind Kind, f Filter, sort Sort) (*index, List, error) {
	var list List
	var err error
	switch kind {
	case Makes:
		list, err = s.FindMakes(f, sort)
		return makeIndex, list, err
	case Users:
		list, err = s.FindUsers(f, sort)
		return userIndex, list, err
	case Collections:
		list, err = s.FindCollections(f, sort)
		return collectionIndex, list, err
	}
	list, err = s.Things(f, sort)
	return thingIndex, list, err
}

// expression is a query in the engine's language for full text.
type expression struct {
	match  string
	levels []level
}

// level is a condition that makes a match a better one.
type level struct {
	match string
	worth int // steps
}

// How far the words of a query are from being the name. In steps, of which the best that holds
// counts.
const (
	inName       = 3 // begins words of the name
	isName       = 4 // whole words of the name
	inNameOrTags = 2
	oneOfSeveral = 5 // where not all words match: for each that does
)

// expression looks the words of a query up and writes it.
func (db *DB) expression(ctx context.Context, ix *index, query []tokenize.Word) (expression, error) {
	if len(query) == 0 {
		return expression{match: ""}, nil // signs alone, which nothing is called
	}
	terms, err := db.terms(ctx, ix, query)
	if err != nil {
		return expression{}, err
	}
	every := make([]string, len(terms)) // a word in any field
	for i, t := range terms {
		every[i] = db.any(t.prefixes, t.parts, true, 4)
	}
	all := expression{match: db.all(every)}
	if all.match != "" && len(terms) > 1 {
		found, err := db.read.NewSelect().TableExpr("(?) AS d", db.matching(ix, all.match)).ColumnExpr("1").Limit(1).Exists(ctx)
		if err != nil {
			return expression{}, err
		}
		if !found {
			all.match = ""
		}
	}
	if all.match == "" {
		some := expression{}
		for _, one := range every {
			if one != "" {
				some.levels = append(some.levels, level{one, oneOfSeveral})
				some.match = strings.TrimPrefix(some.match+db.or()+one, db.or())
			}
		}
		return some, nil
	}
	var whole, named, tagged []string
	for _, t := range terms {
		whole = append(whole, db.any(t.whole, t.parts, false, 1))
		named = append(named, db.any(t.prefixes, t.parts, true, 1))
		tagged = append(tagged, db.any(t.prefixes, t.parts, true, 2))
	}
	all.levels = []level{{db.all(whole), isName}, {db.all(named), inName}, {db.all(tagged), inNameOrTags}}
	return all, nil
}

func (db *DB) or() string {
	if db.Engine == Postgres {
		return " | "
	}
	return " OR "
}

// any writes that one of some words, or of those that begin so, stands in the first of the four
// fields of a document, or all the parts do.
func (db *DB) any(alternatives, parts []string, beginning bool, fields int) string {
	var written []string
	for _, word := range alternatives {
		written = append(written, db.word(word, beginning, fields))
	}
	if len(parts) > 0 {
		together := make([]string, len(parts))
		for i, part := range parts {
			together[i] = db.word(part, true, fields)
		}
		written = append(written, "("+db.all(together)+")")
	}
	if len(written) == 0 {
		return ""
	}
	text := "(" + strings.Join(written, db.or()) + ")"
	if db.Engine == SQLite && fields < 4 {
		text = "({" + strings.Join([]string{"name", "tags", "creator"}[:fields], " ") + "} : " + text + ")"
	}
	return text
}

// word writes a word, or the beginning of one; a single letter is always a whole word. It holds
// nothing but letters, digits and marks.
func (db *DB) word(word string, beginning bool, fields int) string {
	beginning = beginning && !tokenize.WholeOnly(word)
	if db.Engine == SQLite {
		if beginning {
			return `"` + word + `" *`
		}
		return `"` + word + `"`
	}
	if fields < 4 || beginning {
		word = "'" + word + "':" + "ABCD"[:fields%4] // all four are none
		if beginning {
			word += "*"
		}
		return word
	}
	return "'" + word + "'"
}

// all writes that all of some expressions hold; nothing where one can not.
func (db *DB) all(expressions []string) string {
	and := " AND "
	if db.Engine == Postgres {
		and = " & "
	}
	for _, e := range expressions {
		if e == "" {
			return ""
		}
	}
	return strings.Join(expressions, and)
}

// matching selects the ids of the documents that match.
func (db *DB) matching(ix *index, match string) *bun.SelectQuery {
	q := db.read.NewSelect()
	switch {
	case match == "":
		return q.ColumnExpr("0 AS id").Where("false")
	case db.Engine == Postgres:
		return q.TableExpr("? AS d", bun.Safe(ix.documents)).ColumnExpr("d.id").Where("d.words @@ CAST(? AS tsquery)", match)
	}
	return q.TableExpr(ix.documents).ColumnExpr("rowid AS id").Where("? MATCH ?", bun.Safe(ix.documents), match)
}

// maxBest is how many of what is found are put into order by their texts: the most popular ones.
// Who asks for a word that more objects hold is best served by what is popular, and a page never
// costs more than this.
const maxBest = 300

// maxMatched is how many documents that match SQLite looks at: the latest ones.
const maxMatched = 50_000

// step is what a level is worth beside the numbers by which lists are sorted: for things, whose
// popularity is a logarithm, two doublings. Beside other counts, and where the text alone is asked
// for, the level decides.
func step(ix *index, sort Sort) int64 {
	if ix == thingIndex && sort == ByRelevance {
		return 2 * popularityUnit
	}
	return 1e15
}

// exactScore is the score of the object whose id is the query. It is above all other scores.
const exactScore = bestKey / 4

// best is the first entries of a list of what is found: those that a list begins with, sorted by
// level and key together. The object with the id exact, unless that is 0, comes before all others.
func (s *Store) best(list List, ix *index, e expression, sort Sort, exact int64) *best {
	key, id := bun.Safe(list.by.key), bun.Safe(list.by.id)
	others, limit := list.rows, int64(maxBest)
	if exact != 0 {
		limit--
		others = func(parent int64) *bun.SelectQuery { return list.rows(parent).Where("? <> ?", id, exact) }
	}
	first := func(parent int64) *bun.SelectQuery {
		return others(parent).ColumnExpr("? AS id, ? AS number", id, key).OrderExpr("? DESC, ? DESC", key, id).Limit(limit)
	}
	rows := func(parent int64) *bun.SelectQuery {
		q := s.db.read.NewSelect().TableExpr("(?) AS b", first(parent)).ColumnExpr("b.id").ColumnExpr("? AS score", s.score(ix, e, sort))
		if s.db.Engine == Postgres {
			q = q.Join("JOIN ? AS d ON d.id = b.id", bun.Safe(ix.documents))
		}
		if exact != 0 {
			q = q.UnionAll(s.db.read.NewSelect().ColumnExpr("? AS id, ? AS score", exact, int64(exactScore)))
		}
		return s.db.read.NewSelect().TableExpr("(?) AS r", q)
	}
	rest := list
	rest.rows = func(parent int64) *bun.SelectQuery {
		last := s.db.read.NewSelect().TableExpr("(?) AS b", first(parent)).ColumnExpr("b.number, b.id").OrderExpr("b.number, b.id").Limit(1)
		return others(parent).Where("(?, ?) < (?)", key, id, last)
	}
	return &best{first: List{db: s.db, by: order{key: "r.score", id: "r.id"}, rows: rows, bound: maxBest}, rest: rest}
}

// score is the expression by which the best are sorted.
func (s *Store) score(ix *index, e expression, sort Sort) bun.Safe {
	step := step(ix, sort)
	holds := func(match string) string {
		if s.db.Engine == Postgres {
			return s.db.read.NewRaw("d.words @@ CAST(? AS tsquery)", match).String()
		}
		return "b.id IN (" + s.db.matching(ix, match).String() + ")"
	}
	points := func(l level) string { return s.db.read.NewRaw("THEN ?", int64(l.worth)*step).String() }
	// What nobody cared for within a year is as good as what nobody ever did. By days: positions
	// must stay while somebody walks through what is found.
	floor := int64(0)
	if ix == thingIndex {
		floor = popularityAt(now().Truncate(24*time.Hour).AddDate(-1, 0, 0))
	}
	score := s.db.read.NewRaw("CASE WHEN b.number > ?0 THEN b.number ELSE ?0 END", floor).String()
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

// popularityAt is what is kept of the popularity of a thing with which one thing was done at a
// time.
func popularityAt(at time.Time) int64 {
	return int64(popularityUnit * at.Sub(popularityEpoch).Hours() / 24 / halfLife)
}
