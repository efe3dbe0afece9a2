package models

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/dataset"
)

// Import is an import of things under way.
type Import struct {
	Source string // names what is imported: the same name goes on where an import of it was cut short
	Total  int    // how many things there are
	// Things returns them from an index on, always the same ones in the same order.
	Things func(first int) iter.Seq[dataset.Thing]
	// Progress is called after each batch with the number of things, some of which may have existed
	// before.
	Progress func(done int)
	// Skipped is called with a description of each skipped item.
	Skipped func(why string)
	// Whole brings in all or nothing, in one transaction: where anything would be left out, nothing
	// is brought in.
	Whole bool
}

// importBatch is how many things one transaction brings in.
const importBatch = 1_000

// Import loads things with what is known of their files, as published things of their authors, who
// become users. Ids stay; a thing whose id is taken is left out, so what is in already is not
// brought in twice. Each batch is in wholly or not at all, with the note of how far the import
// came: cut short, it goes on from there. It gives how many things are new.
//
// On PostgreSQL an import that is much larger than the catalogue does without indexes until its
// end, and so nobody should use the catalogue meanwhile.
func (s *Store) Import(ctx context.Context, im Import) (added int, err error) {
	l := &loader{db: s.db, Import: im, started: now().Truncate(24 * time.Hour), tags: make(map[string]int64), words: make(map[string]bool)}
	if im.Whole {
		return l.whole(ctx)
	}
	if err := l.begin(ctx); err != nil {
		return 0, fmt.Errorf("import: %w", err)
	}
	if im.Progress != nil {
		im.Progress(l.done)
	}
	reading, stop := context.WithCancel(ctx)
	defer stop()
	for batch := range l.batches(reading) {
		if err := l.load(ctx, batch); err != nil {
			return l.added, fmt.Errorf("import: after %d things: %w", l.done, err)
		}
	}
	if err := ctx.Err(); err != nil {
		return l.added, fmt.Errorf("import: after %d things: %w", l.done, err)
	}
	if err := l.finish(ctx); err != nil {
		return l.added, fmt.Errorf("import: all things are in; counts and indexes: %w", err)
	}
	return l.added, nil
}

// whole brings all in or nothing.
func (l *loader) whole(ctx context.Context) (int, error) {
	left, tell := 0, l.Skipped
	l.Skipped = func(why string) {
		left++
		tell(why)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	err := l.inTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := l.findShelves(ctx, tx); err != nil {
			return err
		}
		for batch := range l.batches(ctx) {
			added, learned, err := l.bring(ctx, tx, batch)
			if err != nil {
				return err
			}
			l.note(len(batch), added, learned)
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case left > 0:
			return badInput("", "%d of %d would be left out, so nothing is brought in", left, l.done)
		}
		return l.settle(ctx, tx)
	})
	if err != nil {
		return 0, fmt.Errorf("import: %w", err)
	}
	return l.added, nil
}

// loader brings batches in.
type loader struct {
	Import
	db    *DB
	conn  bun.Conn // of the transaction under way
	done  int      // things that are in
	added int      // of which this run brought
	// started is the day on which the import began: what people did before counts for it.
	started time.Time

	shelves map[string]int64 // categories by slug
	tags    map[string]int64 // by slug
	words   map[string]bool  // that the vocabulary of things is known to have
}

// inTx runs a transaction, and knows its connection, which COPY needs. Others have the connection
// in between: SQLite has but one that writes.
func (l *loader) inTx(ctx context.Context, fn func(ctx context.Context, tx bun.Tx) error) (err error) {
	if l.conn, err = l.db.write.Conn(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.conn.Close()) }()
	return l.conn.RunInTx(ctx, nil, fn)
}

// importRow is how far an import came.
type importRow struct {
	bun.BaseModel `bun:"table:imports"`

	Source    string `bun:",pk"`
	StartedAt time.Time
	Done      int
	Later     string // statements that its end runs, one a line
}

