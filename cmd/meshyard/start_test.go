package main_test

import (
	"database/sql"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/meshyard/meshyard/internal/pgtest"
)

// TestServeWithoutDatabaseOrBucket checks that serve fails with one line that names the setting if
// the database or the bucket is unavailable. It must call the EC2 metadata service only if
// configured, and with --wait it must log a warning and try again.
func TestServeWithoutDatabaseOrBucket(t *testing.T) {
	binary := buildBinary(t)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	down := closed.Addr().String()
	closed.Close()
	var asked atomic.Int64
	metadata := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		http.NotFound(w, r)
	}))
	defer metadata.Close()
	s3 := "s3://models?region=us-east-1&use_path_style=true&endpoint=" + url.QueryEscape("http://"+down)
	credentials := []string{"AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test"}
	for name, c := range map[string]struct {
		args, env []string
		says      string
		warns     bool
		asks      bool // calls the metadata service
	}{
		"database": {[]string{"--database-url", "postgres://x:secret@" + down + "/x"}, nil,
			"--database-url postgres://x:xxxxx@" + down, false, false},
		"wait": {[]string{"--wait", "1500ms", "--database-url", "postgres://x@" + down + "/x"}, nil,
			"--database-url postgres://x@" + down, true, false},
		"MESHYARD_WAIT": {[]string{"--database-url", "postgres://x@" + down + "/x"}, []string{"MESHYARD_WAIT=1500ms"},
			"--database-url postgres://x@" + down, true, false},
		"bucket": {[]string{"--bucket-url", s3}, credentials, "--bucket-url s3://models", false, false},
		"both": {[]string{"--database-url", pgtest.Database(t), "--bucket-url", s3}, credentials,
			"--bucket-url s3://models", false, false},
		"credentials": {[]string{"--bucket-url", s3}, nil, "--bucket-url s3://models", false, false},
		"metadata": {[]string{"--bucket-url", s3}, []string{"AWS_EC2_METADATA_DISABLED=false"}, "--bucket-url s3://models",
			false, true},
	} {
		t.Run(name, func(t *testing.T) {
			before := asked.Load()
			command := exec.Command(binary, append([]string{"serve", "--listen", "127.0.0.1:0", "--data", t.TempDir()},
				c.args...)...)
			command.Env = append(c.env, "HOME="+t.TempDir(), "AWS_EC2_METADATA_SERVICE_ENDPOINT="+metadata.URL)
			var stderr strings.Builder
			command.Stderr = &stderr
			err := command.Run()
			var last []string // lines that are not log lines
			for line := range strings.Lines(stderr.String()) {
				// The credential providers of the AWS SDK log by themselves.
				if !strings.HasPrefix(line, "{") && !(c.asks && strings.HasPrefix(line, "SDK ")) {
					last = append(last, line)
				}
			}
			if err == nil || len(last) != 1 || !strings.HasPrefix(last[0], "meshyard: "+c.says) ||
				strings.Contains(stderr.String(), "secret") {
				t.Errorf("got %v and %q, want one line that begins with %q", err, stderr.String(), c.says)
			}
			if got := strings.Contains(stderr.String(), "waiting for the database"); got != c.warns {
				t.Errorf("warns: got %v, want %v", got, c.warns)
			}
			if got := asked.Load() > before; got != c.asks {
				t.Errorf("asks the metadata service: got %v, want %v", got, c.asks)
			}
		})
	}
}

