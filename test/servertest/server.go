// Package servertest runs the complete server for tests, on each database engine and over a real
// connection.
package servertest

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/meshyard/meshyard/cmd/meshyard/server"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/database/databasetest"
	"github.com/meshyard/meshyard/internal/preview/child"
	"github.com/meshyard/meshyard/internal/printer/printertest"
)

func init() {
	// Tests run many servers at once. Less frequent garbage collection saves a fifth of their time.
	debug.SetGCPercent(400)
	// Hashing a password with the memory of production takes longer than most requests of a test.
	auth.Argon2.Memory = 64
	// Tests wait for previews, so preview processes must also run when the machine is busy.
	child.Idle = false
	for name, value := range map[string]string{
		// Otherwise each server sets a memory limit that is too low for many servers in one process.
		"GOMEMLIMIT": "off",
		// The AWS SDK needs credentials, which FakeS3 does not check.
		"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
	} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
}

// migrated is a database with all migrations, which is copied for each test.
var migrated = databasetest.NewTemplate(func(address string) error {
	_, err := server.Migrate(context.Background(), config.Settings{DatabaseURL: address})
	return err
})

// Server is a server with its own database, bucket and address.
type Server struct {
	*server.Server
	URL string

	t        testing.TB
	settings config.Settings
	log      slog.Handler
	conns    *connections
	stop     func() error // shuts the server down gracefully
}

// Each runs a test on both engines in parallel. Its server has few connections to PostgreSQL, which
// starts a process for each of them. In short mode, as under the race detector, Each skips the
// test, as Sequential does.
func Each(t *testing.T, test func(t *testing.T, s *Server), change ...func(*config.Settings)) {
	t.Helper()
	Sequential(t)
	fewConnections := func(s *config.Settings) { s.DatabaseConnections = 4 }
	Concurrent(t, test, slices.Concat([]func(*config.Settings){fewConnections}, change)...)
}

// Concurrent is like Each, for a test whose server does several things at once: it responds to
// requests of several clients, or works in the background. In short mode, as under the race
// detector, the test runs on one of the engines.
func Concurrent(t *testing.T, test func(t *testing.T, s *Server), change ...func(*config.Settings)) {
	t.Parallel()
	for _, engine := range databasetest.Engines(t) {
		t.Run(string(engine), func(t *testing.T) {
			t.Parallel()
			test(t, Start(t, string(engine), change...))
		})
	}
}

// Sequential skips a test in short mode, as under the race detector: it sends one request after
// another, and so has no data races to detect.
func Sequential(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("one request after another: there is nothing to race")
	}
}

// Settings returns the settings of a new, empty catalogue on an engine, which is removed at the end
// of the test.
func Settings(t testing.TB, engine string) config.Settings {
	t.Helper()
	dir := t.TempDir()
	s := config.Settings{Data: dir, UploadLimit: 8 << 20, PendingTTL: time.Hour, Listen: "127.0.0.1:0",
		SiteName: "Meshyard", AnonymousRead: true, BucketRedirect: true, PrinterNetworks: printertest.Local}
	s.BucketURL = "file://" + filepath.Join(dir, "bucket")
	s.DatabaseURL = migrated.Database(t, database.Engine(engine), dir)
	return s
}

// Start runs a server on an engine until the end of the test.
func Start(t testing.TB, engine string, change ...func(*config.Settings)) *Server {
	t.Helper()
	settings := Settings(t, engine)
	for _, c := range change {
		c(&settings)
	}
	return Run(t, settings)
}

