package main_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/pgtest"
)

// dieWithParent makes the kernel kill a child process when the test process dies. It is nil on
// systems that do not support this.
var dieWithParent *syscall.SysProcAttr

// binaryFolder is where buildBinary puts the binary. TestMain creates and removes it.
var binaryFolder string

func TestMain(m *testing.M) {
	var err error
	if binaryFolder, err = os.MkdirTemp("", "meshyard-test-"); err != nil {
		panic(err)
	}
	defer os.RemoveAll(binaryFolder)
	m.Run()
}

// buildBinary returns the path of the command, which the first call builds.
func buildBinary(t *testing.T) string {
	t.Helper()
	path, err := builtBinary()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var builtBinary = sync.OnceValues(func() (string, error) {
	path := filepath.Join(binaryFolder, "meshyard")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", path, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
})

// catalogue is a database and a bucket on which processes of the real binary work. It survives
// kills.
type catalogue struct {
	t        testing.TB
	binary   string
	data     string
	database string   // a postgres:// URL; empty for SQLite in the data folder
	settings []string // additional flags
	env      []string // additional environment variables
	log      string   // a file with the standard error of all servers
}

// databaseOn returns the URL of a new database on an engine, for newCatalogue.
func databaseOn(t testing.TB, engine string) string {
	t.Helper()
	if engine == "sqlite" {
		return ""
	}
	return pgtest.Database(t)
}

func newCatalogue(t testing.TB, binary, database string) *catalogue {
	t.Helper()
	dir := t.TempDir()
	c := &catalogue{t: t, binary: binary, data: filepath.Join(dir, "data"), database: database,
		log: filepath.Join(dir, "log")}
	t.Cleanup(func() {
		if log := c.logged(); t.Failed() {
			t.Logf("the end of the servers' log:\n%s", log[max(0, len(log)-4000):])
		}
	})
	return c
}

func (c *catalogue) logged() string {
	log, err := os.ReadFile(c.log)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		c.t.Error(err)
	}
	return string(log)
}

// command returns a command on the catalogue. It removes the developer's MESHYARD_ environment
// variables.
func (c *catalogue) command(args ...string) *exec.Cmd {
	args = append(append(args, "--data", c.data), c.settings...)
	if c.database != "" {
		args = append(args, "--database-url", c.database)
	}
	cmd := exec.Command(c.binary, args...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "MESHYARD_") })
	cmd.Env = append(cmd.Env, "MESHYARD_KEEP_DELETED=0s") // so that gc has something to remove
	cmd.Env = append(cmd.Env, c.env...)
	cmd.SysProcAttr = dieWithParent
	return cmd
}

// run runs a command, which must end with exit status 0, and returns its standard output.
func (c *catalogue) run(args ...string) string {
	c.t.Helper()
	out, stderr, err := c.try(args...)
	if err != nil {
		c.t.Fatalf("meshyard %s: got %v, want exit status 0\n%s%s", strings.Join(args, " "), err, out, stderr)
	}
	return out
}

// try runs a command that may fail. It kills the command after two minutes.
func (c *catalogue) try(args ...string) (stdout, stderr string, err error) {
	p, err := c.start(args...)
	if err != nil {
		return "", "", err
	}
	if !p.ends(2 * time.Minute) {
		p.kill()
		return "", "", errors.New("it ran for two minutes and was killed")
	}
	return p.stdout.String(), p.stderr.String(), p.err
}

// process is a process of the binary. It is killed at the end of the test at the latest.
type process struct {
	*exec.Cmd
	// Output may be read after the end of the process. A server writes its log to a file instead of
	// stderr.
	stdout, stderr bytes.Buffer
	ended          chan struct{}
	err            error // the result of Wait, after the end
}

// start starts a command and does not wait for it.
func (c *catalogue) start(args ...string) (*process, error) {
	p := &process{Cmd: c.command(args...)}
	p.Stdout, p.Stderr = &p.stdout, &p.stderr
	return p, c.launch(p)
}

func (c *catalogue) launch(p *process) error {
	p.ended = make(chan struct{})
	failed := make(chan error)
	launcher() <- func() { failed <- p.Start() }
	if err := <-failed; err != nil {
		return err
	}
	go func() {
		p.err = p.Wait()
		close(p.ended)
	}()
	c.t.Cleanup(p.kill)
	return nil
}

// launcher starts processes on a thread that never ends: on Linux, a child that must die with its
// parent dies with the thread that started it.
var launcher = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})

// kill sends SIGKILL and waits until the process has ended.
func (p *process) kill() {
	_ = p.Process.Kill() // it may have ended already
	<-p.ended
}

// ends reports whether the process ends within a time.
func (p *process) ends(within time.Duration) bool {
	select {
	case <-p.ended:
		return true
	case <-time.After(within):
		return false
	}
}

// server is a running server.
type server struct {
	*process
	url string
}

// serve starts a server on a free port and waits until it is ready. It tries again if another
// process takes the port.
func (c *catalogue) serve() *server {
	c.t.Helper()
	for range 5 {
		before := len(c.logged())
		s, err := c.tryServe(before)
		if err == nil {
			return s
		}
		if !strings.Contains(c.logged()[before:], "address already in use") {
			c.t.Fatal(err)
		}
	}
	c.t.Fatal("meshyard serve: no port stays free")
	return nil
}

// tryServe starts a server. It reads the log from offset on to check that this server, and no other
// process, listens on the port.
func (c *catalogue) tryServe(offset int) (*server, error) {
	c.t.Helper()
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	log, err := os.OpenFile(c.log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	s := &server{&process{Cmd: c.command("serve", "--listen", address, "--rate-limit", "0")}, "http://" + address}
	// The first token is printed to standard output, so it does not appear in the log.
	s.Stdout, s.Stderr = &s.stdout, log
	if err := c.launch(s.process); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	for {
		select {
		case <-s.ended:
			return nil, fmt.Errorf("meshyard serve: ended with %w, want it to serve", s.err)
		case <-ctx.Done():
			s.kill()
			return nil, errors.New("meshyard serve: want it to listen, and /readyz to answer 200, within two minutes")
		case <-time.After(3 * time.Millisecond):
		}
		if strings.Contains(c.logged()[offset:], `"address":"`+address+`"`) && ready(ctx, s.url) {
			return s, nil
		}
	}
}

func ready(ctx context.Context, url string) bool {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/readyz", nil)
	if err != nil {
		return false
	}
	r.Close = true
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	response.Body.Close()
	return response.StatusCode == http.StatusOK
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// stop sends SIGTERM to the server, which must end with exit status 0.
func (c *catalogue) stop(s *server) {
	c.t.Helper()
	if err := s.Process.Signal(syscall.SIGTERM); err != nil {
		c.t.Fatal(err)
	}
	if !s.ends(time.Minute) {
		c.t.Fatal("SIGTERM: the server runs after a minute, want an end")
	}
	if s.err != nil {
		c.t.Fatalf("SIGTERM: got %v, want exit status 0", s.err)
	}
}
