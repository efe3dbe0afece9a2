// Package modelstest creates the core of the models for the tests of areas.
package modelstest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/internal/database/databasetest"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/fsck"
)

// migrated is a database with all migrations, which is copied for each test.
var migrated = databasetest.NewTemplate(func(address string) error {
	db, err := models.OpenDB(context.Background(), address)
	if err != nil {
		return err
	}
	_, err = db.Migrate(context.Background())
	return errors.Join(err, db.Close())
})

// Each runs a test on a core of each engine, with a user. In short mode it runs on one of them. It
// calls during in each transaction that stores jobs. After the test, it checks that the database
// and the bucket are consistent.
func Each(t *testing.T, during func(), test func(t *testing.T, core *models.Store, ada auth.Caller)) {
	for _, engine := range databasetest.Engines(t) {
		t.Run(string(engine), func(t *testing.T) {
			dir := t.TempDir()
			db, err := models.OpenDB(t.Context(), migrated.Database(t, engine, dir))
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			b, err := bucket.Open(t.Context(), "file://"+filepath.Join(dir, "bucket"))
			if err != nil {
				t.Fatal(err)
			}
			options := models.Options{UploadLimit: 1 << 20, ImageLimit: 1 << 20, PendingTTL: time.Hour}
			core := models.NewStore(db, b, options, func(context.Context, bun.Tx, models.Work) error {
				during()
				return nil
			})
			test(t, core, NewUser(t, core, "ada"))
			_, err = fsck.New(core).Check(t.Context(), fsck.Options{Rehash: true, ObjectsOnly: true}, func(p fsck.Problem) { t.Error(p) })
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// NewUser creates a user.
func NewUser(t *testing.T, core *models.Store, name string) auth.Caller {
	t.Helper()
	u, err := core.Admin().CreateUser(t.Context(), name, false)
	if err != nil {
		t.Fatal(err)
	}
	return auth.Caller{UserID: u.ID, Role: auth.Member, Scopes: auth.Scopes{auth.Read, auth.Write}}
}

// Published returns a published thing of a user.
func Published(t *testing.T, core *models.Store, owner auth.Caller) *models.Thing {
	t.Helper()
	thing, err := core.CreateThing(t.Context(), owner, models.NewThing{Name: "a", Description: "a", License: models.CC, Category: "Art"})
	if err != nil {
		t.Fatal(err)
	}
	file, err := core.Upload(t.Context(), owner, models.NewUpload{Name: "a.stl", Bytes: strings.NewReader(fmt.Sprint("solid ", thing.ID))})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := core.Finalize(t.Context(), owner, []models.FinalizeFile{{ID: file.ID}}, models.Target{Type: models.OnThing, ID: thing.ID}); err != nil {
		t.Fatal(err)
	}
	if _, err := core.PublishThing(t.Context(), owner, thing.ID, models.Published); err != nil {
		t.Fatal(err)
	}
	return thing
}
