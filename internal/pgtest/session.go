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

// session is the process's own connection to the server. All databases of its tests are created and
// dropped on it, one after the other. While it is open, its application name marks the databases
// whose names begin with it as in use.
type session struct {
	address  url.URL
	name     string
	strategy string // the end of CREATE DATABASE, see copyStrategy
	count    atomic.Int64

	mu   sync.Mutex // guards conn
	conn *pgx.Conn

	// stop is never called, but it references the lock on the folder of the private server: if it
	// were garbage collected, another process could remove the folder.
	stop func()
}

// statementTimeout limits a statement. One that takes longer means that the server is stuck.
const statementTimeout = time.Minute

// shared returns the only session of the process. It is never closed, and the private server behind
// it is never stopped: both end with the process.
var shared = sync.OnceValues(func() (*session, error) {
	// This is long enough to install PostgreSQL, and shorter than the ten minutes of go test.
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
		// The message contains neither the URL nor the error of net/url, because a URL may contain
		// a password.
		return nil, fmt.Errorf("%s is not a postgres:// URL", Variable)
	}
	s := &session{address: *u, name: fmt.Sprintf("meshyard_test_%08x", rand.Uint32())}
	if err := s.connect(ctx); err != nil {
		return nil, err
	}
	s.strategy = copyStrategy(s.conn.PgConn().ParameterStatus("server_version"))
	return s, s.sweep(ctx)
}

// copyStrategy returns the option of CREATE DATABASE that copies the files of the template. By
// default, PostgreSQL 15 and later write every page to the write-ahead log instead, which takes
// several times the processor time. Earlier versions always copy the files, and have no option.
func copyStrategy(version string) string {
	var major int
	if _, err := fmt.Sscanf(version, "%d", &major); err != nil || major < 15 {
		return ""
	}
	return " STRATEGY file_copy"
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

// exec has a context of its own, because cleanups call it after the context of the test has ended.
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

// seal prevents connections to a template: PostgreSQL refuses to copy a database that has sessions.
// Terminated sessions end a moment later; CREATE DATABASE waits for that, up to five seconds.
func (s *session) seal(template string) error {
	if err := s.exec(fmt.Sprintf("ALTER DATABASE %s ALLOW_CONNECTIONS false", template)); err != nil {
		return fmt.Errorf("seal template: %w", err)
	}
	if err := s.exec(fmt.Sprintf("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '%s'",
		template)); err != nil {
		return fmt.Errorf("seal template: %w", err)
	}
	return nil
}

// sweep drops the databases of processes that have ended: templates, and databases of tests that
// were killed.
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
		// An error is ignored: another process may be dropping the same database, or another role
		// may own it.
		_ = s.exec(fmt.Sprintf("DROP DATABASE IF EXISTS %s WITH (FORCE)", name))
	}
	return nil
}
