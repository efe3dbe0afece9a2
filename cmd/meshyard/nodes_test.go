//go:build nginx

package main_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"

	"github.com/meshyard/meshyard/internal/pgtest"
)

// TestNodes runs two servers on PostgreSQL and S3 behind nginx, with the configuration in deploy.
// It runs the README, and restarts one server after the other, 3 seconds apart, while clients read,
// write, upload a large file and subscribe over server-sent events and WebSocket. No request may
// fail, and everything that was confirmed must exist exactly once.
//
// MESHYARD_TEST_RESTARTS is the number of restarts of each server, and MESHYARD_TEST_UPLOAD_MIB the
// size of the large file in MiB. MESHYARD_TEST_VERSITYGW is described at startS3.
func TestNodes(t *testing.T) {
	restarts, size := numberFrom(t, "MESHYARD_TEST_RESTARTS", 1), numberFrom(t, "MESHYARD_TEST_UPLOAD_MIB", 64)<<20
	binary := buildBinary(t)
	s := newNodes(t, binary, pgtest.Database(t), 2)
	token := func(name string) string { return strings.TrimSpace(s.run("token", "create", name)) }
	admin := &user{name: "admin", token: token("admin")}
	followREADME(t, binary, s.url, admin.token, "CURL_CA_BUNDLE="+s.certificate)
	const thing = 1 // the README creates and publishes it as admin

	s.run("user", "create", "bob")
	bob := &user{name: "bob", token: token("bob")}
	to := &client{s.url, s.http}
	watching, endWatching := context.WithCancel(t.Context())
	defer endWatching()
	events, sockets := &watcher{user: admin}, &watcher{user: admin}
	var watchers sync.WaitGroup
	watchers.Go(func() { s.watch(watching, events, s.readEvents) })
	watchers.Go(func() { s.watch(watching, sockets, s.readSocket) })

	traffic := &traffic{to: to, user: bob, thing: thing}
	stopTraffic := traffic.start(t, 6)
	large := make(chan error, 1)
	go func() { large <- s.uploadLarge(bob, size) }()
	for range restarts {
		for i := range s.addresses {
			s.stopDuringUploads(i, bob)
			s.restart(i)
			time.Sleep(3 * time.Second) // like an operator's script does between restarts
		}
	}
	if err := <-large; err != nil {
		t.Error(err)
	}
	stopTraffic()
	comments := traffic.comments.Load()
	t.Logf("%d requests, %d of them comments; %d event streams and %d WebSockets ended, through %d restarts",
		traffic.calls.Load(), comments, events.ended.Load(), sockets.ended.Load(), restarts*int64(len(s.addresses)))
	if comments == 0 || events.ended.Load() == 0 || sockets.ended.Load() == 0 {
		t.Error("the test has tested nothing")
	}

	await(t, "the count of comments", func() bool {
		var shown struct {
			Count int64 `json:"comment_count"`
		}
		if err := to.json(bob, fmt.Sprintf("/things/%d", thing), &shown); err != nil {
			t.Fatal(err)
		}
		if shown.Count > comments {
			t.Fatalf("%d comments exist, and %d were confirmed", shown.Count, comments)
		}
		return shown.Count == comments
	})
	for name, w := range map[string]*watcher{"server-sent events": events, "WebSocket": sockets} {
		await(t, "the last notification over "+name, func() bool { return w.unread.Load() == comments })
	}
	endWatching()
	watchers.Wait()
	s.run("gc", "--grace", "0s")
	if out := s.run("fsck", "--grace", "0s"); out != "database and bucket agree\n" {
		t.Errorf("fsck: %s", out)
	}
	for line := range strings.Lines(s.logged()) {
		if strings.Contains(line, `"level":"ERROR"`) || strings.Contains(line, "panic") {
			t.Errorf("log: %s", line)
		}
	}
}

