package main_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestShutdown checks that after SIGTERM the server completes an upload in flight and refuses new
// connections, and that a second SIGTERM ends the process at once.
func TestShutdown(t *testing.T) {
	t.Parallel()
	binary := buildBinary(t)
	t.Run("delay", func(t *testing.T) {
		t.Parallel()
		testShutdownDelay(t, binary)
	})
	c := newCatalogue(t, binary, "")
	c.run("user", "create", "ada")
	ada := &user{name: "ada", token: strings.TrimSpace(c.run("token", "create", "ada"))}
	sent := randomBytes(rand.New(rand.NewPCG(1, 2)), 10)
	// The server starts to write an upload of this size before its end.
	sent = append(sent, make([]byte, 1<<20)...)

	s := c.serve()
	up := c.begin(s, ada, sent)
	c.terminate(s)
	if s.ends(300 * time.Millisecond) {
		t.Fatalf("SIGTERM with an upload in flight: the server ended with %v, want it to wait", s.err)
	}
	a := up.finish()
	var answered struct{ ID int64 }
	if err := json.Unmarshal(a.body, &answered); err != nil || a.status != http.StatusOK {
		t.Fatalf("upload that was in flight at SIGTERM: got %d %s, want 200 and an id", a.status, a.body)
	}
	if !s.ends(time.Minute) || s.err != nil {
		t.Fatalf("SIGTERM, and the upload ended: got %v, want exit status 0 within a minute", s.err)
	}

	s = c.serve()
	l := &ledger{users: []*user{ada}}
	has := contentOf(sent)
	l.files = []*file{{id: answered.ID, owner: ada, name: "slow.stl", has: &has}}
	if err := l.verify(newClient(s.url), nil, 1); err != nil {
		t.Fatal(err)
	}
	for _, p := range l.problems {
		t.Error("after the restart:", p)
	}

	c.begin(s, ada, sent)
	c.terminate(s)
	// The server restores the default handling of the signal shortly after the first one.
	for end := time.Now().Add(time.Minute); !s.ends(20 * time.Millisecond); {
		if time.Now().After(end) {
			t.Fatal("second SIGTERM: the server still runs")
		}
		_ = s.Process.Signal(syscall.SIGTERM) // the process may have ended
	}
	if status := s.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != syscall.SIGTERM {
		t.Errorf("second SIGTERM: got %v, want the server ended by it", s.ProcessState)
	}
	c.run("gc", "--grace", "0s")
	c.run("fsck", "--rehash", "--grace", "0s")
	c.checkLog([]string{ada.token})
}

// TestHangup checks that SIGHUP does not end a server whose log is not a terminal.
func TestHangup(t *testing.T) {
	t.Parallel()
	c := newCatalogue(t, buildBinary(t), "")
	s := c.serve()
	if err := s.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); !strings.Contains(c.logged(), "SIGHUP has no effect"); {
		if s.ends(20*time.Millisecond) || time.Now().After(end) {
			t.Fatalf("SIGHUP: ended: %v; want a line in the log within a minute", s.err)
		}
	}
	c.stop(s)
}

// TestReaderOfLogEnds checks that a server goes on after the program that reads its log through a
// pipe has ended, and that its log of the first start does not list all migrations.
func TestReaderOfLogEnds(t *testing.T) {
	t.Parallel()
	binary := buildBinary(t)
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			c := newCatalogue(t, binary, databaseOn(t, engine))
			log, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			s := &process{Cmd: c.command("serve", "--listen", "127.0.0.1:0")}
			s.Stdout, s.Stderr = &s.stdout, w
			if err := c.launch(s); err != nil {
				t.Fatal(err)
			}
			w.Close()
			var line struct{ Msg, Address string }
			var before []string
			for lines := bufio.NewScanner(log); line.Msg != "serving"; before = append(before, line.Msg) {
				if !lines.Scan() {
					t.Fatalf("the log ended after %q: %v", before, lines.Err())
				}
				if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
					t.Fatalf("%s: %v", lines.Bytes(), err)
				}
			}
			if len(before) != 3 || before[0] != "migrating the database" || before[1] != "migrated the database" {
				t.Errorf("the log of the first start has the lines %q", before)
			}
			log.Close()
			for range 3 { // each writes a line
				a, err := newClient("http://"+line.Address).send(nil, http.MethodGet, "/developers", "", nil)
				if err != nil || a.status != http.StatusOK {
					t.Fatalf("without a reader of the log: got %+v, %v, want 200", a, err)
				}
			}
			if err := s.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if !s.ends(time.Minute) || s.err != nil {
				t.Errorf("SIGTERM: got %v, want exit status 0 within a minute", s.err)
			}
		})
	}
}

