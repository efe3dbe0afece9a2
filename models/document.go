package models

import (
	"context"
	"database/sql"
	"errors"
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

// Index describes the documents of one type of object.
type Index struct {
	Noun      string // the name of the type in the vocabulary
	documents string // the table
	// texts selects id, name, tags, creator and body of the objects that everyone can find, and the
	// paths of the files of things. Their creators are the table u.
	texts func(db bun.IDB) *bun.SelectQuery
	ID    string // the ID column of the objects' table, with alias
}

var (
	ThingIndex = &Index{"thing", "thing_documents", func(db bun.IDB) *bun.SelectQuery {
		return db.NewSelect().TableExpr("things AS t").Join("JOIN users AS u ON u.id = t.owner_id").
			ColumnExpr("t.id, t.name, u.username AS creator, t.description AS body").
			ColumnExpr("coalesce((SELECT string_agg(tt.name, ' ') FROM thing_tags AS tt WHERE tt.thing_id = t.id), '') AS tags").
			ColumnExpr("substr(coalesce((SELECT string_agg(fp.path, ' ') FROM (SELECT CASE WHEN f.folder = '' THEN f.name ELSE f.folder || '/' || f.name END AS path FROM files AS f "+
				"WHERE f.target_type = 'thing' AND f.target_id = t.id AND f.state = 'finalized' ORDER BY f.rank, f.id LIMIT ?) AS fp), ''), 1, ?) AS files", maxPaths, maxPathText).Where("t.state = 'published'")
	}, "t.id"}
	MakeIndex = &Index{"make", "make_documents", func(db bun.IDB) *bun.SelectQuery {
		return db.NewSelect().TableExpr("makes AS m").Join("JOIN users AS u ON u.id = m.owner_id").
			ColumnExpr("m.id, m.name, '' AS tags, u.username AS creator, m.description AS body").Where("m.state = 'published'")
	}, "m.id"}
	UserIndex = &Index{"user", "user_documents", func(db bun.IDB) *bun.SelectQuery {
		return db.NewSelect().TableExpr("users AS u").
			ColumnExpr("u.id, u.username || ' ' || u.first_name || ' ' || u.last_name AS name, '' AS tags, '' AS creator, '' AS body").Where("u.deleted_at IS NULL")
	}, "u.id"}
	CollectionIndex = &Index{"collection", "collection_documents", func(db bun.IDB) *bun.SelectQuery {
		return db.NewSelect().TableExpr("collections AS co").Join("JOIN users AS u ON u.id = co.owner_id").
			ColumnExpr("co.id, co.name, '' AS tags, u.username AS creator, co.description AS body").
			Where("co.visibility = 'public'")
	}, "co.id"}
)

var Indexes = []*Index{ThingIndex, MakeIndex, UserIndex, CollectionIndex}

// The paths of files that the document of a thing has: the first ones by rank, and at most this
// number of characters of them.
const maxPaths, maxPathText = 500, 16_000

// Document holds the searchable texts of one object.
type Document struct {
	ID                               int64
	Name, Tags, Creator, Body, Files string
}

// Fields returns the words of a document by field, the field with the highest weight first. The
// last one also has those of the files.
func (d Document) Fields() [4][]string {
	body, files := tokenize.Words(d.Body), tokenize.Words(d.Files)
	in := make(map[string]bool, len(body))
	for _, word := range body {
		in[word] = true
	}
	files = slices.DeleteFunc(files, func(word string) bool { return in[word] })
	return [4][]string{tokenize.Words(d.Name), tokenize.Words(d.Tags), tokenize.Words(d.Creator), append(body, files...)}
}

// FilePaths returns the text of a document for the paths of files, in the order of their ranks.
func FilePaths(paths []string) string {
	text := []rune(strings.Join(paths[:min(len(paths), maxPaths)], " "))
	return string(text[:min(len(text), maxPathText)])
}

// IndexFiles updates the documents of things of earlier versions, which lack the paths of files. It
// continues where an earlier call was interrupted, and opens many transactions. It returns the
// number of things.
func (db *DB) IndexFiles(ctx context.Context) (indexed int, err error) {
	for {
		var ids []int64
		err := db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
			ids = nil
			var after int64
			err := db.ForUpdate(tx.NewSelect().Table("outdated_documents").Column("after_id").
				Where("noun = ?", ThingIndex.Noun)).Scan(ctx, &after)
			if errors.Is(err, sql.ErrNoRows) {
				return nil
			}
			if err != nil {
				return err
			}
			err = tx.NewSelect().Table("things").Column("id").Where("id > ? AND state = ?", after, Published).Order("id").
				Limit(200).Scan(ctx, &ids)
			if err != nil {
				return err
			}
			if len(ids) == 0 {
				_, err := tx.NewDelete().Table("outdated_documents").Where("noun = ?", ThingIndex.Noun).Exec(ctx)
				return err
			}
			if err := db.Index(ctx, tx, ThingIndex, ids...); err != nil {
				return err
			}
			_, err = tx.NewUpdate().Table("outdated_documents").Set("after_id = ?", ids[len(ids)-1]).
				Where("noun = ?", ThingIndex.Noun).Exec(ctx)
			return err
		})
		if err != nil || len(ids) == 0 {
			return indexed, err
		}
		indexed += len(ids)
	}
}

// indexTarget updates the document of a thing whose files have changed. Only published things have
// documents.
func (db *DB) indexTarget(ctx context.Context, tx bun.Tx, on Owned) error {
	if on.Type != OnThing || !on.published {
		return nil
	}
	return db.Index(ctx, tx, ThingIndex, on.ID)
}

