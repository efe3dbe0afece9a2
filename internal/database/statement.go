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
	"github.com/meshyard/meshyard/internal/concurrency"
	"github.com/meshyard/meshyard/internal/tracing"
	"github.com/meshyard/meshyard/internal/waiting"
)

// statements counts the statements that Bun sends, and the rows that they return or change. A list
// must cost the same number of statements whatever its length.
type statements struct {
	engine                     Engine
	n, ofRequests, requestRows atomic.Int64
	observe                    atomic.Pointer[func(verb string, took time.Duration, err error)]
}

// Verbs are the verbs of statements that [DB.OnStatement] reports.
var Verbs = []string{"SELECT", "INSERT", "UPDATE", "DELETE", "BEGIN", "COMMIT", "ROLLBACK", "OTHER"}

func (s *statements) BeforeQuery(ctx context.Context, event *bun.QueryEvent) context.Context {
	if tracing.On(ctx) {
		event.Stash = map[any]any{spanKey{}: s.trace(ctx, event.Query)}
	}
	return ctx // without the span: Bun keeps the context of BEGIN for the transaction
}

func (s *statements) AfterQuery(ctx context.Context, event *bun.QueryEvent) {
	if span, ok := event.Stash[spanKey{}].(tracing.Span); ok {
		endSpan(span, event.Err)
	}
	rows := 0
	if event.Result != nil {
		n, _ := event.Result.RowsAffected() // no error: both drivers know
		rows = int(n)
	}
	s.done(ctx, verbOf(event), event.StartTime, rows, event.Err)
}

// verbOf returns the verb of a statement. Bun takes each raw query for a SELECT.
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

// done counts a statement that ended, and the rows that it returned or changed.
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

type remembered struct{}

// WithRemembered returns a context for statements whose results are remembered for later requests.
// [DB.RequestStatements] does not count them: whether a request sends them depends on when it came.
func WithRemembered(ctx context.Context) context.Context {
	return context.WithValue(ctx, remembered{}, true)
}

func countsForRequest(ctx context.Context) bool {
	return auth.OfRequest(ctx) && ctx.Value(remembered{}) == nil
}

// OnStatement calls observe after each statement with its verb, one of [Verbs].
func (db *DB) OnStatement(observe func(verb string, took time.Duration, err error)) {
	db.statements.observe.Store(&observe)
}

// Pools returns the pools of connections by name.
func (db *DB) Pools() map[string]*sql.DB {
	if db.Engine == Postgres {
		return map[string]*sql.DB{"postgres": db.Write.DB}
	}
	return map[string]*sql.DB{"sqlite_write": db.Write.DB, "sqlite_read": db.Read.DB}
}

// Statements returns how many statements were sent since the database was opened.
func (db *DB) Statements() int64 { return db.statements.n.Load() }

// RequestStatements is Statements without those of jobs and of other work in the background, and
// without those whose results are remembered.
func (db *DB) RequestStatements() int64 { return db.statements.ofRequests.Load() }

// RequestRows returns how many rows the statements of requests returned or changed since the
// database was opened.
func (db *DB) RequestRows() int64 { return db.statements.requestRows.Load() }

// Concurrency is how much the database does at once for any one caller.
type Concurrency struct{ Statements, Transactions int }

// MostConcurrency returns the most that any one caller has had under way at once since the database
// was opened.
func (db *DB) MostConcurrency() Concurrency {
	return Concurrency{Statements: db.reads.limiter.Most(), Transactions: db.transactions.Most()}
}

// limit sets what is under way at once: statements outside of transactions and transactions, in all
// and of one caller. What is beyond waits, and callers are served in turn.
func (db *DB) limit(reads, transactions int, perCaller Concurrency) {
	db.reads = turns{concurrency.New(reads, perCaller.Statements)}
	db.transactions = concurrency.New(transactions, perCaller.Transactions)
}

// turns is a hook that makes each statement outside of a transaction wait for its caller's turn.
// Statements within transactions do not wait: they may hold locks that other statements of the
// caller wait for.
type turns struct{ limiter *concurrency.Limiter }

// gaveUp marks the event of a statement whose context ended while it waited.
type gaveUp struct{}

// BeforeQuery waits until the statement may start. A hook cannot return an error, but if the
// context ends first then the statement fails with the error of the context.
func (t turns) BeforeQuery(ctx context.Context, event *bun.QueryEvent) context.Context {
	if t.acquire(ctx) != nil {
		if event.Stash == nil {
			event.Stash = make(map[any]any)
		}
		event.Stash[gaveUp{}] = true
	}
	return ctx
}

// AfterQuery runs when all rows were read.
func (t turns) AfterQuery(ctx context.Context, event *bun.QueryEvent) {
	if event.Stash[gaveUp{}] == nil {
		t.release(ctx)
	}
}

// acquire waits for the turn of the account of ctx. Work without an account is not limited: it is
// the server's own.
func (t turns) acquire(ctx context.Context) error {
	waiting.Begin(ctx)
	account := auth.Account(ctx)
	if account == "" {
		return nil
	}
	if err := t.limiter.Acquire(ctx, account); err != nil {
		return err
	}
	if l, ok := ctx.Value(ledgerKey{}).(*ledger); ok {
		l.add(func() { t.limiter.Release(account) })
	}
	return nil
}

func (t turns) release(ctx context.Context) {
	account := auth.Account(ctx)
	if account == "" {
		return
	}
	if l, ok := ctx.Value(ledgerKey{}).(*ledger); ok && !l.remove() {
		return // after the end
	}
	t.limiter.Release(account)
}

// ledger counts the slots that the statements of one operation hold. A statement that panics, in
// the driver or while its rows are read, never gets to AfterQuery.
type ledger struct {
	mu      sync.Mutex
	held    int
	release func() // of one slot
	ended   bool   // held slots were given back
}

type ledgerKey struct{}

// WithSlots returns a context for one operation or request, and a function to call when nothing of
// it runs any more: it gives back the slots that statements still hold because they panicked.
func WithSlots(ctx context.Context) (_ context.Context, end func()) {
	l := new(ledger)
	return context.WithValue(ctx, ledgerKey{}, l), l.end
}

func (l *ledger) add(release func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended {
		l.held++
		l.release = release
	}
}

// remove reports whether the slot of a statement that ended is still to be given back.
func (l *ledger) remove() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held > 0 {
		l.held--
		return !l.ended
	}
	return true
}

func (l *ledger) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for range l.held {
		l.release()
	}
	l.ended = true
}
