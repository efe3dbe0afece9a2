package models

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/tokenize"
)

// term is a word of a query as the documents spell it: any of some words, or of those that begin
// so.
type term struct {
	prefixes []string // what words may begin with
	whole    []string // words that are all of what was asked for, and no more
	parts    []string // of a compound: what words may begin with that are found together instead
}

const (
	// maxMeant is how many words a misspelled one may stand for.
	maxMeant = 8
	// maxMisspelled is how many words of a query are looked up as misspellings: each reads a part
	// of the vocabulary.
	maxMisspelled = 3
)

// terms looks the words of a query up in the vocabulary. One that begins no word there is taken for
// a misspelling of the nearest ones.
func (db *DB) terms(ctx context.Context, ix *index, query []tokenize.Word) ([]term, error) {
	var beginnings []string
	for _, w := range query {
		beginnings = append(append(beginnings, w.Stem), w.Parts...)
	}
	known, err := db.known(ctx, ix, beginnings)
	if err != nil {
		return nil, err
	}
	terms, misspelled := make([]term, len(query)), 0
	for i, w := range query {
		if known[w.Stem] {
			terms[i] = term{prefixes: []string{w.Stem}, whole: slices.Compact([]string{w.Text, w.Stem})}
		}
		if w.Parts != nil && !slices.ContainsFunc(w.Parts, func(part string) bool { return !known[part] }) {
			terms[i].parts = w.Parts
		}
		if terms[i].prefixes == nil && terms[i].parts == nil && misspelled < maxMisspelled && tokenize.Tolerance(w.Text) > 0 {
			misspelled++
			meant, err := db.meant(ctx, ix, w.Text)
			if err != nil {
				return nil, err
			}
			terms[i] = term{prefixes: meant, whole: meant}
		}
	}
	return terms, nil
}

// known tells which beginnings words of the vocabulary have.
func (db *DB) known(ctx context.Context, ix *index, beginnings []string) (map[string]bool, error) {
	selects := make([]string, len(beginnings))
	for i, b := range beginnings {
		end := b + last
		if tokenize.WholeOnly(b) {
			end = b + first
		}
		selects[i] = db.read.NewRaw("SELECT ?1 AS beginning WHERE EXISTS (SELECT 1 FROM vocabulary WHERE noun = ?0 AND word >= ?1 AND word < ?2)", ix.noun, b, end).String()
	}
	var found []string
	err := db.read.NewRaw(strings.Join(selects, " UNION ALL ")).Scan(ctx, &found)
	known := make(map[string]bool, len(found))
	for _, b := range found {
		known[b] = true
	}
	return known, err
}

// first sorts before all characters that words hold, and last behind them.
const (
	first = "\x01"
	last  = "\U0010FFFF"
)

// meant gives the words of the vocabulary that a misspelled one is nearest to.
func (db *DB) meant(ctx context.Context, ix *index, word string) ([]string, error) {
	tolerance, length := tokenize.Tolerance(word), utf8.RuneCountInString(word)
	if tolerance == 0 {
		return nil, nil
	}
	similar := db.similar(word)
	if length < 7 { // a short word and its misspelling may have no three letters in common
		initial, size := utf8.DecodeRuneInString(word)
		similar = db.read.NewRaw("(? OR word >= ? AND word < ?)", bun.Safe(similar), word[:size], string(initial+1)).String()
	}
	var like []string
	err := db.read.NewRaw("SELECT word FROM vocabulary WHERE noun = ? AND ? AND length(word) BETWEEN ? AND ? ORDER BY word",
		ix.noun, bun.Safe(similar), length-tolerance, length+tolerance).Scan(ctx, &like)
	if err != nil {
		return nil, err
	}
	var meant []string
	for _, candidate := range like {
		switch d := tokenize.Distance(word, candidate, tolerance); {
		case d > tolerance:
		case d < tolerance:
			meant, tolerance = []string{candidate}, d
		case len(meant) < maxMeant:
			meant = append(meant, candidate)
		}
	}
	return meant, nil
}

// similar is the condition that a word of the vocabulary shares trigrams with another.
func (db *DB) similar(word string) string {
	if db.Engine == Postgres {
		return db.read.NewRaw("word % ?", word).String()
	}
	runes := []rune(word)
	var trigrams []string
	for i := range max(0, len(runes)-2) {
		trigrams = append(trigrams, `"`+string(runes[i:i+3])+`"`)
	}
	if trigrams == nil {
		return "false"
	}
	return db.read.NewRaw("id IN (SELECT rowid FROM vocabulary_trigrams WHERE vocabulary_trigrams MATCH ?)", strings.Join(trigrams, " OR ")).String()
}