// begin notes the import, or finds out where it goes on.
func (l *loader) begin(ctx context.Context) error {
	if err := l.findShelves(ctx, l.db.read); err != nil {
		return err
	}
	row := &importRow{Source: l.Source}
	err := l.db.write.NewSelect().Model(row).WherePK().Scan(ctx)
	if err == nil {
		l.done, l.started = row.Done, row.StartedAt
		return nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	return l.inTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		later, err := l.strip(ctx, tx)
		if err != nil {
			return err
		}
		row.Later, row.StartedAt = strings.Join(later, "\n"), l.started
		_, err = tx.NewInsert().Model(row).Exec(ctx)
		return err
	})
}

// findShelves learns the categories.
func (l *loader) findShelves(ctx context.Context, db bun.IDB) (err error) {
	l.shelves, err = shelvesByName(ctx, db)
	return err
}

// shelvesByName returns the ids of all categories by their slugs and by their names in small
// letters.
func shelvesByName(ctx context.Context, db bun.IDB) (map[string]int64, error) {
	var all []*Category
	err := db.NewSelect().Model(&all).Column("id", "slug", "name").Scan(ctx)
	shelves := make(map[string]int64, 2*len(all))
	for _, c := range all {
		shelves[c.Slug], shelves[strings.ToLower(c.Name)] = c.ID, c.ID
	}
	return shelves, err
}

// shelfOf names the lowest category that is known of a thing.
func shelfOf(th dataset.Thing) string { return strings.ToLower(cmp.Or(th.Subcategory, th.Category)) }

// ImportCheck returns a function that returns an error for what an import would skip or change
// of a thing.
func (s *Store) ImportCheck(ctx context.Context) (func(dataset.Thing) error, error) {
	shelves, err := shelvesByName(ctx, s.db.read)
	return func(th dataset.Thing) error {
		errs := []error{text("name", th.Name, maxName), text("description", th.Description, MaxText)}
		if strings.TrimSpace(th.Name) == "" {
			errs = append(errs, required("name"))
		}
		if author(th) != th.Author {
			errs = append(errs, badInput("creator", "creator: %.60q is no user name: want 1 to 64 letters, digits, '_', '.' or '-', beginning with a letter or digit, not digits alone", th.Author))
		}
		if th.License != "" && !slices.Contains(licenses, License(th.License)) {
			errs = append(errs, badInput("license", "license: %.60q is not one of %s", th.License, licenses))
		}
		if _, known := shelves[shelfOf(th)]; shelfOf(th) != "" && !known {
			errs = append(errs, badInput("category", "category: there is no %.60q", shelfOf(th)))
		}
		_, err := cleanTags(th.Tags)
		return errors.Join(append(errs, err)...)
	}, err
}

// incoming is a thing with its words, which take the longest to find.
type incoming struct {
	dataset.Thing
	fields [4][]string
}

// batches reads things and finds their words while the database works on the batch before.
func (l *loader) batches(ctx context.Context) <-chan []incoming {
	ready, first := make(chan []incoming), l.done
	go func() {
		defer close(ready)
		var batch []incoming
		send := func() bool {
			select {
			case ready <- batch:
				batch = nil
				return true
			case <-ctx.Done():
				return false
			}
		}
		for th := range l.Things(first) {
			th.Tags = l.tidyTags(th)
			d := document{th.ID, th.Name, strings.Join(th.Tags, " "), author(th), th.Description}
			if batch = append(batch, incoming{th, d.fields()}); len(batch) == importBatch && !send() {
				return
			}
		}
		if len(batch) > 0 {
			send()
		}
	}()
	return ready
}

// tidyTags returns the tags of a thing as it may have them.
func (l *loader) tidyTags(th dataset.Thing) []string {
	fitting := slices.DeleteFunc(slices.Clone(th.Tags), func(tag string) bool {
		err := text("tag", tag, maxTag)
		if err != nil {
			l.Skipped(fmt.Sprintf("a tag of thing %d: %s", th.ID, err))
		}
		return err != nil
	})
	if len(fitting) > maxTags {
		l.Skipped(fmt.Sprintf("thing %d: must have at most %[3]d tags (got %[2]d)", th.ID, len(fitting), maxTags))
		fitting = fitting[:maxTags]
	}
	tags, _ := cleanTags(fitting) // each was checked, and there are not too many
	return tags
}

