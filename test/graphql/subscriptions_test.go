package graphql_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"

	"github.com/meshyard/meshyard/test/servertest"
)

// subscribe opens a subscription to a file.
func subscribe(t *testing.T, c *servertest.Client, id int64) *servertest.OpenStreams {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), servertest.Hung)
	t.Cleanup(cancel)
	return servertest.OpenStream(t, ctx, cancel, c, servertest.Object{"query": servertest.Watching,
		"variables": servertest.Object{"id": servertest.ID(id)}})
}

// waits returns a thing with a finalized file whose preview is never generated.
func waits(t *testing.T, c *servertest.Client) (thing, file int64) {
	t.Helper()
	thing, file = c.Thing("Watched"), c.Upload("a.stl", servertest.Mesh(t, "hschendel_simple_ascii.stl"))
	c.Finalize("thing", thing, file).Want(t, 200)
	return thing, file
}

// TestOpenSubscriptionsAreLimited checks that a user has at most 32 open subscriptions, with any
// transport and token.
func TestOpenSubscriptionsAreLimited(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		_, file := waits(t, ada)
		all := make([]*servertest.OpenStreams, 32)
		for i := range all {
			all[i] = subscribe(t, ada, file)
			// The event arrives although no other event follows.
			if first := all[i].Next(); !strings.Contains(first, `"WAITING"`) {
				t.Fatalf("subscription %d: %s %q", i, all[i].Status, first)
			}
		}
		refused := subscribe(t, ada, file)
		text, _ := io.ReadAll(refused.Body)
		var result servertest.Result
		if err := json.Unmarshal(text, &result); err != nil || refused.StatusCode != 429 || result.Code() != "RATE_LIMITED" ||
			result.Errors[0].Extensions.Limit != 32 || !strings.Contains(result.Errors[0].Message, "at most 32 per client") {
			t.Errorf("the 33rd: %s %s", refused.Status, text)
		}
		if told := servertest.Socket(t, s.URL, ada.Token, servertest.Watching, file); len(told) != 1 ||
			len(told[0].Errors) != 1 || told[0].Errors[0].Extensions.Code != "RATE_LIMITED" {
			t.Errorf("the 33rd, over WebSocket: %+v", told)
		}
		another := s.Client(s.Token("ada", "read"))
		if refused := subscribe(t, another, file); refused.StatusCode != 429 {
			t.Errorf("by another token of the same user: %s, want 429", refused.Status)
		}
		all[7].Close()
		servertest.Until(t, "room for another", func() bool {
			o := subscribe(t, ada, file)
			if o.StatusCode == 200 {
				all[7] = o
			}
			return o.StatusCode == 200
		})
		if o := subscribe(t, ada, file); o.StatusCode != 429 {
			t.Errorf("the 33rd, again: %s", o.Status)
		}
		for _, o := range all {
			o.Close()
		}
	})
}

// dial opens a WebSocket like a browser that accepts compression.
func dial(t *testing.T, s *servertest.Server, token string) (*websocket.Conn, *http.Response, error) {
	t.Helper()
	conn, r, err := websocket.Dial(t.Context(), s.URL+"/graphql", &websocket.DialOptions{
		Subprotocols: []string{"graphql-transport-ws"}, HTTPHeader: http.Header{"Accept-Encoding": {"gzip, deflate, br"}},
	})
	if err != nil {
		return nil, r, err
	}
	t.Cleanup(func() { conn.CloseNow() })
	if token == "" {
		return conn, r, nil
	}
	if err := wsjson.Write(t.Context(), conn, servertest.Object{"type": "connection_init",
		"payload": servertest.Object{"Authorization": "Bearer " + token}}); err != nil {
		return conn, r, err
	}
	var ack servertest.Object
	return conn, r, wsjson.Read(t.Context(), conn, &ack)
}

