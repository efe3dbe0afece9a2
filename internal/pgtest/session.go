package pgtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// session is the process's own connection to the server, on which all databases of its tests are
// created and dropped one after the other. While it is open, its application name tells other
// processes that databases whose names begin so are in use.
type session struct {
	address url.URL
	name    string
	count   atomic.Int64

	mu   sync.Mutex // guards conn
	conn *pgx.Conn

	// stop is never called, but it holds the lock on the private server's folder: were it
	// collected, the lock would go with it, and another process would sweep the folder away.
	stop func()
}

// A statement that takes longer than this has met a stuck server.
const statementTimeout = time.Minute

// shared is the one session of the process. Nobody closes it or stops the private server behind it:
// both end with the process.
var shared = sync.OnceValues(func() (*session, error) {
	// Long enough to install PostgreSQL, short enough to end before go test's own ten minutes.
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	defer cancel()
	address, stop, err := Start(ctx)
	if err != nil {
		return nil, err
	}
	s, err := openSession(ctx, address)
	if err != nil {
		stop()
		return nil, err
	}
	s.stop = stop
	return s, nil
})

func openSession(ctx context.Context, address string) (*session, error) {
	u, err := url.Parse(address)
	if err != nil || (u.Scheme != "postgres" && u.Scheme != "postgresql") {
		// Neither the address nor url's error is printed: an address may hold a password.
		return nil, fmt.Errorf("%s is not a postgres:// URL", Variable)
	}
	s := &session{address: *u, name: fmt.Sprintf("meshyard_test_%08x", rand.Uint32())}
	if err := s.connect(ctx); err != nil {
		return nil, err
	}
	return s, s.sweep(ctx)
}

func (s *session) newName() string {
	return fmt.Sprintf("%s_%d", s.name, s.count.Add(1))
}

func (s *session) addressOf(database string) string {
	u := s.address
	u.Path, u.RawPath = "/"+database, ""
	return u.String()
}

func (s *session) connect(ctx context.Context) error {
	config, err := pgx.ParseConfig(s.address.String())
	if err != nil {
		return err
	}
	config.RuntimeParams["application_name"] = s.name
	s.conn, err = pgx.ConnectConfig(ctx, config)
	return err
}

// exec is used from cleanups too, so it has no test's context, which has ended by then.
func (s *session) exec(sql string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), statementTimeout)
	defer cancel()
	if s.conn.IsClosed() { // pgx closes a connection whose statement timed out
		if err := s.connect(ctx); err != nil {
			return err
		}
	}
	_, err := s.conn.Exec(ctx, sql)
	return err
}

// seal keeps everybody out of a template: PostgreSQL refuses to copy a database somebody is
// connected to. Sessions end a moment after they are told to, which CREATE DATABASE itself waits
// for, up to five seconds.
func (s *session) seal(template string) error {
	if err := s.exec(fmt.Sprintf("ALTER DATABASE %s ALLOW_CONNECTIONS false", template)); err != nil {
		return fmt.Errorf("seal template: %w", err)
	}
	if err := s.exec(fmt.Sprintf("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '%s'", template)); err != nil {
		return fmt.Errorf("seal template: %w", err)
	}
	return nil
}

// sweep drops what ended processes left: templates always, and databases of tests that were killed.
func (s *session) sweep(ctx context.Context) error {
	rows, err := s.conn.Query(ctx, `
		SELECT datname FROM pg_database
		WHERE datname ~ '^meshyard_test_[0-9a-f]{8}_[0-9]+$'
		AND substring(datname, '^meshyard_test_[0-9a-f]{8}') NOT IN (
			SELECT application_name FROM pg_stat_activity WHERE application_name IS NOT NULL)`)
	if err != nil {
		return fmt.Errorf("list left databases: %w", err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("list left databases: %w", err)
	}
	for _, name := range names {
		// An error is no reason to fail: another process may be dropping the same database, or
		// another role own it.
		_ = s.exec(fmt.Sprintf("DROP DATABASE IF EXISTS %s WITH (FORCE)", name))
	}
	return nil
}