// load brings a batch in.
func (l *loader) load(ctx context.Context, batch []incoming) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var learned []string
	var added int
	err := l.inTx(ctx, func(ctx context.Context, tx bun.Tx) (err error) {
		if added, learned, err = l.bring(ctx, tx, batch); err != nil {
			return err
		}
		_, err = tx.NewUpdate().Model((*importRow)(nil)).Set("done = ?", l.done+len(batch)).Where("source = ?", l.Source).Exec(ctx)
		return err
	})
	if err != nil {
		return err
	}
	l.note(len(batch), added, learned)
	return nil
}

// bring writes what is new of a batch, and returns how many things are new and which words the
// vocabulary learned.
func (l *loader) bring(ctx context.Context, tx bun.Tx, batch []incoming) (added int, learned []string, err error) {
	fresh, err := l.fresh(ctx, tx, batch)
	if err != nil || len(fresh) == 0 {
		return 0, nil, err
	}
	learned, err = l.insert(ctx, tx, fresh)
	return len(fresh), learned, err
}

// note keeps count of what is in.
func (l *loader) note(done, added int, learned []string) {
	for _, word := range learned {
		l.words[word] = true
	}
	l.done += done
	l.added += added
	if l.Progress != nil {
		l.Progress(l.done)
	}
}

// fresh leaves out things whose ids, or those of whose files, are taken.
func (l *loader) fresh(ctx context.Context, tx bun.Tx, batch []incoming) ([]incoming, error) {
	var ids, fileIDs []int64
	for _, th := range batch {
		if th.ID != 0 {
			ids = append(ids, th.ID)
		}
		for _, f := range th.Files {
			fileIDs = append(fileIDs, f.ID)
		}
	}
	taken, err := l.taken(ctx, tx, "things", "id", ids)
	if err != nil {
		return nil, err
	}
	filesTaken, err := l.taken(ctx, tx, "files", "id", fileIDs)
	if err != nil {
		return nil, err
	}
	renderingsTaken, err := l.taken(ctx, tx, "files", "rendering_id", fileIDs)
	if err != nil {
		return nil, err
	}
	var fresh []incoming
	for _, th := range batch {
		if taken[th.ID] {
			if l.Whole {
				l.Skipped(fmt.Sprintf("thing %d is there already", th.ID))
			}
			continue
		}
		if err := errors.Join(text("name", th.Name, maxName), text("description", th.Description, MaxText)); err != nil {
			l.Skipped(fmt.Sprintf("thing %d: %s", th.ID, err))
			continue
		}
		th.Files = slices.DeleteFunc(slices.Clone(th.Files), func(f dataset.File) bool {
			taken := filesTaken[f.ID] || renderingsTaken[f.ID]
			if taken {
				l.Skipped(fmt.Sprintf("file %d of thing %d: there is another file of that id", f.ID, th.ID))
			}
			return taken
		})
		fresh = append(fresh, th)
	}
	return fresh, nil
}

// taken returns which of the ids the column of a table holds already.
func (l *loader) taken(ctx context.Context, tx bun.Tx, table, column string, ids []int64) (map[int64]bool, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var there []int64
	between := tx.NewSelect().Table(table).Column(column).Where("?0 <> 0 AND ?0 BETWEEN ?1 AND ?2", bun.Ident(column), slices.Min(ids), slices.Max(ids))
	// Where nothing lies between them, as when most is new, that is soon seen.
	if some, err := between.Exists(ctx); err != nil || !some {
		return nil, err
	}
	err := tx.NewSelect().Table(table).Column(column).Where("?0 <> 0 AND ?0 IN (?1)", bun.Ident(column), bun.List(ids)).Scan(ctx, &there)
	return setOf(there), err
}

