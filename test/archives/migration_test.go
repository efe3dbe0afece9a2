package archives_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/meshyard/meshyard/cmd/meshyard/server"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestMigrationOfANewerSchema checks that neither the server nor a command opens a database that a
// newer version has migrated. The garbage collector, for example, does not know all of its rows. A
// server that was running during the migration must become unready and collect no more garbage.
func TestMigrationOfANewerSchema(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		if _, err := servertest.OpenDB(t, s).SQL().
			Exec("INSERT INTO schema_migrations (number, name) VALUES (9000, '9000_later')"); err != nil {
			t.Fatal(err)
		}
		_, err := server.Migrate(context.Background(), s.Settings)
		if err == nil || !strings.Contains(err.Error(), "newer than this version") ||
			!strings.Contains(err.Error(), "9000_later") {
			t.Errorf("migrating a newer database: %v", err)
		}
		if _, err := server.Open(context.Background(), s.Settings, s.Logger); err == nil {
			t.Error("the server opens a newer database")
		}
		if _, err := server.OpenExisting(context.Background(), s.Settings, s.Logger); err == nil ||
			!strings.Contains(err.Error(), "newer than this version") {
			t.Errorf("a command on a newer database: %v", err)
		}
		if _, err := s.Store.Maintenance.CollectGarbage(context.Background(), time.Hour, false); !errors.Is(err,
			models.ErrNewer) {
			t.Errorf("collecting garbage of a newer database: got %v, want %v", err, models.ErrNewer)
		}
		if r := s.Client("").Get("/readyz").
			Want(t, http.StatusServiceUnavailable); string(r.Bytes) != `{"status":"outdated"}`+"\n" {
			t.Errorf("/readyz of a newer database: got %s", r.Bytes)
		}
	})
}
