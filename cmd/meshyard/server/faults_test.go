package server_test

import (
	"strings"
	"testing"

	"github.com/meshyard/meshyard/cmd/meshyard/server/servertest"
)

// TestOneStream checks that a subscription to several streams fails validation.
func TestOneStream(t *testing.T) {
	s := servertest.Start(t, "sqlite")
	s.User("ada")
	token := s.Token("ada", "read")
	for _, document := range []string{
		`subscription { a: notifications { unreadCount } b: notifications { unreadCount } }`,
		`subscription { notifications @skip(if: true) { unreadCount } }`,
	} {
		r := s.Client(token).Request("POST", "/graphql", query(document))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "text/event-stream")
		if got := string(s.Client(token).Send(r).Bytes); !strings.Contains(got, `"GRAPHQL_VALIDATION_FAILED"`) {
			t.Errorf("%s: %s", document, got)
		}
		if got, _ := refusedBySocket(t, s.URL, token, document); got != "GRAPHQL_VALIDATION_FAILED" {
			t.Errorf("%s by WebSocket: %s", document, got)
		}
	}
}