// insert writes the rows of things that are new, and returns the words that are new in the
// vocabulary.
func (l *loader) insert(ctx context.Context, tx bun.Tx, things []incoming) ([]string, error) {
	owners, err := l.owners(ctx, tx, things)
	if err != nil {
		return nil, err
	}
	if err := l.findTags(ctx, tx, things); err != nil {
		return nil, err
	}
	nameless := slices.Collect(func(yield func(*incoming) bool) {
		for i := range things {
			if things[i].ID == 0 && !yield(&things[i]) {
				return
			}
		}
	})
	ids, err := l.newIDs(ctx, tx, "things", len(nameless))
	if err != nil {
		return nil, err
	}
	for i, th := range nameless {
		th.ID = ids[i]
	}
	rows := newRows(l.db, l.conn)
	documents := make([]indexed, len(things))
	for i, th := range things {
		at := th.Date.UTC().Truncate(time.Microsecond)
		owner := owners[strings.ToLower(author(th.Thing))]
		shelf, ok := l.shelves[shelfOf(th.Thing)]
		if !ok {
			shelf = l.shelves["other"]
		}
		license := License(th.License)
		switch {
		case slices.Contains(licenses, license):
		case license == "public":
			license = PD0
		default:
			license = CCNCND // nobody may be told that more is allowed than is known
		}
		c := importedCounts{ThingID: th.ID, At: l.started, Downloads: th.Counts.Downloads, Likes: th.Counts.Likes, Collects: th.Counts.Collects, Makes: th.Counts.Makes, Comments: th.Counts.Comments}
		popularity := popularityKept(c.days())
		rows.add("things", "id, owner_id, name, state, license, category_id, description, instructions, is_wip, created_at, modified_at, published_at, popularity, like_count, collect_count, make_count, comment_count, download_count",
			th.ID, owner, th.Name, string(Published), string(license), shelf, th.Description, "", false, at, at, at, popularity, c.Likes, c.Collects, c.Makes, c.Comments, c.Downloads)
		if th.Counts != (dataset.Counts{}) {
			rows.add("imported_counts", "thing_id, at, downloads, likes, collects, makes, comments", th.ID, c.At, c.Downloads, c.Likes, c.Collects, c.Makes, c.Comments)
		}
		for place, tag := range th.Tags {
			rows.add("thing_tags", "thing_id, tag_id, position, name", th.ID, l.tags[tagSlug(tag)], int64(place), tag)
		}
		for rank, f := range th.Files {
			kind, contentType := classify("application/octet-stream", f.Name, "")
			rows.add("files", "id, owner_id, name, kind, state, size, content_type, sha256, md5, object_key, target_type, target_id, thing_id, rank, download_count, created_at, finalized_at",
				f.ID, owner, f.Name, string(kind), string(Finalized), f.Size, contentType, "", "", "", string(OnThing), th.ID, th.ID, int64(rank), int64(0), at, at)
		}
		documents[i] = indexed{th.ID, th.fields}
	}
	learned, err := l.index(ctx, tx, thingIndex, documents, rows)
	if err != nil {
		return nil, err
	}
	return learned, rows.write(ctx, tx)
}

// indexed is a document by its words.
type indexed struct {
	id     int64
	fields [4][]string
}

// index adds documents to the rows, and the words that are new to the vocabulary.
func (l *loader) index(ctx context.Context, tx bun.Tx, ix *index, documents []indexed, rows *rows) ([]string, error) {
	known := make(map[string]bool)
	for _, d := range documents {
		fields := d.fields
		for _, field := range fields {
			for _, word := range field {
				if !l.words[word] || ix != thingIndex {
					known[word] = true
				}
			}
		}
		if l.db.Engine == Postgres {
			rows.add(ix.documents, "id, words", d.id, vector(fields))
		} else {
			rows.add(ix.documents, "rowid, name, tags, creator, body", d.id, strings.Join(fields[0], " "), strings.Join(fields[1], " "), strings.Join(fields[2], " "), strings.Join(fields[3], " "))
		}
	}
	learned := make([]string, 0, len(known))
	for word := range known {
		learned = append(learned, word)
	}
	return learned, learn(ctx, tx, ix, slices.Clone(learned))
}

// author returns the username of the creator of a thing.
func author(th dataset.Thing) string {
	name := strings.Map(func(r rune) rune {
		if r < 0x80 && (r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("_.-", r)) {
			return r
		}
		return '_'
	}, th.Author)
	name = name[:min(len(name), 64)]
	if name == "" || !auth.IsUsername(name) || usernameTaken.MatchString(name) {
		return "unknown"
	}
	return name
}