// TestOpenSocketsAreLimited checks that a user, or a network without a token, has at most 32 open
// WebSockets.
func TestOpenSocketsAreLimited(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		for _, token := range []string{ada.Token, ""} {
			var first *websocket.Conn
			for i := range 32 {
				conn, _, err := dial(t, s, token)
				if err != nil {
					t.Fatalf("%.2q: WebSocket %d: %v", token, i, err)
				}
				if first == nil {
					first = conn
				}
			}
			_, r, err := dial(t, s, token)
			var closed websocket.CloseError
			if token != "" && (!errors.As(err, &closed) || closed.Code != websocket.StatusTryAgainLater ||
				!strings.Contains(closed.Reason, "at most 32 per client")) {
				t.Errorf("the 33rd of a user: %v", err)
			}
			if token == "" && (err == nil || r == nil || r.StatusCode != 429) {
				t.Errorf("the 33rd of an address: %v", err)
			}
			first.CloseNow()
			servertest.Until(t, "room for another", func() bool { _, _, err := dial(t, s, token); return err == nil })
		}
	})
}

// TestSocketMessagesAreLimited checks that a WebSocket is closed after too many messages.
func TestSocketMessagesAreLimited(t *testing.T) {
	s := servertest.Start(t, "sqlite")
	conn, _, err := dial(t, s, s.User("ada").Token)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	go func() {
		for wsjson.Write(ctx, conn, servertest.Object{"type": "ping"}) == nil {
		}
	}()
	pongs := 0
	for ; err == nil; pongs++ {
		_, _, err = conn.Read(ctx)
	}
	if websocket.CloseStatus(err) != websocket.StatusTryAgainLater || pongs > 10_001 {
		t.Errorf("after %d responses: %v", pongs, err)
	}
}

// TestManySubscribersOfOneFile checks that a file is read once for all of its subscribers, and that
// no goroutines remain after they have disconnected. It is not parallel, because it inspects all
// goroutines.
func TestManySubscribersOfOneFile(t *testing.T) {
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			s := servertest.Start(t, engine)
			ada := s.User("ada")
			thing, file := waits(t, ada)
			_, other := waits(t, ada)
			var clients []*servertest.Client // administrators can see drafts of other users
			for i := range 8 {
				name := fmt.Sprint("watcher", i)
				if _, err := s.Store.Admin().CreateUser(t.Context(), name, true); err != nil {
					t.Fatal(err)
				}
				clients = append(clients, s.Client(s.Token(name, "read", "admin")))
			}
			start := s.Statements()
			all := make([]*servertest.OpenStreams, 200)
			for i := range all {
				all[i] = subscribe(t, clients[i%7], file)
			}
			for i, o := range all {
				if first := o.Next(); !strings.Contains(first, `"WAITING"`) {
					t.Fatalf("subscriber %d: %s", i, first)
				}
			}
			opened := s.Statements()
			left := subscribe(t, clients[7], other)
			left.Next()
			// All subscribers receive the same new event.
			ada.Do(http.MethodDelete, fmt.Sprintf("/things/%d/files/%d", thing, file), nil).Want(t, 200)
			var ended sync.WaitGroup
			for i, o := range all {
				ended.Go(func() {
					if more := o.Next(); more != "" {
						t.Errorf("subscriber %d gets %s for a deleted file", i, more)
					}
					if !o.Complete {
						t.Errorf("subscriber %d gets no complete event: %v", i, o.Lines.Err())
					}
					o.Close()
				})
			}
			ended.Wait()
			t.Logf("%d statements to open 200 subscriptions, %d until they ended", opened-start, s.Statements()-opened)
			if n := s.Statements() - opened; n > 150 {
				t.Errorf("%d statements while 200 watched one file", n)
			}
			left.Close()
			servertest.Until(t, "an end of all that served subscriptions", func() bool {
				stacks := make([]byte, 16<<20)
				return !strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), "meshyard/graph.")
			})
		})
	}
}

