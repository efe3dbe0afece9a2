package servertest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
)

const Watching = `subscription ($id: ID!) { fileProcessing(id: $id) { state progress error } }`

// Watched is an event of a subscription to a file.
type Watched struct {
	Data struct {
		FileProcessing struct {
			State    string
			Progress float64
			Error    *string
		}
	}
	Errors []struct {
		Message    string
		Extensions struct{ Code string }
	}
}

// Socket subscribes over a WebSocket with the token in the connection_init payload, as browsers do,
// and returns all events until the subscription completes.
func Socket(t *testing.T, url, token, query string, id int64) (told []Watched) {
	t.Helper()
	for _, payload := range OverSocket(t, url, token, query, map[string]any{"id": ID(id)}) {
		var one Watched
		if err := json.Unmarshal(payload, &one); err != nil {
			t.Fatalf("%s: %v", payload, err)
		}
		told = append(told, one)
	}
	return told
}

// RefusedBySocket runs an operation over a WebSocket, and returns the code of the first error and
// the total size of the messages.
func RefusedBySocket(t *testing.T, url, token, query string) (code string, size int) {
	t.Helper()
	for _, payload := range OverSocket(t, url, token, query, nil) {
		var one Watched
		if err := json.Unmarshal(payload, &one); err != nil {
			t.Fatalf("%s: %v", payload, err)
		}
		if len(one.Errors) > 0 {
			code = one.Errors[0].Extensions.Code
		}
		size += len(payload)
	}
	return code, size
}

// OverSocket runs an operation over a WebSocket and returns its payloads until it completes. It
// calls before when the socket is open.
func OverSocket(t *testing.T, url, token, query string, variables map[string]any,
	before ...func()) (told []json.RawMessage) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, url+"/graphql",
		&websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	type message struct {
		ID      string          `json:"id,omitempty"`
		Type    string          `json:"type"`
		Payload json.RawMessage `json:"payload,omitempty"`
	}
	send := func(m message) {
		if err := wsjson.Write(ctx, conn, m); err != nil {
			t.Fatal(err)
		}
	}
	send(message{Type: "connection_init", Payload: json.RawMessage(fmt.Sprintf(`{"Authorization":"Bearer %s"}`, token))})
	body, _ := json.Marshal(map[string]any{"query": query, "variables": variables})
	for {
		var m message
		if err := wsjson.Read(ctx, conn, &m); err != nil {
			t.Fatalf("after %s: %v", told, err)
		}
		switch m.Type {
		case "connection_ack":
			for _, happens := range before {
				happens()
			}
			send(message{ID: "1", Type: "subscribe", Payload: body})
		case "next":
			told = append(told, m.Payload)
		case "error": // the payload is a list of errors; that of "next" is a response
			return append(told, json.RawMessage(`{"errors":`+string(m.Payload)+`}`))
		case "complete":
			return told
		}
	}
}

// OpenStreams is an open subscription over server-sent events.
type OpenStreams struct {
	*http.Response
	Lines    *bufio.Scanner
	end      context.CancelFunc
	Complete bool
}

// OpenStream opens a stream of server-sent events.
func OpenStream(t *testing.T, ctx context.Context, cancel context.CancelFunc, c *Client,
	operation Object) *OpenStreams {
	t.Helper()
	r := c.Request(http.MethodPost, "/graphql", operation).WithContext(ctx)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Authorization", "Bearer "+c.Token)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return &OpenStreams{Response: response, Lines: bufio.NewScanner(response.Body), end: cancel}
}

// Next returns the data of the next event, or "" at the end of the stream.
func (o *OpenStreams) Next() string {
	for o.Lines.Scan() {
		o.Complete = o.Complete || o.Lines.Text() == "event: complete"
		if data, ok := strings.CutPrefix(o.Lines.Text(), "data: "); ok {
			return data
		}
	}
	return ""
}

// Close closes the connection, like a client that disconnects.
func (o *OpenStreams) Close() {
	o.end()
	o.Body.Close()
}

// Until waits until a condition is true, and fails the test if that takes too long.
func Until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(Hung); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: never", what)
		}
	}
}
