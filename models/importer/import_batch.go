package importer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/dataset"
	"github.com/meshyard/meshyard/internal/markdown"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/maintenance"
)

// incoming is a thing with its search terms, by field, and the HTML of its description.
type incoming struct {
	dataset.Thing
	fields [4][]string
	html   string
}

// batches reads things, finds their search terms and renders their descriptions while the database
// stores the previous batch.
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
			th.Tags = l.validTags(th)
			d := models.Document{ID: th.ID, Name: th.Name, Tags: strings.Join(th.Tags, " "), Creator: author(th),
				Body: th.Description, Files: models.FilePaths(names(th.Files))}
			if batch = append(batch, incoming{th, d.Fields(), markdown.HTML(th.Description)}); len(batch) == importBatch &&
				!send() {
				return
			}
		}
		if len(batch) > 0 {
			send()
		}
	}()
	return ready
}

// names returns the names of files.
func names(files []dataset.File) []string {
	all := make([]string, len(files))
	for i, f := range files {
		all[i] = f.Name
	}
	return all
}

// validTags returns the valid tags of a thing, and reports the others as skipped.
func (l *loader) validTags(th dataset.Thing) []string {
	valid := slices.DeleteFunc(slices.Clone(th.Tags), func(tag string) bool {
		err := models.CheckText("tag", tag, models.MaxTag)
		if err != nil {
			l.Skipped(fmt.Sprintf("a tag of thing %d: %s", th.ID, err))
		}
		return err != nil
	})
	if len(valid) > models.MaxTags {
		l.Skipped(fmt.Sprintf("thing %d: must have at most %[3]d tags (got %[2]d)", th.ID, len(valid), models.MaxTags))
		valid = valid[:models.MaxTags]
	}
	tags, _ := models.CleanTags(valid) // each was checked, and there are not too many
	return tags
}

// commit imports a batch and stores the progress in the same transaction.
func (l *loader) commit(ctx context.Context, batch []incoming) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var learned []string
	var added int
	err := l.inTx(ctx, func(ctx context.Context, tx bun.Tx) (err error) {
		// A crash of PostgreSQL may lose the last batches together with their progress. The last commit
		// of the import flushes all.
		if err := l.db.CommitAsync(ctx, tx); err != nil {
			return err
		}
		if added, learned, err = l.add(ctx, tx, batch); err != nil {
			return err
		}
		_, err = tx.NewUpdate().Model((*models.ImportRow)(nil)).Set("done = ?", l.done+len(batch)).
			Where("source = ?", l.Source).Exec(ctx)
		return err
	})
	if err != nil {
		return err
	}
	l.advance(len(batch), added, learned)
	return nil
}

// add inserts the new things of a batch. It returns their number and the words that are new in the
// vocabulary.
func (l *loader) add(ctx context.Context, tx bun.Tx, batch []incoming) (added int, learned []string, err error) {
	fresh, err := l.withoutKnown(ctx, tx, batch)
	if err != nil || len(fresh) == 0 {
		return 0, nil, err
	}
	learned, err = l.insert(ctx, tx, fresh)
	return len(fresh), learned, err
}

// advance updates and reports the progress.
func (l *loader) advance(done, added int, learned []string) {
	for _, word := range learned {
		l.words[word] = true
	}
	l.done += done
	l.added += added
	if l.Progress != nil {
		l.Progress(l.done)
	}
}

// withoutKnown returns the things of a batch without those whose IDs exist, and without files whose
// IDs exist.
func (l *loader) withoutKnown(ctx context.Context, tx bun.Tx, batch []incoming) ([]incoming, error) {
	var ids, fileIDs []int64
	for _, th := range batch {
		if th.ID != 0 {
			ids = append(ids, th.ID)
		}
		for _, f := range th.Files {
			fileIDs = append(fileIDs, f.ID)
		}
	}
	taken, err := l.existing(ctx, tx, "things", "id", ids)
	if err != nil {
		return nil, err
	}
	filesTaken, err := l.existing(ctx, tx, "files", "id", fileIDs)
	if err != nil {
		return nil, err
	}
	renderingsTaken, err := l.existing(ctx, tx, "files", "rendering_id", fileIDs)
	if err != nil {
		return nil, err
	}
	var fresh []incoming
	for _, th := range batch {
		if taken[th.ID] {
			if l.Whole {
				l.Skipped(fmt.Sprintf("thing %d exists already", th.ID))
			}
			continue
		}
		if err := errors.Join(models.CheckText("name", th.Name, models.MaxName),
			models.CheckText("description", th.Description, models.MaxText)); err != nil {
			l.Skipped(fmt.Sprintf("thing %d: %s", th.ID, err))
			continue
		}
		th.Files = slices.DeleteFunc(slices.Clone(th.Files), func(f dataset.File) bool {
			taken := filesTaken[f.ID] || renderingsTaken[f.ID]
			if taken {
				l.Skipped(fmt.Sprintf("file %d of thing %d: another file has this ID", f.ID, th.ID))
			}
			return taken
		})
		fresh = append(fresh, th)
	}
	return fresh, nil
}

