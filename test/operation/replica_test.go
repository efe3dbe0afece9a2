//go:build unix

package operation_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/pgtest"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestReplica checks that two servers read from a streaming standby, that a user sees their own
// changes on both of them while the standby is behind, and that reads go on without the primary
// while changes get 503.
func TestReplica(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts two servers of PostgreSQL")
	}
	t.Parallel()
	primary, standby := pgtest.Replicated(t)
	p := newProxy(t, primary)
	settings := servertest.Settings(t, "sqlite")
	settings.DatabaseURL, settings.DatabaseReplicaURL = p.url, standby
	log := new(servertest.LogBuffer)
	first := servertest.RunLogging(t, settings, slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	ada := first.User("ada")
	path := "/things/" + servertest.ID(servertest.PublishedThing(t, ada, "Before"))
	other := servertest.Run(t, settings)
	adaThere := other.Client(ada.Token)
	reader := other.Client(first.User("bob").Token)

	replica, err := models.OpenDB(t.Context(), standby)
	if err != nil {
		t.Fatal(err)
	}
	defer replica.Close()
	sees := func(c *servertest.Client, name string) bool {
		t.Helper()
		r := c.Get(path)
		var got struct{ Name string }
		return r.StatusCode == http.StatusOK && json.Unmarshal(r.Bytes, &got) == nil && got.Name == name
	}
	servertest.Until(t, "the replica has the thing", func() bool { return sees(reader, "Before") })
	if _, err := replica.SQL().ExecContext(t.Context(), "SELECT pg_wal_replay_pause()"); err != nil {
		t.Fatal(err)
	}
	servertest.Until(t, "the replica is paused", func() bool {
		var state string
		return replica.SQL().QueryRowContext(t.Context(), "SELECT pg_get_wal_replay_pause_state()").Scan(&state) == nil &&
			state == "paused"
	})
	ada.Do(http.MethodPatch, path, servertest.Object{"name": "After"}).Want(t, http.StatusOK)
	for name, c := range map[string]*servertest.Client{"on the same server": ada, "on another server": adaThere} {
		if !sees(c, "After") {
			t.Errorf("%s, the user does not see their own change", name)
		}
	}
	if !sees(reader, "Before") {
		t.Error("a user who has not written does not read from the replica")
	}
	if _, err := replica.SQL().ExecContext(t.Context(), "SELECT pg_wal_replay_resume()"); err != nil {
		t.Fatal(err)
	}
	servertest.Until(t, "the replica has the change", func() bool { return sees(reader, "After") })

	p.stop()
	for range 3 {
		for name, c := range map[string]*servertest.Client{"a visitor": other.Client(""), "a reader": reader,
			"the user": adaThere} {
			if c.Token != "" && !sees(c, "After") {
				t.Errorf("without the primary, %s does not see the thing", name)
			}
			if r := servertest.Asked(c,
				servertest.QueryBody("{ things(first: 1) { nodes { name } } }")); r.StatusCode != http.StatusOK ||
				!strings.Contains(string(r.Bytes), "After") {
				t.Errorf("without the primary, %s gets %d %s", name, r.StatusCode, r.Bytes)
			}
		}
		servertest.WantOutage(t, adaThere.Do(http.MethodPatch, path, servertest.Object{"name": "Lost"}),
			http.StatusServiceUnavailable, "")
		other.Client("").Get("/").Want(t, http.StatusOK)
		other.Client("").Get("/thing:"+strings.TrimPrefix(path, "/things/")).Want(t, http.StatusOK)
		servertest.Until(t, "the server is ready", func() bool { return reader.Get("/readyz").StatusCode == http.StatusOK })
		if r := reader.Get("/readyz?all"); r.StatusCode != http.StatusServiceUnavailable ||
			!strings.Contains(string(r.Bytes), `"primary"`) {
			t.Errorf("/readyz?all: got %d %s, want it to name the primary", r.StatusCode, r.Bytes)
		}
	}
	p.start(t)
	servertest.Until(t, "changes work again", func() bool {
		return adaThere.Do(http.MethodPatch, path, servertest.Object{"name": "Again"}).StatusCode == http.StatusOK
	})
	if !sees(adaThere, "Again") {
		t.Error("the user does not see their change after the outage")
	}
	servertest.Until(t, "the other server has noticed that the primary is back", func() bool { return sees(ada, "Again") })
	db := servertest.OpenDB(t, first)
	servertest.Until(t, "both servers hold the lock again", func() bool {
		n, err := db.Read.NewSelect().Table("pg_locks").Where("locktype = 'advisory' AND granted").Count(t.Context())
		return err == nil && n >= 2
	})
}
