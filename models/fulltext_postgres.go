package models

import (
	"context"
	"strings"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/tokenize"
)

// textVectors is the full-text search of PostgreSQL: a document is a tsvector.
type textVectors struct{}

func (textVectors) And() string { return " & " }
func (textVectors) Or() string  { return " | " }

func (textVectors) Word(word string, beginning bool, fields int) string {
	beginning = beginning && !tokenize.WholeOnly(word)
	if fields < 4 || beginning {
		word = "'" + word + "':" + "ABCD"[:fields%4] // all four are the default
		if beginning {
			word += "*"
		}
		return word
	}
	return "'" + word + "'"
}

func (textVectors) InList(expression string, _ int) string { return expression } // word does it

func (textVectors) matching(q *bun.SelectQuery, ix *Index, match string) *bun.SelectQuery {
	return q.TableExpr("? AS d", bun.Safe(ix.documents)).ColumnExpr("d.id").Where("d.words @@ CAST(? AS tsquery)", match)
}

// Latest returns q: PostgreSQL does not read more matches than it needs.
func (textVectors) Latest(q *bun.SelectQuery) *bun.SelectQuery { return q }

func (textVectors) ReadsFound() bool { return false }

func (textVectors) WithDocuments(q *bun.SelectQuery, ix *Index) *bun.SelectQuery {
	return q.Join("JOIN ? AS d ON d.id = b.id", bun.Safe(ix.documents))
}

func (textVectors) Holds(db *DB, _ *Index, match string) string {
	return db.Read.NewRaw("d.words @@ CAST(? AS tsquery)", match).String()
}

func (textVectors) id() bun.Safe { return "id" }

func (textVectors) insert(ctx context.Context, tx bun.IDB, ix *Index, documents []Indexed) error {
	ids, vectors := make([]int64, len(documents)), make([]string, len(documents))
	for i, d := range documents {
		ids[i], vectors[i] = d.ID, vector(d.Fields)
	}
	_, err := tx.NewRaw(
		"INSERT INTO ? (id, words) SELECT id, CAST(words AS tsvector) FROM unnest($1::bigint[], $2::text[]) AS d (id, words)",
		bun.Safe(ix.documents)).
		Conn(database.Bind(tx, ids, vectors)).Exec(ctx)
	return err
}

func (textVectors) Add(rows *database.Bulk, ix *Index, d Indexed) {
	rows.Add(ix.documents, "id, words", d.ID, vector(d.Fields))
}

func (textVectors) words(texts []string) (table bun.Safe, list any) {
	return "unnest($2::text[]) AS words (value)", texts
}

func (textVectors) Similar(db *DB, word string) string {
	return db.Read.NewRaw("word % ?", word).String()
}

// vector formats the fields of a document as a PostgreSQL tsvector. Words contain only letters,
// digits and marks, so no escapes are needed. All words of a field have the same position: other
// positions would only serve distance queries, which are not used.
func vector(fields [4][]string) string {
	places := make(map[string]string)
	var order []string
	for i, field := range fields {
		for _, word := range field {
			if places[word] == "" {
				order = append(order, word)
			} else {
				places[word] += ","
			}
			places[word] += [...]string{"1A", "2B", "3C", "4D"}[i]
		}
	}
	var text strings.Builder
	for _, word := range order {
		text.WriteString("'" + word + "':" + places[word] + " ")
	}
	return text.String()
}