// existing returns which of the IDs a column of a table contains.
func (l *loader) existing(ctx context.Context, tx bun.Tx, table, column string, ids []int64) (map[int64]bool, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var there []int64
	between := tx.NewSelect().Table(table).Column(column).Where("?0 <> 0 AND ?0 BETWEEN ?1 AND ?2", bun.Ident(column),
		slices.Min(ids), slices.Max(ids))
	// If most things are new, the range contains no rows, and this query is faster than the next.
	if some, err := between.Exists(ctx); err != nil || !some {
		return nil, err
	}
	err := tx.NewSelect().Table(table).Column(column).Where("?0 <> 0 AND ?0 IN (?1)", bun.Ident(column), bun.List(ids)).
		Scan(ctx, &there)
	return models.SetOf(there), err
}

// insert inserts things, and returns the words that are new in the vocabulary.
func (l *loader) insert(ctx context.Context, tx bun.Tx, things []incoming) ([]string, error) {
	owners, err := l.owners(ctx, tx, things)
	if err != nil {
		return nil, err
	}
	if err := l.findTags(ctx, tx, things); err != nil {
		return nil, err
	}
	withoutID := slices.Collect(func(yield func(*incoming) bool) {
		for i := range things {
			if things[i].ID == 0 && !yield(&things[i]) {
				return
			}
		}
	})
	ids, err := l.db.TakeIDs(ctx, tx, "things", len(withoutID))
	if err != nil {
		return nil, err
	}
	for i, th := range withoutID {
		th.ID = ids[i]
	}
	rows := database.NewBulk(l.db.DB, l.conn)
	documents := make([]models.Indexed, len(things))
	for i, th := range things {
		at := th.Date.UTC().Truncate(time.Microsecond)
		owner := owners[models.FoldUsername(author(th.Thing))]
		category, ok := l.categories[categoryOf(th.Thing)]
		if !ok {
			category = l.categories["other"]
		}
		terms := licenseID(th.License)
		from := Origin(th.Origin.Creator, th.Origin.CreatorURL, th.Origin.URL, th.Origin.Site)
		if from == nil && th.Author != "" && author(th.Thing) != th.Author {
			from = Origin(th.Author, "", "", "") // the name of the user here is another
		}
		origin := append(originOf(from), nil)
		if from != nil {
			origin[len(origin)-1] = l.started
		}
		c := maintenance.ImportedCounts{ThingID: th.ID, At: l.started, Downloads: th.Counts.Downloads, Likes: th.Counts.Likes,
			Collects: th.Counts.Collects, Makes: th.Counts.Makes, Comments: th.Counts.Comments}
		popularity := maintenance.PopularityKept(c.Days())
		rows.Add("things", "id, owner_id, name, state, license, category_id, description, description_html, html_version, instructions, is_wip, created_at, modified_at, published_at, popularity, like_count, collect_count, make_count, comment_count, download_count, license_id, origin_creator, origin_creator_url, source_url, origin_site, imported_at",
			append([]any{th.ID, owner, th.Name, string(models.Published), string(models.LicenseOf(terms)), category,
				th.Description, th.html, int64(markdown.Version), "", false, at, at, at, popularity, c.Likes, c.Collects, c.Makes,
				c.Comments, c.Downloads, string(terms)}, origin...)...)
		if th.Counts != (dataset.Counts{}) {
			rows.Add("imported_counts", "thing_id, at, downloads, likes, collects, makes, comments", th.ID, c.At, c.Downloads,
				c.Likes, c.Collects, c.Makes, c.Comments)
		}
		for position, tag := range th.Tags {
			rows.Add("thing_tags", "thing_id, tag_id, position, name", th.ID, l.tags[models.TagSlug(tag)], int64(position), tag)
		}
		for rank, f := range th.Files {
			kind, contentType := models.Classify("application/octet-stream", f.Name, "")
			rows.Add("files", "id, owner_id, name, kind, state, size, content_type, sha256, md5, object_key, target_type, target_id, thing_id, rank, download_count, created_at, finalized_at",
				f.ID, owner, f.Name, string(kind), string(models.Finalized), f.Size, contentType, "", "", "",
				string(models.OnThing), th.ID, th.ID, int64(rank), int64(0), at, at)
		}
		documents[i] = models.Indexed{ID: th.ID, Fields: th.fields}
	}
	learned, err := l.index(ctx, tx, models.ThingIndex, documents, rows)
	if err != nil {
		return nil, err
	}
	return learned, rows.Write(ctx, tx)
}

// index adds documents to the rows, and their new words to the vocabulary. It returns these words.
func (l *loader) index(ctx context.Context, tx bun.Tx, ix *models.Index, documents []models.Indexed,
	rows *database.Bulk) ([]string, error) {
	known := make(map[string]bool)
	for _, d := range documents {
		for _, field := range d.Fields {
			for _, word := range field {
				if !l.words[word] || ix != models.ThingIndex {
					known[word] = true
				}
			}
		}
		l.db.FullText().Add(rows, ix, d)
	}
	learned := make([]string, 0, len(known))
	for word := range known {
		learned = append(learned, word)
	}
	return learned, l.db.Learn(ctx, tx, ix, slices.Clone(learned))
}
