package archive

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/archive"
	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/maintenance"
)

// Export describes an export to an archive.
type Export struct {
	User        string // the user whose data to export, by username; empty: everything
	Credentials bool   // include password hashes, tokens and other credentials; not with User
	// Progress is called while rows or objects of a noun are written.
	Progress func(noun string, done int64)
}

// maxSnapshots is the maximum number of snapshots that an export takes. It takes another snapshot
// if files of the last one were deleted and garbage-collected before their contents were copied.
// Usually, one snapshot is enough.
const maxSnapshots = 10

// errLost means that a file of the snapshot was deleted and its content was garbage-collected.
var errLost = errors.New("files were deleted while they were copied")

// Export writes an archive and commits it. Servers may keep running: all rows come from one
// database snapshot. It returns NotFound if the user does not exist, and BadInput if both User and
// Credentials are set.
func (a Admin) Export(ctx context.Context, w *archive.Writer, e Export) (*archive.Manifest, error) {
	x := &exporting{Export: e, store: a.store, to: w}
	if e.Credentials && e.User != "" {
		return nil, models.Invalid("credentials", "the archive of one user has no credentials")
	}
	if e.User != "" {
		u, err := a.store.core.Admin().User(ctx, e.User)
		if err != nil {
			return nil, err
		}
		x.User, x.userID = u.Username, u.ID
	}
	// Most contents are copied before the snapshot is taken, which keeps it short: an open snapshot
	// holds up VACUUM on PostgreSQL, and makes the write-ahead log grow on SQLite.
	if err := x.bytes(ctx, a.store.core.DB.Read, nil); err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		var m *archive.Manifest
		err := a.store.core.DB.InSnapshot(ctx, func(ctx context.Context, tx bun.Tx) (err error) {
			m, err = x.snapshot(ctx, tx)
			return err
		})
		if !errors.Is(err, errLost) || attempt == maxSnapshots {
			return m, err
		}
	}
}

// exporting is an export in progress.
type exporting struct {
	Export
	store  *Store
	userID int64 // 0: everything
	to     *archive.Writer
	copied int64
}

func (x *exporting) progress(noun string, done int64) {
	if x.Progress != nil {
		x.Progress(noun, done)
	}
}

// nouns writes the rows of all nouns by calls of to, and returns a manifest that describes them.
func (x *exporting) nouns(ctx context.Context, tx bun.Tx,
	to func(noun string, fn func(row func([]byte) error) error) (archive.Noun, error)) (*archive.Manifest, error) {
	m := &archive.Manifest{User: x.User, Credentials: x.Credentials}
	for _, t := range archiveTables {
		if x.userID != 0 && t.ofUser == "" || t.credential && !x.Credentials {
			continue
		}
		n, err := to(t.name, func(row func([]byte) error) error { return x.rows(ctx, tx, &t, row) })
		if err != nil {
			return nil, fmt.Errorf("export %s: %w", t.name, err)
		}
		x.progress(t.name, n.Rows)
		if x.userID == 0 && t.hasID() {
			if n.LastID, err = x.store.core.DB.LastID(ctx, tx, t.name); err != nil {
				return nil, err
			}
		}
		m.Nouns = append(m.Nouns, n)
	}
	return m, nil
}

func (x *exporting) snapshot(ctx context.Context, tx bun.Tx) (*archive.Manifest, error) {
	m, err := x.nouns(ctx, tx, x.to.Rows)
	if err != nil {
		return nil, err
	}
	if err := x.bytes(ctx, tx, &m.Missing); err != nil {
		return nil, err
	}
	return m, x.to.Commit(ctx, m, func(sums []string) (map[string]archive.Content, error) {
		var there []stored
		err := x.contents(tx).Where("f.sha256 IN (?)", bun.List(sums)).Scan(ctx, &there)
		wanted := make(map[string]archive.Content, len(there))
		for _, f := range there {
			wanted[f.SHA256] = f.content()
		}
		return wanted, err
	})
}

