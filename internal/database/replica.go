package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/outage"
)

// replica is a standby of PostgreSQL that serves reads. ADR 16 has the rules.
//
// A context says where the reads of a request run: [DB.ForQuery] allows the replica, and
// [DB.OrReplica] only while the primary server is away. Reads with any other context, and all
// transactions, run on the primary.
type replica struct {
	positions Positions
	pool      *sql.DB

	usable   atomic.Bool // it responds, and is not late
	away     atomic.Bool // the primary does not respond
	replayed atomic.Int64

	mu      sync.Mutex
	written []sample // positions of the primary within maxLag
}

// sample is the position of the primary at a time.
type sample struct {
	at       time.Time
	position int64
}

// Positions remembers for all nodes how far the replica must be before it may serve an account.
type Positions interface {
	// Written records the current position of the primary as that of an account.
	Written(ctx context.Context, account string) error
	// Of returns the position of an account, or 0.
	Of(ctx context.Context, account string) (int64, error)
}

const (
	// maxLag is how far the replica may be behind.
	maxLag = 30 * time.Second
	// followEvery is the time between two looks at the primary and the replica.
	followEvery   = 250 * time.Millisecond
	followTimeout = 2 * time.Second
)

// OpenReplica opens the standby at address, a URL of PostgreSQL, for reads. It does not connect.
// [DB.Follow] must run for the replica to be used.
func (db *DB) OpenReplica(ctx context.Context, address string, positions Positions) error {
	d, ok := db.Dialect.(postgresDialect)
	if !ok {
		return errors.New("a replica needs a database of PostgreSQL")
	}
	if !IsPostgresURL(address) {
		return errors.New("must be postgres://…")
	}
	pool, err := d.pool(address, observerOf(ctx))
	if err != nil {
		return err
	}
	n := db.Write.Stats().MaxOpenConnections
	pool.SetMaxOpenConns(n)
	pool.SetMaxIdleConns(n)
	db.replica = &replica{positions: positions, pool: pool}
	return nil
}

// Follow watches the primary and the replica until ctx ends.
func (db *DB) Follow(ctx context.Context) {
	for r := db.replica; r != nil && ctx.Err() == nil; {
		db.look(ctx, r)
		select {
		case <-ctx.Done():
		case <-time.After(followEvery):
		}
	}
}

// PrimaryAway reports whether the primary does not respond while the replica does.
func (db *DB) PrimaryAway() bool {
	return db.replica != nil && db.replica.away.Load() && db.replica.usable.Load()
}

// HasReplica reports whether there is a replica.
func (db *DB) HasReplica() bool { return db.replica != nil }

// look finds out whether the primary and the replica respond, and how far the replica is.
func (db *DB) look(ctx context.Context, r *replica) {
	ctx, cancel := context.WithTimeout(ctx, followTimeout)
	defer cancel()
	var primary, replayed int64
	var primaryErr, replicaErr error
	var both sync.WaitGroup
	both.Go(func() {
		// It fails on a standby, which accepts no changes.
		primaryErr = db.SQL().QueryRowContext(ctx, "SELECT CAST(pg_current_wal_insert_lsn() - '0/0' AS bigint)").
			Scan(&primary)
	})
	both.Go(func() {
		replicaErr = r.pool.QueryRowContext(ctx,
			"SELECT CAST(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_insert_lsn() END - '0/0' AS bigint)").Scan(&replayed)
	})
	both.Wait()
	r.away.Store(primaryErr != nil)
	late := primaryErr == nil && r.late(primary, replayed, time.Now())
	if replicaErr == nil {
		r.replayed.Store(replayed)
	}
	r.usable.Store(replicaErr == nil && !late)
}

// late reports whether the replica has not replayed what the primary had written maxLag ago.
func (r *replica) late(written, replayed int64, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.written = append(r.written, sample{now, written})
	for len(r.written) > 1 && now.Sub(r.written[1].at) >= maxLag {
		r.written = r.written[1:]
	}
	oldest := r.written[0]
	return now.Sub(oldest.at) >= maxLag && replayed < oldest.position
}

type routeKey struct{}

// route is where the reads of a context run.
type route struct {
	*replica
	always bool // on the replica, not only while the primary is away
}

// OrReplica returns a context whose reads run on the replica while the primary is away. It is not
// for reads that decide on a change.
func (db *DB) OrReplica(ctx context.Context) context.Context {
	if db.replica == nil {
		return ctx
	}
	return context.WithValue(ctx, routeKey{}, route{db.replica, false})
}