// owners returns the authors' ids by their names in small letters, and makes users of those who are
// none.
func (l *loader) owners(ctx context.Context, tx bun.Tx, things []incoming) (map[string]int64, error) {
	first := make(map[string]dataset.Thing)
	var folded []string
	for _, th := range things {
		name := strings.ToLower(author(th.Thing))
		if _, seen := first[name]; !seen {
			first[name] = th.Thing
			folded = append(folded, name)
		}
	}
	var there []*User
	if err := tx.NewSelect().Model(&there).Column("id", "username").Where("lower(username) IN (?)", bun.List(folded)).Scan(ctx); err != nil {
		return nil, err
	}
	owners := make(map[string]int64, len(first))
	for _, u := range there {
		owners[strings.ToLower(u.Username)] = u.ID
	}
	fresh := slices.DeleteFunc(folded, func(name string) bool { return owners[name] != 0 })
	if len(fresh) == 0 {
		return owners, nil
	}
	ids, err := l.newIDs(ctx, tx, "users", len(fresh))
	if err != nil {
		return nil, err
	}
	rows, documents := newRows(l.db, l.conn), make([]indexed, len(fresh))
	for i, name := range fresh {
		owners[name] = ids[i]
		th := first[name]
		rows.add("users", "id, username, is_admin, created_at", ids[i], author(th), false, th.Date.UTC())
		documents[i] = indexed{ids[i], document{Name: author(th)}.fields()}
	}
	if _, err := l.index(ctx, tx, userIndex, documents, rows); err != nil {
		return nil, err
	}
	return owners, rows.write(ctx, tx)
}

// newIDs returns IDs that no row of a table has, or had.
func (l *loader) newIDs(ctx context.Context, tx bun.Tx, table string, n int) (ids []int64, err error) {
	next := "SELECT nextval(pg_get_serial_sequence(?0, 'id')) FROM generate_series(1, ?1)"
	if l.db.Engine == SQLite {
		next = "WITH RECURSIVE n (id) AS (SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = ?0), 0) + 1 UNION ALL SELECT id + 1 FROM n) SELECT id FROM n LIMIT ?1"
	}
	err = tx.NewRaw(next, table, n).Scan(ctx, &ids)
	return ids, err
}

// findTags learns the ids of the tags of things, and makes those that are none.
func (l *loader) findTags(ctx context.Context, tx bun.Tx, things []incoming) error {
	var fresh []*Tag
	asked := make(map[string]bool)
	for _, th := range things {
		for _, tag := range th.Tags {
			if slug := tagSlug(tag); slug != "" && l.tags[slug] == 0 && !asked[slug] {
				asked[slug] = true
				fresh = append(fresh, &Tag{Name: tag, Slug: slug})
			}
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	slices.SortFunc(fresh, func(a, b *Tag) int { return strings.Compare(a.Slug, b.Slug) })
	_, err := tx.NewInsert().Model(&fresh).Column("name", "slug").On("CONFLICT (slug) DO UPDATE").Set("slug = EXCLUDED.slug").Returning("id").Exec(ctx)
	for _, g := range fresh {
		l.tags[g.Slug] = g.ID // wrong where the transaction fails, which ends the import
	}
	return err
}

// importedCounts are what people did with a thing before it was imported. They count for one day,
// that of the import.
type importedCounts struct {
	bun.BaseModel `bun:"table:imported_counts,alias:ic"`

	ThingID                                     int64 `bun:",pk"`
	At                                          time.Time
	Downloads, Likes, Collects, Makes, Comments int64
}

// days is what they are to the popularity.
func (c importedCounts) days() []PopularityDay {
	var days []PopularityDay
	for _, did := range []struct{ weight, users int64 }{{8, c.Makes}, {3, c.Likes}, {2, c.Collects}, {1, c.Downloads}} {
		if did.users > 0 {
			days = append(days, PopularityDay{ThingID: c.ThingID, Day: c.At.UTC().Format(time.DateOnly), Weight: did.weight, Users: did.users})
		}
	}
	return days
}