// stopDuringUploads sends SIGTERM to a server while uploads are in progress, and finishes them when
// it accepts no more connections.
func (s *nodes) stopDuringUploads(i int, u *user) {
	s.t.Helper()
	content := make([]byte, 2<<20)
	var uploads []*inFlight // some of them reach this server
	for range 4 {
		uploads = append(uploads, beginUpload(s.t, &client{s.url, s.http}, u, content))
	}
	if err := s.processes[i].Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
	direct := &client{"http://" + s.addresses[i], http.DefaultClient}
	await(s.t, "readiness to turn", func() bool {
		a, err := direct.send(nil, http.MethodGet, "/readyz", "", nil)
		if err != nil {
			s.t.Fatalf("the listener closed before /readyz answered 503: %v", err)
		}
		return a.status == http.StatusServiceUnavailable
	})
	await(s.t, "the listener to close", func() bool { return refuses(s.addresses[i]) })
	for _, upload := range uploads {
		if a := upload.finish(); a.status != http.StatusOK {
			s.t.Errorf("an upload during the restart: got %d %s, want 200", a.status, a.body)
		}
	}
	if !s.processes[i].ends(time.Minute) || s.processes[i].err != nil {
		s.t.Fatalf("server %d: got %v, want exit status 0", i, s.processes[i].err)
	}
}

// traffic sends the requests of clients during the restarts.
type traffic struct {
	to    *client
	user  *user
	thing int64

	stop     atomic.Bool
	calls    atomic.Int64
	sent     atomic.Int64 // comments whose request was started
	comments atomic.Int64 // comments that were confirmed
}

