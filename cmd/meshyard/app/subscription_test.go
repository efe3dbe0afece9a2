package app_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"

	"github.com/meshyard/meshyard/cmd/meshyard/app/apptest"
)

const watching = `subscription ($id: ID!) { fileProcessing(id: $id) { state progress error } }`

// watched is what a subscription tells.
type watched struct {
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

// stream subscribes over server-sent events, and gives what came until the stream was complete.
func stream(t *testing.T, c *apptest.Client, id int64) (told []watched) {
	t.Helper()
	r := c.Request(http.MethodPost, "/graphql", map[string]any{"query": watching, "variables": map[string]any{"id": apptest.ID(id)}})
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Accept-Encoding", "gzip")
	answer := c.Send(r)
	if got := answer.Header.Get("Content-Type"); got != "text/event-stream" || answer.Header.Get("Content-Encoding") != "" {
		t.Fatalf("%s %s: %s", answer.Status, got, answer.Bytes)
	}
	complete := false
	for lines := bufio.NewScanner(strings.NewReader(string(answer.Bytes))); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			var one watched
			if err := json.Unmarshal([]byte(text), &one); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			told = append(told, one)
		}
		complete = complete || lines.Text() == "event: complete"
	}
	if !complete {
		t.Errorf("the stream is not complete: %s", answer.Bytes)
	}
	return told
}

// socket subscribes over WebSocket with the token in the payload, as browsers do, and gives what came until it was complete.
func socket(t *testing.T, url, token, query string, id int64) (told []watched) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, url+"/graphql", &websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}})
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
	body, _ := json.Marshal(map[string]any{"query": query, "variables": map[string]any{"id": apptest.ID(id)}})
	for {
		var m message
		if err := wsjson.Read(ctx, conn, &m); err != nil {
			t.Fatalf("after %+v: %v", told, err)
		}
		switch m.Type {
		case "connection_ack":
			send(message{ID: "1", Type: "subscribe", Payload: body})
		case "next":
			var one watched
			if err := json.Unmarshal(m.Payload, &one); err != nil {
				t.Fatalf("%s: %v", m.Payload, err)
			}
			told = append(told, one)
		case "error", "complete":
			return told
		}
	}
}

// Who subscribes to a file is told where its work stands, and that it is at its end, over both transports; who may not see the file is told nothing.
func TestSubscription(t *testing.T) {
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.User("ada")
		token := s.Token("ada", "read", "write")
		ada, eve := s.Client(token), s.User("eve")
		thing := ada.Thing("Watched")
		for i, subscribe := range []func(id int64) []watched{
			func(id int64) []watched { return stream(t, ada, id) },
			func(id int64) []watched { return socket(t, s.URL, token, watching, id) },
		} {
			id := ada.Upload("a.stl", append(apptest.Mesh(t, "hschendel_simple_ascii.stl"), byte('\n'), byte('0'+i), byte('\n'))[:458+i])
			ada.Finalize("thing", thing, id).Want(t, 200)
			var states []string
			for _, one := range subscribe(id) {
				states = append(states, one.Data.FileProcessing.State)
			}
			if len(states) == 0 || states[len(states)-1] != "DONE" || slices.Contains(states[:len(states)-1], "DONE") {
				t.Errorf("told of the states %q", states)
			}
			if told := stream(t, eve, id); len(told) != 1 || len(told[0].Errors) != 1 || told[0].Errors[0].Extensions.Code != "FORBIDDEN" {
				t.Errorf("a stranger is told %+v", told)
			}
		}
		if told := socket(t, s.URL, token, `query ($id: ID!) { file(id: $id) { id } }`, 1); len(told) != 1 || len(told[0].Errors) != 1 || !strings.Contains(told[0].Errors[0].Message, "subscriptions") {
			t.Errorf("a query over WebSocket: %+v", told)
		}
	}, derives)
}
