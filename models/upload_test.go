package models_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/internal/pgtest"
	"github.com/meshyard/meshyard/models"
)

// A client that goes away while the row of its upload is being written does not part the row from its bytes: both are there.
func TestUploadOutlivesItsRequest(t *testing.T) {
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			address := "sqlite:" + filepath.Join(dir, "db")
			if engine == "postgres" {
				address = pgtest.Database(t)
			}
			db, err := models.OpenDB(t.Context(), address)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
			b, err := bucket.Open(t.Context(), "file://"+filepath.Join(dir, "bucket"))
			if err != nil {
				t.Fatal(err)
			}
			ctx, leave := context.WithCancel(t.Context())
			options := models.Options{UploadLimit: 1 << 20, PictureLimit: 1 << 20, PendingTTL: time.Hour}
			s := models.NewStore(db, b, options, func(context.Context, bun.Tx, models.Work) error {
				leave() // in the middle of the transaction
				return nil
			})
			ada, err := s.CreateUser(t.Context(), "ada", false)
			if err != nil {
				t.Fatal(err)
			}
			caller := auth.Caller{UserID: ada.ID}
			f, err := s.Upload(ctx, caller, models.NewUpload{Name: "a.stl", Bytes: strings.NewReader("solid a")})
			if err != nil {
				t.Fatalf("upload: %v", err)
			}
			if _, err := s.File(t.Context(), caller, f.ID); err != nil {
				t.Error(err)
			}
			if err := s.Check(t.Context(), 0, true, func(problem string) { t.Error(problem) }); err != nil {
				t.Error(err)
			}
			// One that has left before leaves nothing.
			if _, err := s.Upload(ctx, caller, models.NewUpload{Name: "b.stl", Bytes: strings.NewReader("solid b")}); err == nil {
				t.Error("an upload of somebody who is gone was taken")
			}
			sweep, err := s.CollectGarbage(t.Context(), 0, true)
			if err != nil || len(sweep.PendingObjects) > 0 {
				t.Errorf("left behind: %+v, %v", sweep, err)
			}
		})
	}
}
