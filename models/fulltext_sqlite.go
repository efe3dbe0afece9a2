package models

import (
	"context"
	"strings"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/tokenize"
)

// fts5 is the full-text search of SQLite: documents are rows of FTS5 tables.
type fts5 struct{}

func (fts5) And() string { return " AND " }
func (fts5) Or() string  { return " OR " }

func (fts5) Word(word string, beginning bool, _ int) string {
	if beginning && !tokenize.WholeOnly(word) {
		return `"` + word + `" *`
	}
	return `"` + word + `"`
}

func (fts5) InList(expression string, fields int) string {
	if fields == 4 {
		return expression
	}
	return "({" + strings.Join([]string{"name", "tags", "creator"}[:fields], " ") + "} : " + expression + ")"
}

func (fts5) matching(q *bun.SelectQuery, ix *Index, match string) *bun.SelectQuery {
	return q.TableExpr(ix.documents).ColumnExpr("rowid AS id").Where("? MATCH ?", bun.Safe(ix.documents), match)
}

// maxMatched is the maximum number of matching documents that SQLite considers, the latest ones.
const maxMatched = 50_000

func (fts5) Latest(q *bun.SelectQuery) *bun.SelectQuery {
	return q.OrderExpr("rowid DESC").Limit(maxMatched)
}

func (fts5) ReadsFound() bool { return true }

func (fts5) WithDocuments(q *bun.SelectQuery, _ *Index) *bun.SelectQuery { return q }

func (f fts5) Holds(db *DB, ix *Index, match string) string {
	return "b.id IN (" + db.Matching(ix, match).String() + ")"
}

func (fts5) id() bun.Safe { return "rowid" }

func (fts5) insert(ctx context.Context, tx bun.IDB, ix *Index, documents []Indexed) error {
	rows := make([][5]any, len(documents))
	for i, d := range documents {
		rows[i][0] = d.ID
		for n, field := range d.Fields {
			rows[i][n+1] = strings.Join(field, " ")
		}
	}
	_, err := tx.NewRaw("INSERT INTO ? (rowid, name, tags, creator, body) "+
		"SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4 FROM json_each($1)", bun.Safe(ix.documents)).
		Conn(database.Bind(tx, database.AsJSON(rows))).Exec(ctx)
	return err
}

func (fts5) Add(rows *database.Bulk, ix *Index, d Indexed) {
	rows.Add(ix.documents, "rowid, name, tags, creator, body", d.ID,
		strings.Join(d.Fields[0], " "), strings.Join(d.Fields[1], " "), strings.Join(d.Fields[2], " "),
		strings.Join(d.Fields[3], " "))
}

func (fts5) words(texts []string) (table bun.Safe, list any) {
	return "json_each($2)", database.AsJSON(texts)
}

func (fts5) Similar(db *DB, word string) string {
	runes := []rune(word)
	var trigrams []string
	for i := range max(0, len(runes)-2) {
		trigrams = append(trigrams, `"`+string(runes[i:i+3])+`"`)
	}
	if trigrams == nil {
		return "false"
	}
	return db.Read.NewRaw("id IN (SELECT rowid FROM vocabulary_trigrams WHERE vocabulary_trigrams MATCH ?)",
		strings.Join(trigrams, " OR ")).String()
}
