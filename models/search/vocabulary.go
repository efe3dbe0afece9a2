package search

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/tokenize"
	"github.com/meshyard/meshyard/models"
)

// term is what to search for one word of a query: any of some words or prefixes that the documents
// contain.
type term struct {
	prefixes []string // alternatives for the beginning of words
	whole    []string // alternatives for whole words
	parts    []string // of a compound: prefixes that match it if all of them match
}

const (
	// maxCorrections is the maximum number of corrections of a misspelled word.
	maxCorrections = 8
	// maxMisspelled is how many words of a query are corrected: each correction reads a part of the
	// vocabulary.
	maxMisspelled = 3
)

// terms looks up the words of a query in the vocabulary. A word that is no prefix of a known word
// is replaced by its corrections. found reports whether a document contains all words. For a single
// word it is always true.
func terms(ctx context.Context, db *models.DB, ix *models.Index,
	query []tokenize.Word) (terms []term, found bool, err error) {
	var beginnings []string
	all := make([]term, len(query))
	for i, w := range query {
		beginnings = append(append(beginnings, w.Stem), w.Parts...)
		all[i] = termOf(w, true, true)
	}
	var together []string
	if len(all) > 1 {
		whole := make([]string, len(all))
		for i, t := range all {
			whole[i] = anyOf(db, t.whole, nil, false, 4)
		}
		together = []string{allOf(db, whole), allOf(db, everyTerm(db, all))}
	}
	known, err := known(ctx, db, ix, beginnings, together)
	if err != nil {
		return nil, false, err
	}
	terms, misspelled := make([]term, len(query)), 0
	for i, w := range query {
		terms[i] = termOf(w, known[w.Stem], !slices.ContainsFunc(w.Parts, func(part string) bool { return !known[part] }))
		if terms[i].prefixes == nil && terms[i].parts == nil && misspelled < maxMisspelled && tokenize.Tolerance(w.Text) > 0 {
			misspelled++
			corrections, err := corrections(ctx, db, ix, w.Text)
			if err != nil {
				return nil, false, err
			}
			terms[i] = term{prefixes: corrections, whole: corrections}
		}
	}
	if len(terms) == 1 || misspelled == 0 {
		return terms, len(terms) == 1 || known[""], nil
	}
	// The corrected words may occur together.
	match := allOf(db, everyTerm(db, terms))
	if match == "" {
		return terms, false, nil
	}
	found, err = db.Read.NewSelect().TableExpr("(?) AS d", db.Matching(ix, match)).ColumnExpr("1").Limit(1).Exists(ctx)
	return terms, found, err
}

// termOf returns the term of a word, with the word and its parts if those are known.
func termOf(w tokenize.Word, isKnown, areParts bool) (t term) {
	if isKnown {
		t = term{prefixes: []string{w.Stem}, whole: slices.Compact([]string{w.Text, w.Stem})}
	}
	if areParts {
		t.parts = w.Parts
	}
	return t
}

// knownWord selects a prefix if it occurs in the vocabulary: the operands are the noun of the
// index, the prefix, and a text after all words with the prefix.
const knownWord = "SELECT CAST(?1 AS text) AS beginning WHERE EXISTS (SELECT 1 FROM vocabulary WHERE noun = ?0 AND word >= ?1 AND word < ?2)"

// knownWordKey is the statement for one prefix. Its arguments are the operands of knownWord.
type knownWordKey struct{}

// Text implements [database.Key].
func (knownWordKey) Text(b *database.Builder) (string, error) {
	return b.Raw(knownWord, b.Arg(0), b.Arg(1), b.Arg(2))
}

// known returns which of the prefixes in beginnings occur in the vocabulary. The result also
// contains the empty prefix if a document matches one of the expressions in matches. These are
// tried in order, so the cheapest ones should come first: to find the first match of a prefix,
// SQLite merges the documents of all words that begin with it.
func known(ctx context.Context, db *models.DB, ix *models.Index, beginnings,
	matches []string) (map[string]bool, error) {
	arguments := []any{ix.Noun}
	for _, b := range beginnings {
		end := b + last
		if tokenize.WholeOnly(b) {
			end = b + first
		}
		arguments = append(arguments, b, end)
	}
	query := func(values []any) string {
		noun, bounds := values[0], values[1:]
		var selects []string
		for bound := range slices.Chunk(bounds, 2) {
			selects = append(selects, db.Read.NewRaw(knownWord, noun, bound[0], bound[1]).String())
		}
		if len(matches) > 0 {
			exists := make([]string, len(matches))
			for i, match := range matches {
				exists[i] = db.Read.NewRaw("EXISTS (SELECT 1 FROM (?) AS d)", db.Matching(ix, match)).String()
			}
			selects = append(selects, "SELECT '' AS beginning WHERE "+strings.Join(exists, " OR "))
		}
		return strings.Join(selects, " UNION ALL ")
	}
	var found []struct{ Beginning string }
	var err error
	if len(beginnings) == 1 && len(matches) == 0 { // planning takes longer than the rest
		err = database.Read(ctx, db.DB, knownWordKey{}, &found, arguments...)
	} else {
		err = db.Read.NewRaw(query(arguments)).Scan(ctx, &found)
	}
	known := make(map[string]bool, len(found))
	for _, row := range found {
		known[row.Beginning] = true
	}
	return known, err
}

// first sorts before all characters that words contain, and last after them.
const (
	first = "\x01"
	last  = "\U0010FFFF"
)

// corrections returns the words of the vocabulary that are most similar to a misspelled one.
func corrections(ctx context.Context, db *models.DB, ix *models.Index, word string) ([]string, error) {
	tolerance, length := tokenize.Tolerance(word), utf8.RuneCountInString(word)
	if tolerance == 0 {
		return nil, nil
	}
	similar := db.FullText().Similar(db, word)
	if length < 7 { // a short word and its misspelling may have no trigram in common
		initial, size := utf8.DecodeRuneInString(word)
		similar = db.Read.NewRaw("(? OR word >= ? AND word < ?)", bun.Safe(similar), word[:size], string(initial+1)).String()
	}
	var like []string
	err := db.Read.NewRaw(
		"SELECT word FROM vocabulary WHERE noun = ? AND ? AND length(word) BETWEEN ? AND ? ORDER BY word",
		ix.Noun, bun.Safe(similar), length-tolerance, length+tolerance).Scan(ctx, &like)
	if err != nil {
		return nil, err
	}
	var closest []string
	for _, candidate := range like {
		switch d := tokenize.Distance(word, candidate, tolerance); {
		case d > tolerance:
		case d < tolerance:
			closest, tolerance = []string{candidate}, d
		case len(closest) < maxCorrections:
			closest = append(closest, candidate)
		}
	}
	return closest, nil
}
