package database

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database/concurrency"
	"github.com/meshyard/meshyard/internal/telemetry/tracing"
)

// statements is a query hook that counts statements and the rows that they return or change. Tests
// use the counts to check that the number of statements for a list does not depend on its length.
type statements struct {
	dialect                    Dialect
	n, ofRequests, requestRows atomic.Int64
	observe                    atomic.Pointer[func(verb string, took time.Duration, err error)]
}

// Verbs are the verbs of statements that [DB.OnStatement] reports.
var Verbs = []string{"SELECT", "INSERT", "UPDATE", "DELETE", "BEGIN", "COMMIT", "ROLLBACK", "OTHER"}

func (s *statements) BeforeQuery(ctx context.Context, event *bun.QueryEvent) context.Context {
	if tracing.On(ctx) {
		event.Stash = map[any]any{spanKey{}: s.trace(ctx, event.Query)}
	}
	// The span is not in the context, because Bun uses the context of BEGIN for the whole transaction.
	return ctx
}

func (s *statements) AfterQuery(ctx context.Context, event *bun.QueryEvent) {
	if span, ok := event.Stash[spanKey{}].(tracing.Span); ok {
		endSpan(span, event.Err)
	}
	rows := 0
	if event.Result != nil {
		n, _ := event.Result.RowsAffected() // both drivers return no error
		rows = int(n)
	}
	s.done(ctx, verbOf(event), event.StartTime, rows, event.Err)
}

// verbOf returns the verb of a statement, one of [Verbs]. For a raw query it reads the verb from
// the text, because Bun reports each one as SELECT. A raw query that begins with WITH counts as
// SELECT.
func verbOf(event *bun.QueryEvent) string {
	verb := event.Operation()
	if _, raw := event.IQuery.(*bun.RawQuery); raw && !strings.HasPrefix(event.Query, "WITH ") {
		verb, _, _ = strings.Cut(strings.TrimSpace(event.Query), " ")
	}
	if slices.Contains(Verbs, verb) {
		return verb
	}
	return "OTHER"
}

// done counts a statement that has ended, and the rows that it returned or changed. It calls the
// function that was set by OnStatement.
func (s *statements) done(ctx context.Context, verb string, began time.Time, rows int, err error) {
	s.n.Add(1)
	if countsForRequest(ctx) {
		s.ofRequests.Add(1)
		s.requestRows.Add(int64(rows))
	}
	if observe := s.observe.Load(); observe != nil {
		if errors.Is(err, sql.ErrNoRows) || errors.Is(err, context.Canceled) {
			err = nil
		}
		(*observe)(verb, time.Since(began), err)
	}
}

type sharedResult struct{}

// WithSharedResult returns a context for statements whose results several requests share.
// [DB.RequestStatements] does not count them, because whether a request runs them depends on which
// others there are.
func WithSharedResult(ctx context.Context) context.Context {
	return context.WithValue(ctx, sharedResult{}, true)
}

func countsForRequest(ctx context.Context) bool {
	return auth.OfRequest(ctx) && ctx.Value(sharedResult{}) == nil
}

// OnStatement sets the function that is called after each statement with its verb, one of [Verbs],
// its duration and its error. The error is nil if there were no rows or the context was canceled.
func (db *DB) OnStatement(observe func(verb string, took time.Duration, err error)) {
	db.statements.observe.Store(&observe)
}

// Pools returns the connection pools by name.
func (db *DB) Pools() map[string]*sql.DB { return db.pools(db) }

// Statements returns the number of statements that ended since the database was opened.
func (db *DB) Statements() int64 { return db.statements.n.Load() }

// RequestStatements is like Statements, but does not count statements of background work, such as
// jobs, and statements whose results are cached.
func (db *DB) RequestStatements() int64 { return db.statements.ofRequests.Load() }

// RequestRows returns how many rows were returned or changed by the statements that
// RequestStatements counts.
func (db *DB) RequestRows() int64 { return db.statements.requestRows.Load() }

// Concurrency is the number of statements outside transactions, and of transactions, that run
// concurrently for one caller.
type Concurrency struct{ Statements, Transactions int }

// MostConcurrency returns the largest numbers that any one caller has reached since the database
// was opened.
func (db *DB) MostConcurrency() Concurrency {
	return Concurrency{Statements: db.reads.limiter.Most(), Transactions: db.transactions.Most()}
}

// limit sets how many statements outside transactions (reads), and how many transactions, run
// concurrently, in total and for each caller. Those beyond the limits wait, and free slots are
// shared fairly among callers.
func (db *DB) limit(reads, transactions int, perCaller Concurrency) {
	db.reads = queryLimiter{concurrency.New(reads, perCaller.Statements)}
	db.transactions = concurrency.New(transactions, perCaller.Transactions)
}

// queryLimiter is a query hook that makes each statement outside a transaction wait for a slot of
// its caller. Statements within transactions do not wait: they may hold locks that other statements
// of the caller wait for.
type queryLimiter struct{ limiter *concurrency.Limiter }

// slotKey is the key of the slot of a statement in the stash of its event.
type slotKey struct{}

// BeforeQuery waits for a slot. A hook cannot return an error, but if the context ends first, the
// statement fails with the error of the context.
func (t queryLimiter) BeforeQuery(ctx context.Context, event *bun.QueryEvent) context.Context {
	if s, _ := t.acquire(ctx); s != nil {
		if event.Stash == nil {
			event.Stash = make(map[any]any)
		}
		event.Stash[slotKey{}] = s
	}
	return ctx
}

// AfterQuery releases the slot. Bun calls it after all rows were read.
func (t queryLimiter) AfterQuery(_ context.Context, event *bun.QueryEvent) {
	s, _ := event.Stash[slotKey{}].(*slot)
	s.release()
}

// acquire waits for a slot for the account of ctx. Work without an account is not limited, because
// the server started it itself, and gets nil. It returns the error of ctx if ctx ends first.
func (t queryLimiter) acquire(ctx context.Context) (*slot, error) {
	account := auth.Account(ctx)
	if account == "" {
		return nil, nil
	}
	if err := t.limiter.Acquire(ctx, account); err != nil {
		return nil, err
	}
	s := &slot{limiter: t.limiter, account: account}
	if l, ok := ctx.Value(ledgerKey{}).(*ledger); ok {
		l.add(s)
	}
	return s, nil
}

// slot is a slot that a statement holds.
type slot struct {
	limiter  *concurrency.Limiter
	account  string
	released atomic.Bool
}

// release releases the slot, unless it is nil or was released before.
func (s *slot) release() {
	if s != nil && !s.released.Swap(true) {
		s.limiter.Release(s.account)
	}
}

// ledger contains the slots of the statements of one operation, to release them at its end. If a
// statement panics, in the driver or while its rows are read, AfterQuery is not called for it.
type ledger struct {
	mu    sync.Mutex
	slots []*slot
	ended bool
}

type ledgerKey struct{}

// WithSlots returns a context for one operation or request, and a function to call after all its
// work has ended. The function releases the slots of statements that panicked.
func WithSlots(ctx context.Context) (_ context.Context, end func()) {
	l := new(ledger)
	return context.WithValue(ctx, ledgerKey{}, l), l.end
}

// add adds a slot, and forgets those that were released.
func (l *ledger) add(s *slot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return // the statement releases it
	}
	l.slots = append(slices.DeleteFunc(l.slots, func(s *slot) bool { return s.released.Load() }), s)
}

func (l *ledger) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.slots {
		s.release()
	}
	l.slots, l.ended = nil, true
}
