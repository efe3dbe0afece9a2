package models

import (
	"context"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/tokenize"
)

// A document is the search index entry of an object that everyone can find: the words of its texts.
// It is written in the transaction that changes the texts, so committed changes are found
// immediately. PostgreSQL stores it as a tsvector, SQLite in an FTS5 table; both store the same
// words, from package tokenize.

// index describes the documents of one type of object.
type index struct {
	noun      string // the name of the type in the vocabulary
	documents string // the table
	// texts selects id, name, tags, creator and body of the objects that everyone can find.
	texts func(db bun.IDB) *bun.SelectQuery
	id    string // the ID column of the objects' table, with alias
}

var (
	thingIndex = &index{"thing", "thing_documents", func(db bun.IDB) *bun.SelectQuery {
		return db.NewSelect().TableExpr("things AS t").Join("JOIN users AS u ON u.id = t.owner_id").
			ColumnExpr("t.id, t.name, u.username AS creator, t.description AS body").
			ColumnExpr("coalesce((SELECT string_agg(tt.name, ' ') FROM thing_tags AS tt WHERE tt.thing_id = t.id), '') AS tags").Where("t.state = 'published'")
	}, "t.id"}
	makeIndex = &index{"make", "make_documents", func(db bun.IDB) *bun.SelectQuery {
		return db.NewSelect().TableExpr("makes AS m").Join("JOIN users AS u ON u.id = m.owner_id").
			ColumnExpr("m.id, m.name, '' AS tags, u.username AS creator, m.description AS body").Where("m.state = 'published'")
	}, "m.id"}
	userIndex = &index{"user", "user_documents", func(db bun.IDB) *bun.SelectQuery {
		return db.NewSelect().TableExpr("users AS u").ColumnExpr("u.id, u.username || ' ' || u.first_name || ' ' || u.last_name AS name, '' AS tags, '' AS creator, '' AS body").Where("u.deleted_at IS NULL")
	}, "u.id"}
	collectionIndex = &index{"collection", "collection_documents", func(db bun.IDB) *bun.SelectQuery {
		return db.NewSelect().TableExpr("collections AS co").Join("JOIN users AS u ON u.id = co.owner_id").
			ColumnExpr("co.id, co.name, '' AS tags, u.username AS creator, co.description AS body").Where("co.visibility = 'public'")
	}, "co.id"}
)

var indexes = []*index{thingIndex, makeIndex, userIndex, collectionIndex}

// document holds the searchable texts of one object.
type document struct {
	ID                        int64
	Name, Tags, Creator, Body string
}

// fields returns the words of a document by field, the field with the highest weight first.
func (d document) fields() [4][]string {
	return [4][]string{tokenize.Words(d.Name), tokenize.Words(d.Tags), tokenize.Words(d.Creator), tokenize.Words(d.Body)}
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

// index updates the documents of some objects. It removes the documents of objects that are deleted
// or hidden.
func (db *DB) index(ctx context.Context, tx bun.IDB, ix *index, ids ...int64) error {
	if len(ids) == 0 {
		return nil
	}
	var documents []document
	if err := ix.texts(tx).Where("? IN (?)", bun.Safe(ix.id), bun.List(ids)).OrderExpr(ix.id).Scan(ctx, &documents); err != nil {
		return err
	}
	id := bun.Safe("id")
	if db.Engine == database.SQLite {
		id = "rowid"
	}
	if _, err := tx.NewRaw("DELETE FROM ? WHERE ? IN (?)", bun.Safe(ix.documents), id, bun.List(ids)).Exec(ctx); err != nil || len(documents) == 0 {
		return err
	}
	var vocabulary []string
	insert := db.insertDocuments(tx, ix, documents, &vocabulary)
	if _, err := insert.Exec(ctx); err != nil {
		return err
	}
	return learn(ctx, tx, ix, vocabulary)
}

// insertDocuments returns a query that inserts documents, and adds their words to vocabulary.
func (db *DB) insertDocuments(tx bun.IDB, ix *index, documents []document, vocabulary *[]string) *bun.RawQuery {
	rows := make([]bun.Safe, len(documents))
	row := func(format string, args ...any) bun.Safe { return bun.Safe(tx.NewRaw(format, args...).String()) }
	for i, d := range documents {
		fields := d.fields()
		for _, field := range fields {
			*vocabulary = append(*vocabulary, field...)
		}
		if db.Engine == database.Postgres {
			rows[i] = row("(?, CAST(? AS tsvector))", d.ID, vector(fields))
			continue
		}
		rows[i] = row("(?, ?, ?, ?, ?)", d.ID, strings.Join(fields[0], " "), strings.Join(fields[1], " "), strings.Join(fields[2], " "), strings.Join(fields[3], " "))
	}
	columns := bun.Safe("id, words")
	if db.Engine == database.SQLite {
		columns = "rowid, name, tags, creator, body"
	}
	return tx.NewRaw("INSERT INTO ? (?) VALUES ?", bun.Safe(ix.documents), columns, bun.List(rows))
}

// learn adds words to the vocabulary. The order is fixed, so that two transactions do not deadlock
// on each other's new words.
func learn(ctx context.Context, tx bun.IDB, ix *index, all []string) error {
	slices.Sort(all)
	for some := range slices.Chunk(slices.Compact(all), 1_000) {
		rows := make([]bun.Safe, len(some))
		for i, word := range some {
			rows[i] = bun.Safe("('" + ix.noun + "', '" + word + "')")
		}
		if _, err := tx.NewRaw("INSERT INTO vocabulary (noun, word) VALUES ? ON CONFLICT (noun, word) DO NOTHING", bun.List(rows)).Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}

// indexAll updates the documents of all objects.
func (db *DB) indexAll(ctx context.Context, tx bun.IDB) error {
	for _, ix := range indexes {
		for last := int64(0); ; {
			var ids []int64
			err := tx.NewSelect().TableExpr("(?) AS d", ix.texts(tx)).ColumnExpr("d.id").Where("d.id > ?", last).Order("d.id").Limit(500).Scan(ctx, &ids)
			if err != nil {
				return err
			}
			if len(ids) == 0 {
				break
			}
			if err := db.index(ctx, tx, ix, ids...); err != nil {
				return err
			}
			last = ids[len(ids)-1]
		}
	}
	return nil
}
