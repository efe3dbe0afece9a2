package models

import (
	"context"
	"math"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
)

// Quotas bound what one user takes who is not of the staff. 0 is no bound.
type Quotas struct {
	// of files with bytes, pending and finalized; a content counts for each file that holds it
	Bytes   int64
	Pending int64 // uploads that are not finalized, those among them that still wait for their bytes
	Things  int64 // made within a quotaDay, and not deleted
}

const quotaDay = 24 * time.Hour

// quotaLock is the key, with a user's id, of the advisory lock under which PostgreSQL counts what
// the user takes and adds to it.
const quotaLock = 0x71756f74 << 32

// Usage is what a user takes, and may.
type Usage struct {
	Exempt         bool // of the staff
	Bytes          int64
	PendingUploads int64
	ThingsToday    int64

	quotas Quotas
}

// BytesLimit is how many bytes the user may store; nil: as many as he likes.
func (u *Usage) BytesLimit() *int64 { return u.bound(u.quotas.Bytes) }

// PendingUploadsLimit is how many uploads of the user may be pending; nil: as many as he likes.
func (u *Usage) PendingUploadsLimit() *int64 { return u.bound(u.quotas.Pending) }

// ThingsLimit is how many things the user may make in 24 hours; nil: as many as he likes.
func (u *Usage) ThingsLimit() *int64 { return u.bound(u.quotas.Things) }

func (u *Usage) bound(quota int64) *int64 {
	if u.Exempt || quota == 0 {
		return nil
	}
	return &quota
}

// Usage tells where the caller stands.
func (s *Store) Usage(ctx context.Context, caller auth.Caller) (*Usage, error) {
	return s.usageOf(ctx, s.db.read, caller.UserID, Quotas{1, 1, 1})
}

// usageOf counts what a user takes, as far as wanted is not 0.
func (s *Store) usageOf(ctx context.Context, db bun.IDB, userID int64, wanted Quotas) (*Usage, error) {
	u := &Usage{quotas: s.options.Quotas}
	q := db.NewSelect().TableExpr("users AS u").ColumnExpr("u.is_admin OR u.is_moderator AS exempt").Where("u.id = ?", userID)
	// In the words of the index, or SQLite would not take it.
	for _, part := range []struct {
		wanted int64
		count  string
		args   []any
	}{
		{wanted.Bytes, "u.held_bytes + (SELECT CAST(coalesce(sum(cc.delta), 0) AS bigint) FROM count_changes AS cc " +
			"WHERE cc.of_table = ? AND cc.of_column = ? AND cc.object_id = u.id) AS bytes", []any{userBytes.table, userBytes.column}},
		{wanted.Pending, "(SELECT count(*) FROM files AS f WHERE f.owner_id = u.id AND f.state <> 'finalized') AS pending_uploads", nil},
		{wanted.Things, "(SELECT count(*) FROM things AS t WHERE t.owner_id = u.id AND t.created_at > ?) AS things_today", []any{now().Add(-quotaDay)}},
	} {
		if part.wanted != 0 {
			q = q.ColumnExpr(part.count, part.args...)
		}
	}
	return u, q.Scan(ctx, u)
}

// claim is what somebody is about to take.
type claim struct {
	bytes   int64 // more than before
	pending int64
	things  int64
}

// claim sees, in the transaction that takes it and before all else there, that a user may take
// something. Until tx ends nobody else can take for him, so a quota is never passed, however many
// try at once.
func (s *Store) claim(ctx context.Context, tx bun.Tx, userID int64, c claim) error {
	wanted := Quotas{s.options.Quotas.Bytes * min(max(c.bytes, 0), 1), s.options.Quotas.Pending * c.pending, s.options.Quotas.Things * c.things}
	if wanted == (Quotas{}) {
		return nil
	}
	if err := s.lockUsage(ctx, tx, userID); err != nil {
		return err
	}
	u, err := s.usageOf(ctx, tx, userID, wanted)
	switch {
	case err != nil || u.Exempt:
		return err
	case wanted.Pending != 0 && u.PendingUploads >= wanted.Pending:
		return u.tooManyPending()
	case wanted.Bytes != 0 && u.Bytes+c.bytes > wanted.Bytes:
		return u.tooManyBytes()
	case wanted.Things != 0 && u.ThingsToday >= wanted.Things:
		return s.tooManyThings(ctx, tx, userID)
	}
	return nil
}

// lockUsage keeps others from taking for a user until tx ends. It comes before all other locks, so
// that nobody who holds it waits for one who waits for it.
func (s *Store) lockUsage(ctx context.Context, tx bun.Tx, userID int64) error {
	if s.db.Engine != Postgres || s.options.Quotas == (Quotas{}) {
		return nil
	}
	_, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock(?)", quotaLock+userID)
	return err
}

// room tells how many bytes a user may still store, before they come: what is decided is decided by
// claim.
func (s *Store) room(ctx context.Context, userID int64, pending int64) (*room, error) {
	wanted := Quotas{Bytes: s.options.Quotas.Bytes, Pending: s.options.Quotas.Pending * pending}
	if wanted == (Quotas{}) {
		return &room{left: math.MaxInt64}, nil
	}
	u, err := s.usageOf(ctx, s.db.read, userID, wanted)
	switch {
	case err != nil:
		return nil, err
	case !u.Exempt && wanted.Pending != 0 && u.PendingUploads >= wanted.Pending:
		return nil, u.tooManyPending()
	case u.Exempt || wanted.Bytes == 0:
		return &room{left: math.MaxInt64}, nil
	}
	return &room{u, wanted.Bytes - u.Bytes}, nil
}

// room is what is left of somebody's quota of bytes.
type room struct {
	usage *Usage
	left  int64
}

func (u *Usage) tooManyBytes() error {
	e := badInput("file", "file: too large: you may store %s in all, and %s of that are left", formatLimit(u.quotas.Bytes), formatLimit(max(u.quotas.Bytes-u.Bytes, 0)))
	e.Code, e.Limit = TooLarge, u.quotas.Bytes
	return e
}

func (u *Usage) tooManyPending() error {
	e := fail(Conflict, "file: you have %d pending uploads, and at most %d are taken: finalize or delete some first", u.PendingUploads, u.quotas.Pending)
	e.Field, e.Limit = "file", u.quotas.Pending
	return e
}

// tooManyThings says so, and when there is room for one more: when the oldest of those that fill
// the quota was made a day ago.
func (s *Store) tooManyThings(ctx context.Context, tx bun.Tx, userID int64) error {
	limit := s.options.Quotas.Things
	var made time.Time
	err := tx.NewSelect().Model((*Thing)(nil)).Column("t.created_at").Where("t.owner_id = ?", userID).OrderExpr("t.created_at DESC").Offset(limit-1).Limit(1).Scan(ctx, &made)
	if err != nil {
		return err
	}
	wait := max(made.Add(quotaDay).Sub(now()), 0).Truncate(time.Second) + time.Second
	e := fail(RateLimited, "you made %d things within 24 hours, and no more are taken: wait %s", limit, wait)
	e.Limit, e.RetryAfter = limit, wait
	return e
}