// TestSubscriptionsEndWithTheServer checks that open subscriptions do not prevent the shutdown of
// the server, and receive no complete event when it shuts down.
func TestSubscriptionsEndWithTheServer(t *testing.T) {
	t.Parallel()
	var o *servertest.OpenStreams
	// The server stops at the end of this subtest, and the client does not.
	t.Run("server", func(within *testing.T) {
		s := servertest.Start(within, "sqlite")
		ada := s.User("ada")
		_, file := waits(within, ada)
		o = subscribe(t, ada, file)
		if first := o.Next(); !strings.Contains(first, `"WAITING"`) {
			t.Fatal(first)
		}
	})
	if more := o.Next(); more != "" || o.Complete {
		t.Errorf("got %q, complete: %v", more, o.Complete)
	}
}

// TestSocketsEndWithTheServer checks that subscriptions over a WebSocket receive no complete
// message when the server shuts down, because their clients would not subscribe again, and that the
// close code is one after which clients do.
func TestSocketsEndWithTheServer(t *testing.T) {
	t.Parallel()
	var conns []*websocket.Conn
	next := func(conn *websocket.Conn) (kind string, err error) {
		var m struct{ Type string }
		err = wsjson.Read(t.Context(), conn, &m)
		return m.Type, err
	}
	// The server stops at the end of this subtest, and the clients do not.
	t.Run("server", func(within *testing.T) {
		s := servertest.Start(within, "sqlite")
		ada := s.User("ada")
		for range 30 {
			conn, _, err := dial(t, s, ada.Token)
			if err != nil {
				t.Fatal(err)
			}
			subscribe := map[string]any{"id": "1", "type": "subscribe",
				"payload": map[string]any{"query": "subscription { notifications { unreadCount } }"}}
			if err := wsjson.Write(t.Context(), conn, subscribe); err != nil {
				t.Fatal(err)
			}
			if kind, err := next(conn); kind != "next" || err != nil {
				t.Fatalf("got %q, %v", kind, err)
			}
			conns = append(conns, conn)
		}
	})
	for i, conn := range conns {
		if kind, err := next(conn); websocket.CloseStatus(err) != websocket.StatusGoingAway {
			t.Errorf("WebSocket %d: got %q, %v", i, kind, err)
		}
	}
}

// TestProcessingOfSeveralFiles checks the subscriptions to all files of a thing and to all of the
// caller's files, until the files are processed.
func TestProcessingOfSeveralFiles(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		thing := ada.Thing("Vase")
		stl := servertest.Mesh(t, "hschendel_simple_bin.stl")
		first := ada.Upload("a.stl", stl)
		ada.Finalize("thing", thing, first).Want(t, 200)
		for what, document := range map[string]string{"the thing": fmt.Sprintf(
			`subscription { thingProcessing(id: %d) { file { id } processing { state } } }`, thing),
			"the caller": `subscription { myProcessing { file { id } processing { state } } }`} {
			ctx, cancel := context.WithTimeout(context.Background(), servertest.Hung)
			defer cancel()
			events := servertest.OpenStream(t, ctx, cancel, ada, servertest.Object{"query": document})
			second := ada.Upload("b.stl", append(slices.Clone(stl), what...))
			ada.Finalize("thing", thing, second).Want(t, 200)
			await := func(file int64) {
				done := fmt.Sprintf(`{"file":{"id":"%d"},"processing":{"state":"DONE"}}`, file)
				for event := events.Next(); !strings.Contains(event, done); event = events.Next() {
					if event == "" {
						t.Fatalf("%s: the stream ended before file %d was done", what, file)
					}
				}
			}
			await(second)
			third := ada.Upload("c.stl", append(slices.Clone(stl), what...)) // processed already, as second
			ada.Finalize("thing", thing, third).Want(t, 200)
			await(third)
			events.Close()
		}
		ctx, cancel := context.WithTimeout(context.Background(), servertest.Hung)
		defer cancel()
		refused := servertest.OpenStream(t, ctx, cancel, bob,
			servertest.Object{"query": fmt.Sprintf(`subscription { thingProcessing(id: %d) { file { id } } }`, thing)})
		if event := refused.Next(); !strings.Contains(event, "FORBIDDEN") {
			t.Errorf("bob watches a draft: %s", event)
		}
		refused.Close()
	}, servertest.Derives)
}
