package main_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestKillLosesNoWebhook kills the server by SIGKILL while comments are written, and checks that a
// webhook receives each comment that was confirmed.
func TestKillLosesNoWebhook(t *testing.T) {
	t.Parallel()
	const kills = 2
	binary := buildBinary(t)
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			commentID := regexp.MustCompile(`"comment":\{"id":"(\d+)"`)
			var mu sync.Mutex
			received := make(map[string]bool)
			receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				if id := commentID.FindSubmatch(body); id != nil {
					mu.Lock()
					defer mu.Unlock()
					received[string(id[1])] = true
				}
			}))
			defer receiver.Close()
			c := newCatalogue(t, binary, databaseOn(t, engine))
			c.settings = append(c.settings, "--webhook-allow-private")
			c.run("user", "create", "ada")
			ada := &user{name: "ada", token: strings.TrimSpace(c.run("token", "create", "ada"))}
			c.run("webhook", "create", "ada", receiver.URL, "--event", "comment.created")
			var confirmed []string
			var thing int64
			for kill := range kills {
				s := c.serve()
				to := newClient(s.url)
				if thing == 0 {
					var err error
					if thing, err = to.thing(ada, "Commented"); err != nil {
						t.Fatal(err)
					}
				}
				for i := range 20 {
					if i == 5+10*kill { // while other deliveries are in progress
						go s.kill()
					}
					a, err := to.send(ada, http.MethodPost, fmt.Sprintf("/things/%d/comments", thing), "application/json",
						strings.NewReader(`{"body": "Note."}`))
					if err != nil || a.status != http.StatusOK {
						break
					}
					confirmed = append(confirmed, regexp.MustCompile(`"id":(\d+)`).FindStringSubmatch(string(a.body))[1])
				}
				s.kill()
				to.http.CloseIdleConnections()
			}
			s := c.serve()
			defer s.kill()
			missing := func() (missing []string) {
				mu.Lock()
				defer mu.Unlock()
				for _, id := range confirmed {
					if !received[id] {
						missing = append(missing, id)
					}
				}
				return missing
			}
			// An interrupted attempt is repeated after half a minute, and overdue deliveries are looked for
			// every minute.
			for late := time.Now().Add(3 * time.Minute); len(missing()) > 0 && time.Now().Before(late); {
				time.Sleep(20 * time.Millisecond)
			}
			if lost := missing(); len(lost) > 0 || len(confirmed) < 5 {
				t.Errorf("of %d confirmed comments, the webhook never received %q", len(confirmed), lost)
			}
			t.Logf("%d comments were confirmed", len(confirmed))
		})
	}
}