// testShutdownDelay checks that a server with a shutdown delay continues to serve after SIGTERM,
// while /readyz fails. It must ask clients to close their connections, and then end.
func testShutdownDelay(t *testing.T, binary string) {
	c := newCatalogue(t, binary, "")
	c.settings = []string{"--shutdown-delay", "10s"}
	s := c.serve()
	if err := s.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	to := newClient(s.url)
	for {
		probe, err := to.send(nil, http.MethodGet, "/readyz", "", nil)
		if err != nil {
			t.Fatalf("/readyz has not said that the server is shutting down: %v", err)
		}
		if probe.status == http.StatusOK {
			continue // the signal has not arrived yet
		}
		if probe.status != http.StatusServiceUnavailable || string(probe.body) != `{"status":"shutting down"}`+"\n" {
			t.Fatalf("/readyz: got %d %s", probe.status, probe.body)
		}
		a, err := to.send(nil, http.MethodGet, "/developers", "", nil)
		if err != nil || a.status != http.StatusOK || a.cut != nil {
			t.Fatalf("a request while the server is shutting down: got %+v, %v, want 200", a, err)
		}
		// The probe may have begun before the shutdown.
		if !a.closed {
			t.Error("the connection stays open for further requests")
		}
		break
	}
	if !s.ends(time.Minute) || s.err != nil {
		t.Fatalf("got %v, want exit status 0 within a minute", s.err)
	}
}

// inFlight is an upload whose first half has been sent.
type inFlight struct {
	rest   []byte
	body   *io.PipeWriter
	result chan *response
	t      testing.TB
}

// begin sends the first half of an upload and waits until the server has started to write it.
func (c *catalogue) begin(s *server, u *user, b []byte) *inFlight {
	c.t.Helper()
	up := beginUpload(c.t, newClient(s.url), u, b)
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if parts, _ := filepath.Glob(filepath.Join(c.data, "bucket", "pending", "*.tmp")); len(parts) > 0 {
			return up
		}
		if time.Now().After(end) {
			c.t.Fatal("upload: the server has written nothing of its first half after a minute")
		}
	}
}

// beginUpload sends the first half of an upload.
func beginUpload(t testing.TB, c *client, u *user, b []byte) *inFlight {
	t.Helper()
	read, write := io.Pipe()
	t.Cleanup(func() { write.Close() })
	up := &inFlight{b[len(b)/2:], write, make(chan *response, 1), t}
	body, contentType := multipartBody(nil, "slow.stl", read)
	go func() {
		a, err := c.send(u, http.MethodPost, "/files/0/uploadFile", contentType, body)
		if err != nil {
			a = &response{cut: err}
		}
		read.Close() // the response may arrive before everything is sent
		up.result <- a
	}()
	if _, err := io.Copy(write, bytes.NewReader(b[:len(b)/2])); err != nil {
		t.Fatal(err)
	}
	return up
}

// finish sends the rest of the upload and returns the response.
func (up *inFlight) finish() *response {
	up.t.Helper()
	if _, err := up.body.Write(up.rest); err != nil {
		up.t.Fatal(err)
	}
	up.body.Close()
	select {
	case a := <-up.result:
		if a.cut != nil {
			up.t.Fatalf("upload in flight: got %v, want an answer", a.cut)
		}
		return a
	case <-time.After(time.Minute):
		up.t.Fatal("upload in flight: no answer a minute after its last byte")
		return nil
	}
}

// terminate sends SIGTERM and waits until new connections are refused.
func (c *catalogue) terminate(s *server) {
	c.t.Helper()
	if err := s.Process.Signal(syscall.SIGTERM); err != nil {
		c.t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			return
		}
		conn.Close()
		if time.Now().After(end) {
			c.t.Fatal("SIGTERM: connections are taken after a minute, want them refused")
		}
	}
}