// OnPrimary returns a context whose reads run on the primary, whether it responds or not.
func OnPrimary(ctx context.Context) context.Context {
	if _, ok := ctx.Value(routeKey{}).(route); !ok {
		return ctx
	}
	return context.WithValue(ctx, routeKey{}, nil)
}

// ForQuery returns a context for a request that only reads. Its reads run on the replica, if that
// has what the caller of ctx has written.
func (db *DB) ForQuery(ctx context.Context) context.Context {
	r := db.replica
	if r == nil {
		return ctx
	}
	always := r.usable.Load()
	if account := writer(ctx); always && account != "" && !r.away.Load() {
		position, err := r.positions.Of(ctx, account)
		if outage.Of(err) != nil {
			r.away.Store(true)
		}
		always = err == nil && position <= r.replayed.Load()
	}
	return context.WithValue(ctx, routeKey{}, route{r, always})
}

// Retry runs a read with a context of [DB.OrReplica], and a second time if it fails because the
// primary went away.
func (db *DB) Retry(ctx context.Context, read func(ctx context.Context) error) error {
	ctx = db.OrReplica(ctx)
	err := read(ctx)
	if err != nil && other(ctx, db.Read.DB, db.Read.DB, err) != nil {
		err = read(ctx)
	}
	return err
}

// FromReplica reports whether reads of ctx may run on the replica while the primary responds. Reads
// with different results must not be shared.
func FromReplica(ctx context.Context) bool {
	to, _ := ctx.Value(routeKey{}).(route)
	return to.always
}

// writer returns the user or the application whose changes are remembered, or "".
func writer(ctx context.Context) string {
	caller, _ := auth.From(ctx)
	return caller.Account()
}

// readPool returns the pool for the reads of ctx.
func readPool(ctx context.Context, primary *sql.DB) *sql.DB {
	to, _ := ctx.Value(routeKey{}).(route)
	if to.replica != nil && to.usable.Load() && (to.always || to.away.Load()) {
		return to.pool
	}
	return primary
}

// other returns the pool on which a read is to be repeated that failed with err on a pool, or nil.
// So reads go on in the moment in which the primary or the replica goes away.
func other(ctx context.Context, failed, primary *sql.DB, err error) *sql.DB {
	to, _ := ctx.Value(routeKey{}).(route)
	if err == nil || to.replica == nil || ctx.Err() != nil {
		return nil
	}
	pg, ok := errors.AsType[*pgconn.PgError](err)
	conflict := ok && pg.Code == "40001" // what the read needs was removed by the primary
	if outage.Of(err) == nil && !conflict {
		return nil
	}
	if failed == to.pool {
		to.usable.Store(conflict)
		return primary
	}
	to.away.Store(true)
	if !to.usable.Load() {
		return nil
	}
	return to.pool
}

// resolver chooses the pool of a query that Bun runs on [DB.Read].
type resolver struct{}

// ResolveConn implements [bun.ConnResolver].
func (resolver) ResolveConn(ctx context.Context, _ bun.Query) bun.IConn {
	if pool := readPool(ctx, nil); pool != nil {
		return pool
	}
	return nil
}

// Close implements [bun.ConnResolver].
func (resolver) Close() error { return nil }

// wrote records that the caller of ctx has written, unless it is in a transaction: then InTx does.
func (db *DB) wrote(ctx context.Context) {
	account := writer(ctx)
	if db.replica == nil || account == "" || ctx.Value(inTxKey{}) != nil {
		return
	}
	if err := db.Wrote(ctx, account); err != nil {
		// The change is committed. If the primary is away, reads go to the replica anyway.
		outage.Log(ctx, outage.Of(context.DeadlineExceeded), fmt.Errorf("record what %s has written: %w", account, err))
	}
}

// Wrote records for all nodes that an account has written, so that its next reads see it.
func (db *DB) Wrote(ctx context.Context, account string) error {
	if db.replica == nil {
		return nil
	}
	db.replica.away.Store(false) // before Follow notices it, so that the next read is checked
	return db.replica.positions.Written(context.WithValue(context.WithoutCancel(ctx), inTxKey{}, true), account)
}

type inTxKey struct{}

// writes is a query hook that records changes outside transactions.
type writes struct{ db *DB }

// BeforeQuery implements [bun.QueryHook].
func (writes) BeforeQuery(ctx context.Context, _ *bun.QueryEvent) context.Context { return ctx }

// AfterQuery implements [bun.QueryHook].
func (w writes) AfterQuery(ctx context.Context, event *bun.QueryEvent) {
	if w.db.replica == nil || event.Err != nil {
		return
	}
	switch verbOf(event) {
	case "INSERT", "UPDATE", "DELETE":
		w.db.wrote(ctx)
	}
}
