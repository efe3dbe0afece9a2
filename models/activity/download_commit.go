package activity

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
)

// maxRecorded is the maximum number of downloads that one commit records.
const maxRecorded = 500

// downloadLog records downloads by group commit: downloads that are recorded at the same time share
// a statement and its commit. There is no timer. If no commit is running, a download starts one at
// once; downloads that arrive in the meantime share the next one.
type downloadLog struct {
	insert func(ctx context.Context, rows []*Download) error // all of them or none

	mu         sync.Mutex
	committing bool
	waiting    []*recording
}

// recording is a download that waits for its commit.
type recording struct {
	ctx  context.Context
	row  *Download
	err  error
	done chan struct{}
}

// record records a download and returns when it is committed. If ctx ends before that, the download
// may or may not have been recorded.
func (l *downloadLog) record(ctx context.Context, row *Download) error {
	r := &recording{ctx: ctx, row: row, done: make(chan struct{})}
	l.mu.Lock()
	l.waiting = append(l.waiting, r)
	start := !l.committing
	l.committing = true
	l.mu.Unlock()
	if start {
		// Other callers wait for the commits, too. So the commits run in a goroutine of their own, are
		// not canceled with ctx, and do not count towards the concurrency limit of the caller's account.
		go l.commit(auth.WithoutAccount(context.WithoutCancel(ctx)))
	}
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// commit records waiting downloads until there are none.
func (l *downloadLog) commit(ctx context.Context) {
	for {
		l.mu.Lock()
		group := l.waiting[:min(len(l.waiting), maxRecorded)]
		l.waiting = l.waiting[len(group):]
		if len(group) == 0 {
			l.committing, l.waiting = false, nil
			l.mu.Unlock()
			return
		}
		l.mu.Unlock()
		l.commitGroup(ctx, group)
	}
}

// commitGroup records a group. A download that cannot be recorded, because its file or its user was
// deleted, does not affect the others.
func (l *downloadLog) commitGroup(ctx context.Context, group []*recording) {
	present := make([]*recording, 0, len(group))
	for _, r := range group {
		if r.err = r.ctx.Err(); r.err == nil {
			present = append(present, r)
		} else {
			close(r.done) // its caller has disconnected
		}
	}
	err := l.try(ctx, present)
	if len(present) > 1 && database.IsForeignKey(err) {
		// The statement was rolled back: record each download separately.
		for _, r := range present {
			r.err = l.try(ctx, []*recording{r})
			close(r.done)
		}
		return
	}
	for _, r := range present {
		r.err = err
		close(r.done)
	}
}

// try records downloads in one statement. A panic becomes an error of the callers.
func (l *downloadLog) try(ctx context.Context, group []*recording) (err error) {
	if len(group) == 0 {
		return nil
	}
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic while %d downloads were recorded: %v", len(group), cause)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, database.MaxTx)
	defer cancel()
	rows := make([]*Download, len(group))
	for i, r := range group {
		rows[i] = r.row
	}
	return l.insert(ctx, rows)
}

// recordDownloadsKey is the statement of insertDownloads on PostgreSQL. Its arguments are the
// columns of the downloads.
type recordDownloadsKey struct{}

// Text implements [database.Key].
func (recordDownloadsKey) Text(b *database.Builder) (string, error) {
	return b.Raw(recordDownloads, b.Arg(0), b.Arg(1), b.Arg(2), b.Arg(3))
}

// recordDownloads is the statement of insertDownloads on PostgreSQL. The IDs that it returns are in
// the order of its arguments.
const recordDownloads = "WITH d AS (INSERT INTO downloads (user_id, file_id, thing_id, created_at) " +
	"SELECT * FROM unnest(?::bigint[], ?::bigint[], ?::bigint[], ?::timestamptz[]) RETURNING id, thing_id, file_id) " +
	"INSERT INTO new_downloads (id, thing_id, file_id) SELECT id, thing_id, file_id FROM d RETURNING id"

// insertDownloads adds downloads to the histories and to new_downloads, and sets their IDs. On
// PostgreSQL, where each statement is a network round trip, it uses a single prepared statement.
// The foreign keys lock the users, files and things that the downloads refer to, so it may deadlock
// with the deletion of a thing, and is then repeated.
func (s *Store) insertDownloads(ctx context.Context, rows []*Download) error {
	if s.core.DB.ChangesInWith() {
		return s.insertPrepared(ctx, rows)
	}
	return s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		values := make([][4]any, len(rows))
		for i, d := range rows {
			values[i] = [...]any{d.UserID, d.FileID, d.ThingID, database.SQLiteTime(d.CreatedAt)}
		}
		var ids []int64
		err := tx.NewRaw("INSERT INTO downloads (user_id, file_id, thing_id, created_at) SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each($1) RETURNING id").
			Conn(database.Bind(tx, database.AsJSON(values))).Scan(ctx, &ids)
		if err != nil {
			return err
		}
		for i, id := range ids {
			rows[i].ID = id
		}
		condition, list := s.core.DB.InList(1, ids)
		_, err = tx.NewRaw("INSERT INTO new_downloads (id, thing_id, file_id) SELECT id, thing_id, file_id FROM downloads WHERE id ?", condition).
			Conn(database.Bind(tx, list)).Exec(ctx)
		return err
	})
}

// insertPrepared is insertDownloads on PostgreSQL.
func (s *Store) insertPrepared(ctx context.Context, rows []*Download) error {
	n := len(rows)
	users, files, things, times := make([]int64, n), make([]int64, n), make([]int64, n), make([]time.Time, n)
	for i, d := range rows {
		users[i], files[i], things[i], times[i] = d.UserID, d.FileID, d.ThingID, d.CreatedAt
	}
	return database.RetryConflicts(func() error {
		var ids []int64
		err := database.Read(ctx, s.core.DB.DB, recordDownloadsKey{}, &ids, users, files, things, times)
		for i, id := range ids {
			rows[i].ID = id
		}
		return err
	})
}
