package models

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
)

// Quotas are the limits of one user who is not a moderator or an administrator. 0 means no limit.
type Quotas struct {
	// Bytes is the limit of the total size of pending and finalized files. Content that several files
	// share counts for each of them.
	Bytes   int64
	Pending int64 // uploads that are not finalized, including those that wait for their bytes
	// Things, Makes and Comments are created within quotaDay. Deleted things and makes do not count;
	// deleted comments do, because they keep their places.
	Things, Makes, Comments int64
	Collections             int64 // in total
	Collected               int64 // things in all collections of the user
}

const quotaDay = 24 * time.Hour

// quotaLock, combined with a user ID, is the key of the advisory lock under which PostgreSQL checks
// and increases the usage of a user.
const quotaLock = 0x71756f74 << 32

// Usage is the current usage of a user, and their limits.
type Usage struct {
	Exempt         bool // a moderator or an administrator
	Bytes          int64
	PendingUploads int64
	ThingsToday    int64
	MakesToday     int64
	CommentsToday  int64
	Collections    int64
	// CollectedThings counts a thing once for each collection that it is in.
	CollectedThings int64

	quotas Quotas
}

// BytesLimit is the maximum number of bytes of the user; nil if there is no limit.
func (u *Usage) BytesLimit() *int64 { return u.bound(u.quotas.Bytes) }

// PendingUploadsLimit is the maximum number of pending uploads; nil if there is no limit.
func (u *Usage) PendingUploadsLimit() *int64 { return u.bound(u.quotas.Pending) }

// ThingsLimit is the maximum number of things created in 24 hours; nil if there is no limit.
func (u *Usage) ThingsLimit() *int64 { return u.bound(u.quotas.Things) }

// MakesLimit is the maximum number of makes created in 24 hours; nil if there is no limit.
func (u *Usage) MakesLimit() *int64 { return u.bound(u.quotas.Makes) }

// CommentsLimit is the maximum number of comments written in 24 hours; nil if there is no limit.
func (u *Usage) CommentsLimit() *int64 { return u.bound(u.quotas.Comments) }

// CollectionsLimit is the maximum number of collections; nil if there is no limit.
func (u *Usage) CollectionsLimit() *int64 { return u.bound(u.quotas.Collections) }

// CollectedThingsLimit is the maximum number of things in all collections; nil if there is no
// limit.
func (u *Usage) CollectedThingsLimit() *int64 { return u.bound(u.quotas.Collected) }

func (u *Usage) bound(quota int64) *int64 {
	if u.Exempt || quota == 0 {
		return nil
	}
	return &quota
}

// Usage returns the usage of the caller.
func (s *Store) Usage(ctx context.Context, caller auth.Caller) (*Usage, error) {
	return s.UsageOf(ctx, s.DB.Read, caller.UserID, Quotas{1, 1, 1, 1, 1, 1, 1})
}

// UsageOf returns the usage of a user, only for the quotas in wanted that are not 0.
func (s *Store) UsageOf(ctx context.Context, db bun.IDB, userID int64, wanted Quotas) (*Usage, error) {
	u, since := &Usage{quotas: s.Options.Quotas}, Now().Add(-quotaDay)
	q := db.NewSelect().TableExpr("users AS u").ColumnExpr("u.is_admin OR u.is_moderator AS exempt").
		Where("u.id = ?", userID)
	for _, part := range []struct {
		wanted int64
		count  string
		args   []any
	}{
		{wanted.Bytes, "u.held_bytes + (SELECT CAST(coalesce(sum(cc.delta), 0) AS bigint) FROM count_changes AS cc " +
			"WHERE cc.of_table = ? AND cc.of_column = ? AND cc.object_id = u.id) + " + reservedBytes + " AS bytes",
			[]any{UserBytes.Table, UserBytes.Column}},
		// The condition matches the definition of the partial index, or SQLite would not use it.
		{wanted.Pending, "(SELECT count(*) FROM files AS f WHERE f.owner_id = u.id AND f.state <> 'finalized') AS pending_uploads", nil},
		{wanted.Things, "(SELECT count(*) FROM things AS t WHERE t.owner_id = u.id AND t.created_at > ?) AS things_today",
			[]any{since}},
		{wanted.Makes, "(SELECT count(*) FROM makes AS m WHERE m.owner_id = u.id AND m.created_at > ?) AS makes_today",
			[]any{since}},
		{wanted.Comments, "(SELECT count(*) FROM comments AS cm WHERE cm.owner_id = u.id AND cm.created_at > ?) AS comments_today", []any{since}},
		{wanted.Collections, "(SELECT count(*) FROM collections AS co WHERE co.owner_id = u.id) AS collections", nil},
		{wanted.Collected, "(SELECT CAST(coalesce(sum(co.thing_count), 0) AS bigint) FROM collections AS co WHERE co.owner_id = u.id) + " +
			"(SELECT CAST(coalesce(sum(cc.delta), 0) AS bigint) FROM count_changes AS cc JOIN collections AS co ON co.id = cc.object_id " +
			"WHERE cc.of_table = ? AND cc.of_column = ? AND co.owner_id = u.id) AS collected_things",
			[]any{CollectionThings.Table, CollectionThings.Column}},
	} {
		if part.wanted != 0 {
			q = q.ColumnExpr(part.count, part.args...)
		}
	}
	return u, q.Scan(ctx, u)
}

// Claim is an increase of a user's usage.
type Claim struct {
	Bytes       int64 // the increase
	Pending     int64
	things      int64
	Makes       int64
	Comments    int64
	Collections int64
}