// Run runs a server with the given settings until the end of the test.
func Run(t testing.TB, settings config.Settings) *Server {
	t.Helper()
	return RunLogging(t, settings, slog.NewTextHandler(logTo{t}, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// RunLogging runs a server that logs to a handler.
func RunLogging(t testing.TB, settings config.Settings, log slog.Handler) *Server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	settings.BaseURL = "http://" + listener.Addr().String()
	s := &Server{URL: settings.BaseURL, t: t, settings: settings, log: log}
	s.serve(listener)
	t.Cleanup(func() {
		if err := s.stop(); err != nil {
			t.Errorf("the server ended with: %v", err)
		}
		// The testing package keeps this function, and so s, until the last test has ended.
		s.Server, s.conns, s.log, s.stop = nil, nil, nil, nil
	})
	return s
}

// serve opens and starts the server.
func (s *Server) serve(listener net.Listener) {
	s.t.Helper()
	s.conns = &connections{Listener: listener, open: make(map[net.Conn]bool)}
	ctx, cancel := context.WithCancel(context.Background())
	a, err := server.Open(ctx, s.settings, slog.New(s.log))
	if err != nil {
		cancel()
		s.t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- a.Serve(ctx, s.conns, time.Minute) }()
	s.Server, s.stop = a, func() error {
		cancel()
		return errors.Join(<-done, a.Close())
	}
	// Jobs run when the server responds: a test that writes for long must not delay their start.
	response, err := http.Get(s.URL + "/healthz")
	if err != nil {
		s.t.Fatalf("the server does not respond: %v", err)
	}
	response.Body.Close()
}

// Restart stops the server in the middle of requests, whose connections break, and starts another
// one at the same address.
func (s *Server) Restart() {
	s.t.Helper()
	s.conns.breakAll()
	if err := s.stop(); err != nil {
		s.t.Fatalf("the server ended with: %v", err)
	}
	listener, err := net.Listen("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.serve(listener)
}

// connections is a listener that can break all of its connections.
type connections struct {
	net.Listener

	mu     sync.Mutex
	open   map[net.Conn]bool
	broken bool
}

// Accept implements net.Listener.
func (l *connections) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken {
		_ = conn.Close() // reads from it fail
	} else {
		l.open[conn] = true
	}
	return conn, nil
}

func (l *connections) breakAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broken = true
	for conn := range l.open {
		_ = conn.Close()
	}
}

// User creates a user and returns a client that acts as the user, with the given scopes, or read
// and write by default.
func (s *Server) User(name string, scopes ...auth.Scope) *Client {
	s.t.Helper()
	if _, err := s.Store.Admin().CreateUser(context.Background(), name, false); err != nil {
		s.t.Fatal(err)
	}
	if len(scopes) == 0 {
		scopes = []auth.Scope{auth.Read, auth.Write}
	}
	return s.Client(s.Token(name, scopes...))
}

// Administrator creates an administrator named staff and returns a client that acts as one.
func (s *Server) Administrator() *Client {
	s.t.Helper()
	if _, err := s.Store.Admin().CreateUser(context.Background(), "staff", true); err != nil {
		s.t.Fatal(err)
	}
	return s.Client(s.Token("staff", auth.Read, auth.Write, auth.Admin))
}

// Token creates a token of a user.
func (s *Server) Token(name string, scopes ...auth.Scope) string {
	s.t.Helper()
	token, err := s.Store.Account.Admin().CreateToken(context.Background(), name, "test", scopes, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	return token
}

// Fold folds counts and recomputes popularity at once. The server does this every few seconds.
func (s *Server) Fold() {
	s.t.Helper()
	_, err := s.Store.Activity.FoldDownloads(context.Background())
	_, err2 := s.Store.FoldCounts(context.Background())
	ranked, err4 := s.Store.Maintenance.RankThings(context.Background())
	for err4 == nil && ranked > 0 {
		ranked, err4 = s.Store.Maintenance.RankThings(context.Background())
	}
	// Save when users were last active now, not later. It is saved at most once an hour.
	err3 := s.Store.Activity.SaveActivity(context.Background())
	if err := errors.Join(err, err2, err3, err4); err != nil {
		s.t.Fatal(err)
	}
}

// Client returns a client with a token, or without one if it is "".
func (s *Server) Client(token string) *Client { return &Client{URL: s.URL, Token: token, t: s.t} }

// logTo writes log lines to the log of the test.
type logTo struct{ t testing.TB }

func (l logTo) Write(line []byte) (int, error) {
	l.t.Logf("%s", line)
	return len(line), nil
}
