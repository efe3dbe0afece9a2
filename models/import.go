package models

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/catalogue"
)

// Import is an import of things under way.
type Import struct {
	Source string // names what is imported: the same name goes on where an import of it was cut short
	Total  int    // how many things there are
	// Things gives them, from the one at an index on, the same ones in the same order each time.
	Things func(first int) iter.Seq[catalogue.Thing]
	// Progress is told after each batch how many things are in, of which some may have been there before.
	Progress func(done int)
	// Skipped is told what is left out, and why.
	Skipped func(why string)
}

// importBatch is how many things one transaction brings in.
const importBatch = 2_000

// Import loads things with what is known of their files, as published things of their authors, who become users. Ids stay; a thing whose
// id is taken is left out, so what is in already is not brought in twice. Each batch is in wholly or not at all, with the note of how far the import came: cut short, it
// goes on from there. It gives how many things are new.
//
// On PostgreSQL an import that is much larger than the catalogue does without indexes until its end, and so nobody should use the catalogue meanwhile.
func (s *Store) Import(ctx context.Context, im Import) (added int, err error) {
	conn, err := s.db.write.Conn(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	l := &loader{db: s.db, conn: conn, Import: im, tags: make(map[string]int64), words: make(map[string]bool)}
	if err := l.begin(ctx); err != nil {
		return 0, fmt.Errorf("import: %w", err)
	}
	var batch []catalogue.Thing
	for th := range im.Things(l.done) {
		if batch = append(batch, th); len(batch) < importBatch {
			continue
		}
		if err := l.load(ctx, batch); err != nil {
			return l.added, fmt.Errorf("import: after %d things: %w", l.done, err)
		}
		batch = batch[:0]
	}
	if err := l.load(ctx, batch); err != nil {
		return l.added, fmt.Errorf("import: after %d things: %w", l.done, err)
	}
	if err := l.finish(ctx); err != nil {
		return l.added, fmt.Errorf("import: all things are in; counts and indexes: %w", err)
	}
	return l.added, nil
}

// loader brings batches in.
type loader struct {
	Import
	db    *DB
	conn  bun.Conn
	done  int // things that are in
	added int // of which this run brought
	// started is the day on which the import began: what people did before counts for it.
	started time.Time

	shelves map[string]int64 // categories by slug
	tags    map[string]int64 // by slug
	words   map[string]bool  // that the vocabulary of things is known to have
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
	var shelves []*Category
	if err := l.conn.NewSelect().Model(&shelves).Column("id", "slug").Scan(ctx); err != nil {
		return err
	}
	l.shelves = make(map[string]int64, len(shelves))
	for _, c := range shelves {
		l.shelves[c.Slug] = c.ID
	}
	row := &importRow{Source: l.Source}
	l.started = now().Truncate(24 * time.Hour)
	err := l.conn.NewSelect().Model(row).WherePK().Scan(ctx)
	if err == nil {
		l.done, l.started = row.Done, row.StartedAt
		return nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	return l.conn.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
		later, err := l.strip(ctx, tx)
		if err != nil {
			return err
		}
		row.Later, row.StartedAt = strings.Join(later, "\n"), l.started
		_, err = tx.NewInsert().Model(row).Exec(ctx)
		return err
	})
}

// load brings a batch in.
func (l *loader) load(ctx context.Context, batch []catalogue.Thing) error {
	if err := ctx.Err(); err != nil || len(batch) == 0 {
		return err
	}
	var learned []string
	added := 0
	err := l.conn.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
		fresh, err := l.fresh(ctx, tx, batch)
		if err != nil {
			return err
		}
		added = len(fresh)
		if len(fresh) > 0 {
			if learned, err = l.insert(ctx, tx, fresh); err != nil {
				return err
			}
		}
		_, err = tx.NewUpdate().Model((*importRow)(nil)).Set("done = ?", l.done+len(batch)).Where("source = ?", l.Source).Exec(ctx)
		return err
	})
	if err != nil {
		return err
	}
	for _, word := range learned {
		l.words[word] = true
	}
	l.added += added
	l.done += len(batch)
	if l.Progress != nil {
		l.Progress(l.done)
	}
	return nil
}

