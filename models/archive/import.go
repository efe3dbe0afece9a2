package archive

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/archive"
	"github.com/meshyard/meshyard/models"
)

// Import holds the options of ImportArchive.
type Import struct {
	User string // a new username for the user of the archive; empty: keep the username
	// Progress is called while rows of a noun are loaded.
	Progress func(noun string, done, total int64)
	// Renumbered is called with the old and the new ID of each user, thing, make, comment, collection
	// and file of an archive of one user.
	Renumbered func(noun string, from, to int64) error
	// Lost is called with each file that loses its content, because the archive has not got it or it
	// is damaged or unreadable.
	Lost func(fileID int64, cause error)
}

// Report describes a completed import.
type Report struct {
	Rows int64 // in the archive
	// LeftOut describes the data of the archive that was left out or changed.
	LeftOut  []string
	Lost     int64 // number of files that lost their contents
	Previews int   // number of scheduled previews
}

// archiveBatch and archiveBatchBytes limit the rows that one transaction loads.
const (
	archiveBatch      = 500
	archiveBatchBytes = 4 << 20
)

// ImportArchive imports an archive. An archive of everything requires a database without users, and
// its rows keep their IDs. An archive of one user creates that user, and all its rows get new IDs.
// Rows are loaded in batches. Each batch is committed together with the progress, so an interrupted
// import continues after the last batch when it is started again.
func (a Admin) ImportArchive(ctx context.Context, r *archive.Reader, im Import) (*Report, error) {
	l := &archiveLoader{Import: im, store: a.store, from: r, leftOut: map[string]int64{}, missing: map[string]bool{}}
	if err := l.check(); err != nil {
		return nil, err
	}
	if err := r.Verify(ctx); err != nil {
		return nil, err
	}
	if err := l.begin(ctx); err != nil {
		return nil, err
	}
	for _, n := range r.Nouns {
		if !l.loaded(n.Name) {
			if err := l.load(ctx, n); err != nil {
				return nil, fmt.Errorf("import %s: %w", n.Name, err)
			}
		}
	}
	return l.finish(ctx)
}

// ArchiveState is how far the import of an archive of everything is.
type ArchiveState string

// The states.
const (
	ArchiveNotBegun ArchiveState = "not begun" // there are no users
	ArchiveLoading  ArchiveState = "loading"
	ArchiveLoaded   ArchiveState = "loaded" // there are users, of an archive or of this server
)

// ArchiveState returns how far the import of an archive of everything is, if there was one.
func (a Admin) ArchiveState(ctx context.Context) (ArchiveState, error) {
	loading, err := a.store.core.DB.Write.NewSelect().Model((*models.ArchiveImport)(nil)).Exists(ctx)
	if loading || err != nil {
		return ArchiveLoading, err
	}
	users, err := a.store.core.DB.Write.NewSelect().Model((*models.User)(nil)).Exists(ctx)
	if users || err != nil {
		return ArchiveLoaded, err
	}
	return ArchiveNotBegun, nil
}

// archiveLoader loads an archive.
type archiveLoader struct {
	Import
	store   *Store
	from    *archive.Reader
	row     models.ArchiveImport
	leftOut map[string]int64
	missing map[string]bool // SHA-256 hashes of contents that the archive lists as missing
}

// ofUser reports whether the archive contains the data of one user only.
func (l *archiveLoader) ofUser() bool { return l.from.User != "" }

// check sorts the nouns of the archive into the order of archiveTables. It returns an error if one
// is unknown or repeated, or if the user of the archive cannot have the requested username.
func (l *archiveLoader) check() error {
	at := func(n archive.Noun) int {
		return slices.IndexFunc(archiveTables, func(t archiveTable) bool { return t.name == n.Name })
	}
	l.row.Source = l.from.ID
	inOrder := func(a, b archive.Noun) int { return at(a) - at(b) }
	if !slices.IsSortedFunc(l.from.Nouns, inOrder) {
		// Earlier versions loaded them in this order. An import that they began must not be continued.
		slices.SortStableFunc(l.from.Nouns, inOrder)
		l.row.Source += " sorted"
	}
	for i, n := range l.from.Nouns {
		switch {
		case at(n) < 0:
			return fmt.Errorf("the archive has the noun %s, which this version of meshyard does not know", n.Name)
		case i > 0 && l.from.Nouns[i-1].Name == n.Name:
			return fmt.Errorf("the archive has the noun %s twice", n.Name)
		case l.ofUser() && archiveTables[at(n)].ofUser == "":
			return fmt.Errorf("the archive of a user must not have the noun %s", n.Name)
		}
	}
	if l.User != "" && !l.ofUser() {
		return errors.New("the archive is not one of a user, so none can be renamed")
	}
	if l.ofUser() {
		return l.store.core.CheckUsername(l.username())
	}
	return nil
}

func (l *archiveLoader) username() string {
	if l.User != "" {
		return l.User
	}
	return l.from.User
}