// rows writes the rows of a table. It reads them one by one, so that it never holds a whole table
// in memory.
func (x *exporting) rows(ctx context.Context, tx bun.Tx, t *archiveTable, write func([]byte) error) error {
	columns := t.of(x.userID != 0)
	expressions := make([]string, len(columns))
	for i, c := range columns {
		expressions[i] = c.expression(x.userID != 0)
	}
	where := []string{"1 = 1"}
	if t.where != "" {
		where = append(where, t.where)
	}
	if x.userID != 0 {
		where = append(where, t.ofUser)
	}
	query := "SELECT " + strings.Join(expressions, ", ") + " FROM " + t.name + " AS r WHERE " +
		strings.Join(where, " AND ") + " ORDER BY " + t.key
	found, err := tx.QueryContext(ctx, query, x.userID, x.store.core.DB.Bytewise())
	if err != nil {
		return err
	}
	defer found.Close()
	values := make([]any, len(columns))
	for i, c := range columns {
		values[i] = c.scanner()
	}
	var line bytes.Buffer
	strs := json.NewEncoder(&line)
	strs.SetEscapeHTML(false)
	for n := int64(1); found.Next(); n++ {
		if err := found.Scan(values...); err != nil {
			return err
		}
		line.Reset()
		for i, c := range columns {
			line.WriteByte(",{"[btoi(i == 0)])
			line.WriteString(`"` + c.name + `":`)
			if err := appendJSON(&line, strs, c, values[i]); err != nil {
				return fmt.Errorf("row %d: %s: %w", n, c.name, err)
			}
		}
		line.WriteByte('}')
		if err := write(line.Bytes()); err != nil {
			return err
		}
		if n%1_000 == 0 {
			x.progress(t.name, n)
		}
	}
	return found.Err()
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// scanner returns a pointer that a value of the column can be scanned into.
func (c archiveColumn) scanner() any {
	switch c.kind {
	case kindText, kindJSON, kindLicense:
		return new(sql.NullString)
	case kindBool:
		return new(sql.NullBool)
	case kindTime:
		return new(bun.NullTime)
	}
	return new(sql.NullInt64)
}

// appendJSON appends a scanned value as JSON.
func appendJSON(line *bytes.Buffer, strs *json.Encoder, c archiveColumn, value any) error {
	switch v := value.(type) {
	case *sql.NullInt64:
		if v.Valid {
			line.WriteString(strconv.FormatInt(v.Int64, 10))
			return nil
		}
	case *sql.NullBool:
		if v.Valid {
			line.WriteString(strconv.FormatBool(v.Bool))
			return nil
		}
	case *bun.NullTime:
		if !v.IsZero() {
			line.WriteString(`"` + v.UTC().Format(time.RFC3339Nano) + `"`)
			return nil
		}
	case *sql.NullString:
		switch {
		case v.Valid && c.kind == kindJSON:
			return json.Compact(line, []byte(v.String))
		case v.Valid:
			if err := strs.Encode(v.String); err != nil {
				return err
			}
			line.Truncate(line.Len() - 1) // the newline that Encode adds
			return nil
		}
	}
	line.WriteString("null")
	return nil
}

// files selects the files to export that have content in the bucket. Those in libraries are
// exported without it.
func (x *exporting) files(db bun.IDB) *bun.SelectQuery {
	q := db.NewSelect().Model((*models.File)(nil)).
		Where("f.state = ? AND f.sha256 <> '' AND f.object_key NOT LIKE 'library/%'", models.Finalized)
	if x.userID != 0 {
		q.Where("f.owner_id = ?", x.userID)
	}
	return q
}

// stored is a content to export.
type stored struct {
	SHA256 string `bun:"sha256"`
	Size   int64
	Name   string // of the first file with the content; only in the archive of one user
}

func (s stored) content() archive.Content { return archive.Content{SHA256: s.SHA256, Name: s.Name} }

// contents selects the contents to export, as rows of stored.
func (x *exporting) contents(db bun.IDB) *bun.SelectQuery {
	if x.userID == 0 {
		return x.files(db).Column("f.sha256").ColumnExpr("max(f.size) AS size").GroupExpr("f.sha256")
	}
	first := x.files(db).ColumnExpr("min(f.id)").GroupExpr("f.sha256")
	return db.NewSelect().Model((*models.File)(nil)).Column("f.sha256", "f.size", "f.name").Where("f.id IN (?)", first)
}

// bytes copies the contents that the archive does not have yet. If missing is not nil, db is a
// snapshot, and the SHA-256 hashes of contents that the bucket has lost are appended to missing.
func (x *exporting) bytes(ctx context.Context, db bun.IDB, missing *[]string) error {
	for last := ""; ; {
		var rows []stored
		err := x.contents(db).Where("f.sha256 > ?", last).OrderExpr("f.sha256").Limit(models.ObjectsAtOnce).Scan(ctx, &rows)
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, f := range rows {
			last = f.SHA256
			if x.to.Has(f.content(), f.Size) {
				continue
			}
			err := x.object(ctx, f.content())
			if errors.Is(err, bucket.ErrNotExist) || errors.Is(err, bucket.ErrUnreadable) || errors.Is(err, archive.ErrDamaged) {
				err = x.lost(ctx, f.SHA256, missing)
			}
			if err != nil {
				return err
			}
			x.copied++
			x.progress("file contents", x.copied)
		}
	}
}

func (x *exporting) object(ctx context.Context, c archive.Content) error {
	r, err := x.store.core.Bucket.MarkedReader(ctx, bucket.ContentKey(c.SHA256))
	if err != nil {
		return err
	}
	defer r.Close()
	return x.to.Bytes(ctx, c, r)
}

// lost appends a content that the bucket has lost to missing. If no file refers to the content any
// more, the snapshot is outdated, and lost returns errLost.
func (x *exporting) lost(ctx context.Context, sum string, missing *[]string) error {
	if missing == nil {
		return nil // checked again in the snapshot
	}
	state, err := x.store.maintenance.Admin().RowState(ctx, maintenance.SnapshotObject{SHA256: sum})
	switch {
	case err != nil:
		return err
	case state != maintenance.RowUnchanged:
		return errLost
	}
	*missing = append(*missing, sum)
	return nil
}
