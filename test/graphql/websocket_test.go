package graphql_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"

	"github.com/meshyard/meshyard/test/servertest"
)

const notified = `subscription { notifications { unreadCount } }`

// conversation sends messages over one WebSocket, one after the other, and returns the types of the
// responses with their operation IDs until it has as many as wanted or the server closes. It leaves
// out data: the first event of a subscription that the client completes may be sent or not.
func conversation(t *testing.T, url, protocol string, wanted int,
	messages ...string) (responses []string, closed websocket.CloseError) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	options := &websocket.DialOptions{}
	if protocol != "" {
		options.Subprotocols = []string{protocol}
	}
	conn, _, err := websocket.Dial(ctx, url+"/graphql", options)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	for _, m := range messages {
		if err := conn.Write(ctx, websocket.MessageText, []byte(m)); err != nil {
			break // the server has closed the connection
		}
	}
	for len(responses) < wanted {
		var m struct{ ID, Type string }
		if err := wsjson.Read(ctx, conn, &m); err != nil {
			if !errors.As(err, &closed) {
				t.Errorf("%q: after %q: %v", messages, responses, err)
			}
			break
		}
		if m.Type != "next" && m.Type != "data" {
			responses = append(responses, strings.TrimSpace(m.Type+" "+m.ID))
		}
	}
	return responses, closed
}

// TestSocketProtocol checks the order of messages and the close codes of the protocol
// graphql-transport-ws and of its predecessor.
func TestSocketProtocol(t *testing.T) {
	s := servertest.Start(t, "sqlite")
	ada := s.User("ada")
	open := `{"type": "connection_init", "payload": {"Authorization": "Bearer ` + ada.Token + `"}}`
	subscribe := func(kind, id, query string) string {
		return `{"id": "` + id + `", "type": "` + kind + `", "payload": {"query": "` + query + `"}}`
	}
	for _, c := range []struct {
		name, protocol string
		messages       []string
		want           string
		code           websocket.StatusCode // 0: the server leaves the connection open
	}{
		{"ping before connection_init", "graphql-transport-ws", []string{`{"type": "ping"}`, open},
			"pong, connection_ack", 0},
		{"no JSON", "graphql-transport-ws", []string{open, "hello"}, "connection_ack", 4400},
		{"no JSON at first", "graphql-transport-ws", []string{"hello"}, "", 4400},
		{"a list", "graphql-transport-ws", []string{open, "[]"}, "connection_ack", 4400},
		{"an unknown type", "graphql-transport-ws", []string{open, `{"type": "start", "id": "1"}`}, "connection_ack", 4400},
		{"a type of the predecessor", "graphql-transport-ws", []string{open, `{"type": "connection_terminate"}`},
			"connection_ack", 4400},
		{"a type of the server", "graphql-transport-ws", []string{open, `{"type": "next", "id": "1"}`},
			"connection_ack", 4400},
		{"no ID", "graphql-transport-ws", []string{open, `{"type": "subscribe", "payload": {"query": "{ __typename }"}}`},
			"connection_ack", 4400},
		{"an ID that is no string", "graphql-transport-ws",
			[]string{open, `{"type": "subscribe", "id": 1, "payload": {"query": "{ __typename }"}}`}, "connection_ack", 4400},
		{"no payload", "graphql-transport-ws", []string{open, `{"type": "subscribe", "id": "1"}`}, "connection_ack", 4400},
		{"no query", "graphql-transport-ws", []string{open, `{"type": "subscribe", "id": "1", "payload": {}}`},
			"connection_ack", 4400},
		{"variables that are no object", "graphql-transport-ws",
			[]string{open, `{"type": "subscribe", "id": "1", "payload": {"query": "{ __typename }", "variables": []}}`},
			"connection_ack", 4400},
		{"a payload of connection_init that is no object", "graphql-transport-ws",
			[]string{`{"type": "connection_init", "payload": [5]}`}, "", 4400},
		{"subscribe before connection_init", "graphql-transport-ws", []string{subscribe("subscribe", "1", notified)},
			"", 4401},
		{"two connection_init", "graphql-transport-ws", []string{open, open}, "connection_ack", 4429},
		{"an ID in use", "graphql-transport-ws", []string{open, subscribe("subscribe", strings.Repeat("é", 100), notified),
			subscribe("subscribe", strings.Repeat("é", 100), notified)}, "connection_ack", 4409},
		{"an unknown subprotocol", "graphql-over-pigeon", nil, "", 4406},
		{"no subprotocol", "", nil, "", 4406},
		{"nothing", "graphql-transport-ws", nil, "", 4408},
		{"only pings", "graphql-transport-ws", []string{`{"type": "ping"}`}, "pong", 4408},
		{"an error and the same ID again", "graphql-transport-ws",
			[]string{open, subscribe("subscribe", "1", "{"), subscribe("subscribe", "1", "{ __typename }"), `{"type": "ping"}`},
			"connection_ack, error 1, error 1, pong", 0},
		{"complete of the client and the same ID again", "graphql-transport-ws",
			[]string{open, subscribe("subscribe", "1", notified), `{"type": "complete", "id": "1"}`,
				`{"type": "complete", "id": "1"}`, `{"type": "ping"}`, subscribe("subscribe", "1", "{")},
			"connection_ack, pong, error 1", 0},
		{"the predecessor", "graphql-ws",
			[]string{open, subscribe("start", "1", "{"), subscribe("start", "2", notified), `{"type": "stop", "id": "2"}`,
				`{"type": "connection_terminate"}`},
			"connection_ack, ka, error 1, complete 2", 1000},
		{"a type of the successor", "graphql-ws", []string{open, subscribe("subscribe", "1", notified)},
			"connection_ack, ka", 4400},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			wanted := len(strings.Split(c.want, ", "))
			if c.code != 0 {
				wanted = 100
			}
			responses, closed := conversation(t, s.URL, c.protocol, wanted, c.messages...)
			if strings.Join(responses, ", ") != c.want || closed.Code != c.code {
				t.Errorf("got %q, closed with %v; want %s, %d", responses, closed, c.want, c.code)
			}
		})
	}
}