// begin stores a new import, or reads the progress of an interrupted one.
func (l *archiveLoader) begin(ctx context.Context) error {
	for _, sum := range l.from.Missing {
		l.missing[sum] = true
	}
	db := l.store.core.DB
	switch err := db.Write.NewSelect().Model(&l.row).WherePK().Scan(ctx); {
	case err == nil:
		return json.Unmarshal([]byte(l.row.LeftOut), &l.leftOut)
	case !errors.Is(err, sql.ErrNoRows):
		return err
	case len(l.from.Nouns) == 0:
		return errors.New("the archive is empty")
	}
	l.row.Noun, l.row.LeftOut, l.row.StartedAt = l.from.Nouns[0].Name, "{}", models.Now()
	return db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		users := tx.NewSelect().Model((*models.User)(nil))
		if l.ofUser() {
			taken, err := users.Where("u.sort_name = ?", models.FoldUsername(l.username())).Exists(ctx)
			if err != nil {
				return err
			}
			if taken {
				return fmt.Errorf("%w: import the archive under another name with --user", models.UsernameIsTaken(l.username()))
			}
		} else {
			exist, err := users.Exists(ctx)
			if err != nil {
				return err
			}
			if exist {
				return errors.New("there are users already: an archive of everything keeps its ids, so it needs an empty database")
			}
			if _, err := tx.NewRaw("DELETE FROM categories").Exec(ctx); err != nil {
				return err
			}
		}
		_, err := tx.NewInsert().Model(&l.row).Exec(ctx)
		return err
	})
}

// loaded reports whether all rows of a noun are loaded.
func (l *archiveLoader) loaded(noun string) bool {
	at := func(name string) int {
		return slices.IndexFunc(l.from.Nouns, func(n archive.Noun) bool { return n.Name == name })
	}
	return at(noun) < at(l.row.Noun)
}

// load loads the rows of a noun that are not loaded yet.
func (l *archiveLoader) load(ctx context.Context, n archive.Noun) error {
	t := archiveTableOf(n.Name)
	skip := int64(0)
	if l.row.Noun == n.Name {
		skip = l.row.Done
	}
	b := &archiveRows{table: t, columns: t.of(l.ofUser()), first: skip + 1}
	size := 0
	flush := func() error {
		if len(b.rows) == 0 {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := l.commit(ctx, b); err != nil {
			return err
		}
		b.first += int64(len(b.rows))
		b.rows, size = nil, 0
		if l.Progress != nil {
			l.Progress(n.Name, l.row.Done, n.Rows)
		}
		return nil
	}
	read := int64(0)
	err := l.from.Rows(n.Name, func(line []byte) error {
		if read++; read <= skip {
			return nil
		}
		row, err := b.parse(line)
		if err != nil {
			return fmt.Errorf("row %d: %w", read, err)
		}
		b.rows = append(b.rows, row)
		if size += len(line); len(b.rows) == archiveBatch || size >= archiveBatchBytes {
			return flush()
		}
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}

// commit loads a batch and stores the progress in the same transaction.
func (l *archiveLoader) commit(ctx context.Context, b *archiveRows) error {
	there, pending, lost, err := l.putBytes(ctx, b)
	if err != nil {
		return err
	}
	before, leftOut := l.row, l.leftOut
	after := before
	after.Noun, after.Done = b.table.name, b.first-1+int64(len(b.rows))
	err = l.store.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		l.leftOut = maps.Clone(leftOut)
		if lost > 0 {
			l.leftOut[lostContents] += lost
		}
		updated, err := tx.NewUpdate().Model(&after).Column("noun", "done").WherePK().
			Where("noun = ? AND done = ?", before.Noun, before.Done).Exec(ctx)
		if err != nil {
			return err
		}
		if n, err := updated.RowsAffected(); err != nil || n != 1 {
			return errors.Join(err, errors.New("another process imports the same archive"))
		}
		rows, err := l.renumber(ctx, tx, b)
		if err != nil {
			return err
		}
		if err := l.holdContents(ctx, tx, b, rows, there); err != nil {
			return err
		}
		if err := l.insert(ctx, tx, b, rows); err != nil {
			return err
		}
		if maps.Equal(l.leftOut, leftOut) {
			return nil
		}
		text, err := json.Marshal(l.leftOut)
		if err != nil {
			return err
		}
		after.LeftOut = string(text)
		_, err = tx.NewUpdate().Model(&after).Column("left_out").WherePK().Exec(ctx)
		return err
	})
	if err != nil {
		l.leftOut = leftOut
		return fmt.Errorf("rows %d to %d: %w", b.first, after.Done, err)
	}
	l.row = after
	l.store.core.Sweep(ctx, pending)
	return nil
}

// insert inserts rows. Columns that the archive of a user does not have are set to NULL, false or
// 0.
func (l *archiveLoader) insert(ctx context.Context, tx bun.Tx, b *archiveRows, rows [][]any) error {
	if len(rows) == 0 {
		return nil
	}
	var names []string
	for _, c := range b.columns {
		names = append(names, c.name)
	}
	var constants []any
	for _, constant := range b.table.constants {
		names = append(names, constant.column)
		constants = append(constants, constant.value)
	}
	if l.ofUser() {
		for _, c := range b.table.columns {
			if !c.restricted {
				continue
			}
			names = append(names, c.name)
			switch {
			case c.null:
				constants = append(constants, nil)
			case c.kind == kindBool:
				constants = append(constants, false)
			default:
				constants = append(constants, 0)
			}
		}
	}
	values := make([]bun.Safe, len(rows))
	for i, row := range rows {
		row = slices.Concat(row, constants)
		for j, v := range row {
			if v == nil {
				row[j] = bun.Safe("NULL") // bun.List does not support nil
			}
		}
		values[i] = bun.Safe("(" + tx.NewRaw("?", bun.List(row)).String() + ")")
	}
	_, err := tx.NewRaw("INSERT INTO ? (?) VALUES ?", bun.Safe(b.table.name), bun.Safe(strings.Join(names, ", ")),
		bun.List(values)).Exec(ctx)
	return err
}