// Index updates the documents of some objects. It removes the documents of objects that are deleted
// or hidden. It locks the objects and their creators until tx ends, because a concurrent renaming
// of a creator also updates the documents of the objects that it finds. Without the locks, it could
// leave the old name in a document, or put back a document that another transaction has removed.
func (db *DB) Index(ctx context.Context, tx bun.Tx, ix *Index, ids ...int64) error {
	if len(ids) == 0 {
		return nil
	}
	var documents []Document
	condition, list := db.InList(1, ids)
	texts := db.ForShare(ix.texts(tx).Where("? ?", bun.Safe(ix.ID), condition).OrderExpr(ix.ID))
	if err := texts.Conn(database.Bind(tx, list)).Scan(ctx, &documents); err != nil {
		return err
	}
	_, err := tx.NewRaw("DELETE FROM ? WHERE ? ?", bun.Safe(ix.documents), db.FullText().id(), condition).
		Conn(database.Bind(tx, list)).Exec(ctx)
	if err != nil || len(documents) == 0 {
		return err
	}
	vocabulary, err := db.insertDocuments(ctx, tx, ix, documents)
	if err != nil {
		return err
	}
	return db.Learn(ctx, tx, ix, vocabulary)
}

// Indexed is a document of the search index: the words of its fields.
type Indexed struct {
	ID     int64
	Fields [4][]string
}

// insertDocuments inserts documents, and returns their words.
func (db *DB) insertDocuments(ctx context.Context, tx bun.IDB, ix *Index,
	documents []Document) (words []string, err error) {
	of := make([]Indexed, len(documents))
	for i, d := range documents {
		of[i] = Indexed{d.ID, d.Fields()}
		for _, field := range of[i].Fields {
			words = append(words, field...)
		}
	}
	return words, db.FullText().insert(ctx, tx, ix, of)
}

// Learn adds words to the vocabulary. The order is fixed, so that two transactions do not deadlock
// on each other's new words.
func (db *DB) Learn(ctx context.Context, tx bun.IDB, ix *Index, all []string) error {
	slices.Sort(all)
	for some := range slices.Chunk(slices.Compact(all), 1_000) {
		words, list := db.FullText().words(some)
		// Without WHERE, SQLite would take ON for the condition of a join.
		_, err := tx.NewRaw(
			"INSERT INTO vocabulary (noun, word) SELECT $1, value FROM ? WHERE true ON CONFLICT (noun, word) DO NOTHING", words).
			Conn(database.Bind(tx, ix.Noun, list)).Exec(ctx)
		if err != nil {
			return err
		}
	}
	return nil
}

// unchanged adds nothing to a query.
func unchanged(q *bun.SelectQuery) *bun.SelectQuery { return q }

// Reindex is index in a transaction of its own.
func (db *DB) Reindex(ctx context.Context, ix *Index, ids ...int64) error {
	return db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error { return db.Index(ctx, tx, ix, ids...) })
}

// ReindexAll updates the documents of all objects, in many transactions.
func (db *DB) ReindexAll(ctx context.Context) error {
	return eachTexts(ctx, db.Write, unchanged, func(ix *Index, ids []int64) error { return db.Reindex(ctx, ix, ids...) })
}

// Misindexed returns up to a number of IDs after the given one, in their order, of objects whose
// document is missing, and of documents whose object is missing.
func (db *DB) Misindexed(ctx context.Context, ix *Index, after int64, limit int) (ids []int64, err error) {
	err = db.Write.NewRaw(
		"SELECT d.id FROM (?0) AS d WHERE d.id > ?1 AND NOT EXISTS (SELECT 1 FROM ?2 AS w WHERE w.?3 = d.id) "+
			"UNION SELECT w.?3 AS id FROM ?2 AS w WHERE w.?3 > ?1 AND NOT EXISTS (SELECT 1 FROM (?0) AS d WHERE d.id = w.?3) ORDER BY id LIMIT ?4",
		ix.texts(db.Write), after, bun.Safe(ix.documents), db.FullText().id(), limit).Scan(ctx, &ids)
	return ids, err
}

// IndexUser updates the documents of a user and of all objects of the user, which contain the
// username.
func (db *DB) IndexUser(ctx context.Context, tx bun.Tx, userID int64) error {
	those := func(q *bun.SelectQuery) *bun.SelectQuery { return q.Where("u.id = ?", userID) }
	return eachTexts(ctx, tx, those, func(ix *Index, ids []int64) error { return db.Index(ctx, tx, ix, ids...) })
}

// eachTexts calls fn with the IDs of objects that everyone can find, in batches. those restricts a
// query of the texts of one type of objects.
func eachTexts(ctx context.Context, db bun.IDB, those func(*bun.SelectQuery) *bun.SelectQuery,
	fn func(ix *Index, ids []int64) error) error {
	for _, ix := range Indexes {
		for last := int64(0); ; {
			var ids []int64
			err := db.NewSelect().TableExpr("(?) AS d", those(ix.texts(db))).ColumnExpr("d.id").Where("d.id > ?", last).
				Order("d.id").Limit(500).Scan(ctx, &ids)
			if err != nil {
				return err
			}
			if len(ids) == 0 {
				break
			}
			if err := fn(ix, ids); err != nil {
				return err
			}
			last = ids[len(ids)-1]
		}
	}
	return nil
}