// fresh leaves out things whose ids, or those of whose files, are taken.
func (l *loader) fresh(ctx context.Context, tx bun.Tx, batch []catalogue.Thing) ([]catalogue.Thing, error) {
	ids, fileIDs := make([]int64, len(batch)), []int64{0}
	for i, th := range batch {
		ids[i] = th.ID
		for _, f := range th.Files {
			fileIDs = append(fileIDs, f.ID)
		}
	}
	var there, filesThere []int64
	if err := tx.NewSelect().Table("things").Column("id").Where("id IN (?)", bun.List(ids)).Scan(ctx, &there); err != nil {
		return nil, err
	}
	if err := tx.NewSelect().Table("files").Column("id").Where("id IN (?)", bun.List(fileIDs)).Scan(ctx, &filesThere); err != nil {
		return nil, err
	}
	taken, filesTaken := setOf(there), setOf(filesThere)
	var fresh []catalogue.Thing
	for _, th := range batch {
		if taken[th.ID] {
			continue
		}
		th.Files = slices.DeleteFunc(slices.Clone(th.Files), func(f catalogue.File) bool {
			if filesTaken[f.ID] {
				l.Skipped(fmt.Sprintf("file %d of thing %d: there is another file of that id", f.ID, th.ID))
			}
			return filesTaken[f.ID]
		})
		if err := errors.Join(text("name", th.Name, maxName), text("description", th.Description, maxText)); err != nil {
			l.Skipped(fmt.Sprintf("thing %d: %s", th.ID, err))
			continue
		}
		th.Tags = slices.DeleteFunc(slices.Clone(th.Tags), func(tag string) bool {
			err := text("tag", tag, maxTag)
			if err != nil {
				l.Skipped(fmt.Sprintf("a tag of thing %d: %s", th.ID, err))
			}
			return err != nil
		})
		fresh = append(fresh, th)
	}
	return fresh, nil
}

// insert writes the rows of things that are new, and tells which words the vocabulary learned.
func (l *loader) insert(ctx context.Context, tx bun.Tx, things []catalogue.Thing) ([]string, error) {
	owners, err := l.owners(ctx, tx, things)
	if err != nil {
		return nil, err
	}
	if err := l.findTags(ctx, tx, things); err != nil {
		return nil, err
	}
	rows := newRows(l.db, l.conn)
	documents := make([]document, 0, len(things))
	for _, th := range things {
		at := th.Date.UTC().Truncate(time.Microsecond)
		owner := owners[strings.ToLower(author(th))]
		shelf, ok := l.shelves[th.Category]
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
		if th.Counts != (catalogue.Counts{}) {
			rows.add("imported_counts", "thing_id, at, downloads, likes, collects, makes, comments", th.ID, c.At, c.Downloads, c.Likes, c.Collects, c.Makes, c.Comments)
		}
		tags, _ := cleanTags(th.Tags[:min(len(th.Tags), maxTags)])
		for i, tag := range tags {
			rows.add("thing_tags", "thing_id, tag_id, position, name", th.ID, l.tags[tagSlug(tag)], int64(i), tag)
		}
		for i, f := range th.Files {
			kind, contentType := classify("application/octet-stream", f.Name, "")
			rows.add("files", "id, owner_id, name, kind, state, size, content_type, sha256, md5, object_key, target_type, target_id, thing_id, rank, download_count, created_at, finalized_at",
				f.ID, owner, f.Name, string(kind), string(Finalized), f.Size, contentType, "", "", "", string(OnThing), th.ID, th.ID, int64(i), int64(0), at, at)
		}
		documents = append(documents, document{th.ID, th.Name, strings.Join(tags, " "), author(th), th.Description})
	}
	learned, err := l.index(ctx, tx, thingIndex, documents, rows)
	if err != nil {
		return nil, err
	}
	return learned, rows.write(ctx, tx)
}