// start sends requests with a number of clients until stop is called or one fails.
func (c *traffic) start(t *testing.T, clients int) (stop func()) {
	var running sync.WaitGroup
	for i := range clients {
		running.Go(func() {
			for n := i; !c.stop.Load(); n++ {
				if err := c.call(n); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	return func() {
		c.stop.Store(true)
		running.Wait()
	}
}

// maxComments is less than the number of notifications that are kept for a user.
const maxComments = 900

// call sends the nth request of a client. Most requests change data, so a proxy must not repeat
// them.
func (c *traffic) call(n int) error {
	method, path, contentType, body := http.MethodPost, "/graphql", "application/json",
		io.Reader(strings.NewReader(`{"query": "mutation { updateProfile(input: {location: \"Here\"}) { user { id } } }"}`))
	comments := n%4 == 0 && c.sent.Add(1) <= maxComments
	switch {
	case comments:
		path, body = fmt.Sprintf("/things/%d/comments", c.thing), strings.NewReader(`{"body": "Note."}`)
	case n%4 == 1:
		method, path, body = http.MethodGet, fmt.Sprintf("/things/%d", c.thing), nil
	case n%4 == 2:
		path = "/files/0/uploadFile"
		body, contentType = multipartBody(nil, "a.txt", strings.NewReader(strings.Repeat("some bytes ", 5_000)))
	}
	a, err := c.to.send(c.user, method, path, contentType, body)
	if err == nil {
		err = a.cut
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if a.status != http.StatusOK {
		return fmt.Errorf("%s %s: got %d %.300s", method, path, a.status, a.body)
	}
	c.calls.Add(1)
	if comments {
		c.comments.Add(1)
	}
	return nil
}

// uploadLarge uploads a file of random bytes, attaches it to a thing, and downloads it.
func (s *nodes) uploadLarge(u *user, size int64) error {
	to := &client{s.url, s.http}
	thing, err := to.thing(u, "Large")
	if err != nil {
		return err
	}
	sent := sha256.New()
	body, contentType := multipartBody(nil, "large.bin",
		io.TeeReader(io.LimitReader(rand.NewChaCha8([32]byte{1}), size), sent))
	a, err := to.send(u, http.MethodPost, "/files/0/uploadFile", contentType, body)
	var file struct{ ID int64 }
	if err != nil || json.Unmarshal(a.body, &file) != nil || a.status != http.StatusOK {
		return fmt.Errorf("the large upload: %+v, %w", a, err)
	}
	finalize := fmt.Sprintf(`{"pending_uploads": [{"id": %d, "rank": 1}], "target_id": %d, "target_type": "thing"}`,
		file.ID, thing)
	if a, err := to.send(u, http.MethodPost, "/files/0/FinalizeFiles", "application/json",
		strings.NewReader(finalize)); err != nil || a.status != http.StatusOK {
		return fmt.Errorf("finalizing the large upload: %+v, %w", a, err)
	}
	r, err := http.NewRequest(http.MethodGet, s.url+fmt.Sprintf("/files/%d/download", file.ID), nil)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+u.token)
	response, err := s.http.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	got := sha256.New()
	if n, err := io.Copy(got, response.Body); err != nil || n != size || !bytes.Equal(got.Sum(nil), sent.Sum(nil)) {
		return fmt.Errorf("the large download: %s, %d bytes of %d, %w", response.Status, n, size, err)
	}
	return nil
}

// watcher keeps a subscription to a user's notifications open: when a subscription ends, it opens
// another one.
type watcher struct {
	user   *user
	unread atomic.Int64
	ended  atomic.Int64
}

const watchNotifications = `subscription { notifications { unreadCount } }`

func (w *watcher) saw(payload []byte) error {
	var event struct {
		Data struct{ Notifications struct{ UnreadCount *int64 } }
	}
	if err := json.Unmarshal(payload, &event); err != nil || event.Data.Notifications.UnreadCount == nil {
		return fmt.Errorf("event %s: %w", payload, err)
	}
	w.unread.Store(*event.Data.Notifications.UnreadCount)
	return nil
}

// watch calls read, which reads one subscription, repeatedly until ctx ends.
func (s *nodes) watch(ctx context.Context, w *watcher, read func(context.Context, *watcher) error) {
	for ctx.Err() == nil {
		if err := read(ctx, w); err != nil && ctx.Err() == nil {
			s.t.Error(err) // report it now, because the test may be waiting for an event
			return
		}
		w.ended.Add(1)
	}
}

// readEvents reads one stream of server-sent events to its end.
func (s *nodes) readEvents(ctx context.Context, w *watcher) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/graphql",
		strings.NewReader(fmt.Sprintf(`{"query": %q}`, watchNotifications)))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+w.user.token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	response, err := s.http.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "text/event-stream" {
		return fmt.Errorf("server-sent events: got %s %s", response.Status, response.Header.Get("Content-Type"))
	}
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		if data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: ")); ok {
			if err := w.saw(data); err != nil {
				return err
			}
		}
	}
	return lines.Err()
}

// readSocket reads a subscription over one WebSocket until the server closes it.
func (s *nodes) readSocket(ctx context.Context, w *watcher) error {
	conn, _, err := websocket.Dial(ctx, s.url+"/graphql", &websocket.DialOptions{HTTPClient: s.http,
		Subprotocols: []string{"graphql-transport-ws"}})
	if err != nil {
		return err
	}
	defer conn.CloseNow()
	type message struct {
		ID      string          `json:"id,omitempty"`
		Type    string          `json:"type"`
		Payload json.RawMessage `json:"payload,omitempty"`
	}
	next := message{Type: "connection_init", Payload: json.RawMessage(fmt.Sprintf(`{"Authorization": "Bearer %s"}`,
		w.user.token))}
	for {
		if err := wsjson.Write(ctx, conn, next); err != nil {
			return nil // the server has closed the connection
		}
		for {
			var m message
			if err := wsjson.Read(ctx, conn, &m); err != nil {
				return nil
			}
			if m.Type == "connection_ack" {
				next = message{ID: "1", Type: "subscribe",
					Payload: json.RawMessage(fmt.Sprintf(`{"query": %q}`, watchNotifications))}
				break
			}
			if m.Type != "next" {
				return fmt.Errorf("WebSocket: got %+v", m)
			}
			if err := w.saw(m.Payload); err != nil {
				return err
			}
		}
	}
}