// Claim checks that an increase of a user's usage stays within the quotas, and otherwise returns
// TooLarge, Conflict or RateLimited. It must be called at the start of the transaction that
// increases the usage. It locks the usage of the user until tx ends, so concurrent requests cannot
// exceed a quota.
func (s *Store) Claim(ctx context.Context, tx bun.Tx, userID int64, c Claim) error {
	limits := s.Options.Quotas
	wanted := Quotas{
		Bytes: limits.Bytes * min(max(c.Bytes, 0), 1), Pending: limits.Pending * c.Pending, Things: limits.Things * c.things,
		Makes: limits.Makes * c.Makes, Comments: limits.Comments * c.Comments,
		Collections: limits.Collections * c.Collections,
	}
	if wanted == (Quotas{}) {
		return nil
	}
	if err := s.LockUsage(ctx, tx, userID); err != nil {
		return err
	}
	u, err := s.UsageOf(ctx, tx, userID, wanted)
	switch {
	case err != nil || u.Exempt:
		return err
	case wanted.Pending != 0 && u.PendingUploads >= wanted.Pending:
		return u.TooManyPending()
	case wanted.Bytes != 0 && u.Bytes+c.Bytes > wanted.Bytes:
		return u.TooManyBytes()
	case wanted.Things != 0 && u.ThingsToday >= wanted.Things:
		return tooManyToday(ctx, tx, (*Thing)(nil), "created %d things", userID, limits.Things)
	case wanted.Makes != 0 && u.MakesToday >= wanted.Makes:
		return tooManyToday(ctx, tx, (*Make)(nil), "created %d makes", userID, limits.Makes)
	case wanted.Comments != 0 && u.CommentsToday >= wanted.Comments:
		return tooManyToday(ctx, tx, (*Comment)(nil), "wrote %d comments", userID, limits.Comments)
	case wanted.Collections != 0 && u.Collections >= wanted.Collections:
		e := Fail(Conflict, "name: you have %d collections, and at most %d are allowed: delete some first", u.Collections,
			limits.Collections)
		e.Field, e.Limit = "name", limits.Collections
		return e
	}
	return nil
}

// CheckCollected returns Conflict if the collections of a user contain more things than the quota
// allows. It is called after things were added. lockUsage must have been called at the start of the
// transaction.
func (s *Store) CheckCollected(ctx context.Context, tx bun.Tx, userID int64, field string) error {
	limit := s.Options.Quotas.Collected
	if limit == 0 {
		return nil
	}
	u, err := s.UsageOf(ctx, tx, userID, Quotas{Collected: limit})
	if err != nil || u.Exempt || u.CollectedThings <= limit {
		return err
	}
	e := Fail(Conflict, "%s: your collections would contain %d things, and at most %d are allowed: remove some first",
		field, u.CollectedThings, limit)
	e.Field, e.Limit = field, limit
	return e
}

// LockUsage locks the usage of a user until tx ends. It precedes all other locks, to avoid
// deadlocks.
func (s *Store) LockUsage(ctx context.Context, tx bun.Tx, userID int64) error {
	if s.Options.Quotas == (Quotas{}) {
		return nil
	}
	return s.DB.AdvisoryLock(ctx, tx, quotaLock+userID)
}

func (u *Usage) TooManyBytes() *Error {
	e := Invalid("file", "file: too large: you may store %s in total, of which %s are left", FormatLimit(u.quotas.Bytes),
		FormatLimit(max(u.quotas.Bytes-u.Bytes, 0)))
	e.Code, e.Limit = TooLarge, u.quotas.Bytes
	return e
}

func (u *Usage) TooManyInProgress() error {
	e := u.TooManyBytes()
	e.Message += ", and other uploads in progress need them"
	return e
}

func (u *Usage) TooManyPending() error {
	e := Fail(Conflict, "file: you have %d pending uploads, and at most %d are allowed: finalize or delete some first",
		u.PendingUploads, u.quotas.Pending)
	e.Field, e.Limit = "file", u.quotas.Pending
	return e
}

// tooManyToday returns a RateLimited error with the time until one more object is allowed: 24 hours
// after the creation of the oldest of the latest objects that fill the quota. did says what the
// user has done with how many objects. It returns nil if there are not that many objects any more,
// because some were deleted since they were counted.
func tooManyToday(ctx context.Context, tx bun.Tx, model any, did string, userID, limit int64) error {
	var made time.Time
	err := tx.NewSelect().Model(model).ColumnExpr("?TableAlias.created_at").Where("?TableAlias.owner_id = ?", userID).
		OrderExpr("?TableAlias.created_at DESC").Offset(limit-1).Limit(1).Scan(ctx, &made)
	if err != nil {
		return IgnoreNoRows(err)
	}
	wait := max(made.Add(quotaDay).Sub(Now()), 0).Truncate(time.Second) + time.Second
	e := Fail(RateLimited, "you "+did+" within 24 hours, which is the limit: wait %s", limit, wait)
	e.Limit, e.RetryAfter = limit, wait
	return e
}

// FormatLimit formats a number of bytes for people, in the largest unit of which it is a multiple.
func FormatLimit(n int64) string {
	for i, unit := range []string{"GiB", "MiB", "KiB"} {
		if size := int64(1) << (30 - 10*i); n >= size && n%size == 0 {
			return fmt.Sprintf("%d %s", n/size, unit)
		}
	}
	if n%1_000_000 == 0 && n > 0 {
		return fmt.Sprintf("%d MB", n/1_000_000)
	}
	return fmt.Sprintf("%d bytes", n)
}

// reservedBytes is the SQL expression of the bytes that uploads in progress of the user u reserve.
const reservedBytes = "(SELECT CAST(coalesce(sum(coalesce(up.length, up.received)), 0) AS bigint) FROM uploads AS up " +
	"WHERE up.owner_id = u.id AND (up.partial OR NOT up.done))"