// TestReadOnlyPostgres checks that serve and the commands that write say so if PostgreSQL is
// read-only, like a standby, and that the commands that only read work.
func TestReadOnlyPostgres(t *testing.T) {
	t.Parallel()
	c := newCatalogue(t, buildBinary(t), pgtest.Database(t))
	c.run("user", "create", "ada") // creates the database and the bucket
	address, err := url.Parse(c.database)
	if err != nil {
		t.Fatal(err)
	}
	query := address.Query()
	query.Set("options", "-c default_transaction_read_only=on")
	address.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20")
	c.database = address.String()
	for _, args := range []string{"serve --listen 127.0.0.1:0", "migrate", "user create bob", "token create ada",
		"recount", "gc", "invitation create"} {
		_, stderr, err := c.try(strings.Fields(args)...)
		if exitStatus(err) != 1 || !strings.HasPrefix(stderr, "meshyard: PostgreSQL is read-only: ") ||
			strings.Count(stderr, "\n") != 1 {
			t.Errorf("meshyard %s: got %v and %q, want exit status 1 and one line about the read-only database", args, err,
				stderr)
		}
	}
	for _, args := range []string{"user list", "fsck", "backup " + t.TempDir() + "/backup", "export " + t.TempDir() +
		"/archive"} {
		c.run(strings.Fields(args)...)
	}
}

// TestLockedSQLite checks that commands say so, once and soon, if another process has locked the
// SQLite database.
func TestLockedSQLite(t *testing.T) {
	t.Parallel()
	c := newCatalogue(t, buildBinary(t), "")
	c.run("user", "create", "ada")
	other, err := sql.Open("sqlite", filepath.Join(c.data, "meshyard.db")+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Close() })
	if _, err := other.Begin(); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"serve --listen 127.0.0.1:0", "user create bob", "gc"} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			_, stderr, err := c.try(strings.Fields(args)...)
			if exitStatus(err) != 1 || !strings.HasPrefix(stderr, "meshyard: another process has locked the SQLite database") ||
				strings.Count(stderr, "\n") != 1 {
				t.Errorf("got %v and %q, want exit status 1 and one line about the lock", err, stderr)
			}
			if took := time.Since(began); took > 40*time.Second {
				t.Errorf("it took %s, want about the 10 seconds that a statement waits", took)
			}
		})
	}
}

// TestWrongIssuerIsLogged checks that serve starts with a wrong OpenID issuer, and that it logs
// a warning.
func TestWrongIssuerIsLogged(t *testing.T) {
	t.Parallel()
	issuer := httptest.NewServer(http.NotFoundHandler())
	defer issuer.Close()
	c := newCatalogue(t, buildBinary(t), "")
	c.settings = []string{"--oidc-issuer", issuer.URL, "--oidc-client-id", "meshyard"}
	s := c.serve()
	deadline := time.Now().Add(30 * time.Second)
	for !strings.Contains(c.logged(), "sign-in through --oidc-issuer fails") && time.Now().Before(deadline) {
		time.Sleep(50 * time.Millisecond)
	}
	c.stop(s)
	if log := c.logged(); strings.Count(log, "sign-in through --oidc-issuer fails") != 1 ||
		!strings.Contains(log, `"level":"WARN"`) || !strings.Contains(log, issuer.URL) {
		t.Errorf("the log is %s, want one warning that names the issuer", log)
	}
}

// TestPreviewProcessStartsEarly checks that a preview process starts its work before the packages
// of the server are initialized, which takes longer than a small preview.
func TestPreviewProcessStartsEarly(t *testing.T) {
	empty, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer empty.Close()
	command := exec.Command(buildBinary(t), "preview-worker", "stl", "629145600", "1m", "normal")
	command.Stdin, command.Env = empty, []string{"GODEBUG=inittrace=1"}
	var stderr, stdout strings.Builder
	command.Stderr, command.Stdout = &stderr, &stdout
	if err := command.Run(); err != nil || !strings.Contains(stdout.String(), "The file is empty") {
		t.Fatalf("%v: %q, want a message about the empty file", err, stdout.String())
	}
	for _, late := range []string{"/graph/exec", "/internal/web/pages", "net/http "} {
		if strings.Contains(stderr.String(), late) {
			t.Errorf("%s is initialized before the preview", late)
		}
	}
	if !strings.Contains(stderr.String(), "init internal/godebug") {
		t.Errorf("the runtime lists no initialized packages: %q", stderr.String())
	}
}
