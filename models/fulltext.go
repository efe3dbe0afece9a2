package models

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/database"
)

// fullText is the full-text search of an engine: the language of its expressions, and the tables of
// documents and of trigrams. An expression is "" if it can match nothing.
type fullText interface {
	// and and or are the operators between expressions.
	And() string
	Or() string
	// word returns an expression for a word or a prefix in the first fields of a document. A single
	// letter is always a whole word. The word contains only letters, digits and marks.
	Word(word string, beginning bool, fields int) string
	// among restricts an expression that any has joined to the first fields of a document.
	InList(expression string, fields int) string

	// matching changes q to select the IDs of the documents that match, which are not empty.
	matching(q *bun.SelectQuery, ix *Index, match string) *bun.SelectQuery
	// latest restricts matching to the latest documents, if the engine reads all matches.
	Latest(q *bun.SelectQuery) *bun.SelectQuery
	// readsFound reports whether a list of things without other filters is read from the index
	// things_found for each match; see Filter.
	ReadsFound() bool
	// withDocuments joins the documents of b.id, if holds needs them.
	WithDocuments(q *bun.SelectQuery, ix *Index) *bun.SelectQuery
	// holds returns the condition that the document of b.id matches.
	Holds(db *DB, ix *Index, match string) string

	// id returns the column with the ID of a document.
	id() bun.Safe
	// insert inserts documents.
	insert(ctx context.Context, tx bun.IDB, ix *Index, documents []Indexed) error
	// add adds a document to rows.
	Add(rows *database.Bulk, ix *Index, d Indexed)
	// words returns a table of texts with the column value. list is argument 2 of the statement.
	words(texts []string) (table bun.Safe, list any)
	// similar returns a condition for words of the vocabulary that share trigrams with a word.
	Similar(db *DB, word string) string
}

// fullTexts is the full-text search of each engine.
var fullTexts = map[database.Engine]fullText{database.Postgres: textVectors{}, database.SQLite: fts5{}}

func (db *DB) FullText() fullText { return fullTexts[db.Dialect.Engine()] }

// Matching selects the IDs of the documents that match.
func (db *DB) Matching(ix *Index, match string) *bun.SelectQuery {
	q := db.Read.NewSelect()
	if match == "" {
		return q.ColumnExpr("0 AS id").Where("false")
	}
	return db.FullText().matching(q, ix, match)
}
