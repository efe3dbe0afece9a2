package main_test

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestShutdown checks that SIGTERM lets an upload in flight end and stops new connections, and that
// a second SIGTERM ends the process at once.
func TestShutdown(t *testing.T) {
	t.Parallel()
	c := newCatalogue(t, buildBinary(t), "")
	c.run("user", "create", "ada")
	ada := &user{name: "ada", token: strings.TrimSpace(c.run("token", "create", "ada"))}
	sent := randomBytes(rand.New(rand.NewPCG(1, 2)), 10)
	sent = append(sent, make([]byte, 1<<20)...) // enough that the server has started to write it

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
	if !s.ends(10*time.Second) || s.err != nil {
		t.Fatalf("SIGTERM, and the upload ended: got %v, want exit status 0 within 10s", s.err)
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
	// The default handling of the second signal is restored a moment after the first.
	time.Sleep(50 * time.Millisecond)
	if err := s.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if !s.ends(2 * time.Second) {
		t.Fatal("second SIGTERM: the server runs after 2s, want an end at once")
	}
	if status := s.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != syscall.SIGTERM {
		t.Errorf("second SIGTERM: got %v, want the server ended by it", s.ProcessState)
	}
	c.run("gc", "--grace", "0s")
	c.run("fsck", "--rehash", "--grace", "0s")
	c.checkLog([]string{ada.token})
}

// inFlight is an upload of which half was sent.
type inFlight struct {
	rest   []byte
	body   *io.PipeWriter
	result chan *answer
	t      testing.TB
}

// begin sends the first half of an upload and waits until the server writes it.
func (c *catalogue) begin(s *server, u *user, b []byte) *inFlight {
	c.t.Helper()
	read, write := io.Pipe()
	c.t.Cleanup(func() { write.Close() })
	up := &inFlight{b[len(b)/2:], write, make(chan *answer, 1), c.t}
	body, contentType := multipartBody(nil, "slow.stl", read)
	go func() {
		a, err := newClient(s.url).send(u, http.MethodPost, "/files/0/uploadFile", contentType, body)
		if err != nil {
			a = &answer{cut: err}
		}
		up.result <- a
	}()
	if _, err := io.Copy(write, bytes.NewReader(b[:len(b)/2])); err != nil {
		c.t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if parts, _ := filepath.Glob(filepath.Join(c.data, "bucket", "pending", "*.tmp")); len(parts) > 0 {
			return up
		}
		if time.Now().After(end) {
			c.t.Fatal("upload: the server has written nothing of its first half after 10s")
		}
	}
}

// finish sends the rest of the upload and returns the response.
func (up *inFlight) finish() *answer {
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
	case <-time.After(10 * time.Second):
		up.t.Fatal("upload in flight: no answer 10s after its last byte")
		return nil
	}
}

// terminate sends SIGTERM and waits until new connections are refused.
func (c *catalogue) terminate(s *server) {
	c.t.Helper()
	if err := s.Process.Signal(syscall.SIGTERM); err != nil {
		c.t.Fatal(err)
	}
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			return
		}
		conn.Close()
		if time.Now().After(end) {
			c.t.Fatal("SIGTERM: connections are taken after 5s, want them refused")
		}
	}
}