// index adds documents to the rows, and the words that are new to the vocabulary.
func (l *loader) index(ctx context.Context, tx bun.Tx, ix *index, documents []document, rows *rows) ([]string, error) {
	known := make(map[string]bool)
	for _, d := range documents {
		fields := d.fields()
		for _, field := range fields {
			for _, word := range field {
				if !l.words[word] || ix != thingIndex {
					known[word] = true
				}
			}
		}
		if l.db.Engine == Postgres {
			rows.add(ix.documents, "id, words", d.ID, vector(fields))
		} else {
			rows.add(ix.documents, "rowid, name, tags, creator, body", d.ID, strings.Join(fields[0], " "), strings.Join(fields[1], " "), strings.Join(fields[2], " "), strings.Join(fields[3], " "))
		}
	}
	learned := make([]string, 0, len(known))
	for word := range known {
		learned = append(learned, word)
	}
	return learned, learn(ctx, tx, ix, slices.Clone(learned))
}

// author is the user whom a thing is of.
func author(th catalogue.Thing) string {
	name := strings.Map(func(r rune) rune {
		if r < 0x80 && (r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("_.-", r)) {
			return r
		}
		return '_'
	}, th.Author)
	name = name[:min(len(name), 64)]
	if name == "" || !username.MatchString(name) || usernameTaken.MatchString(name) {
		return "unknown"
	}
	return name
}

// owners gives the authors' ids by their names in small letters, and makes users of those who are none.
func (l *loader) owners(ctx context.Context, tx bun.Tx, things []catalogue.Thing) (map[string]int64, error) {
	names := make(map[string]*User)
	var folded []string
	for _, th := range things {
		name := author(th)
		if names[strings.ToLower(name)] == nil {
			names[strings.ToLower(name)] = &User{Username: name, DefaultLicense: CC, CreatedAt: th.Date.UTC()}
			folded = append(folded, strings.ToLower(name))
		}
	}
	var there []*User
	if err := tx.NewSelect().Model(&there).Column("id", "username").Where("lower(username) IN (?)", bun.List(folded)).Scan(ctx); err != nil {
		return nil, err
	}
	owners := make(map[string]int64, len(names))
	for _, u := range there {
		owners[strings.ToLower(u.Username)] = u.ID
	}
	var fresh []*User
	for _, name := range folded {
		if owners[name] == 0 {
			fresh = append(fresh, names[name])
		}
	}
	if len(fresh) == 0 {
		return owners, nil
	}
	if _, err := tx.NewInsert().Model(&fresh).Exec(ctx); err != nil {
		return nil, err
	}
	rows, documents := newRows(l.db, l.conn), make([]document, len(fresh))
	for i, u := range fresh {
		owners[strings.ToLower(u.Username)] = u.ID
		documents[i] = document{ID: u.ID, Name: u.Username}
	}
	if _, err := l.index(ctx, tx, userIndex, documents, rows); err != nil {
		return nil, err
	}
	return owners, rows.write(ctx, tx)
}

// findTags learns the ids of the tags of things, and makes those that are none.
func (l *loader) findTags(ctx context.Context, tx bun.Tx, things []catalogue.Thing) error {
	var fresh []*Tag
	asked := make(map[string]bool)
	for _, th := range things {
		for _, tag := range th.Tags {
			name := strings.Join(strings.Fields(tag), " ")
			if slug := tagSlug(name); slug != "" && l.tags[slug] == 0 && !asked[slug] {
				asked[slug] = true
				fresh = append(fresh, &Tag{Name: name, Slug: slug})
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

// importedCounts are what people did with a thing before it was imported. They count for one day, that of the import.
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
