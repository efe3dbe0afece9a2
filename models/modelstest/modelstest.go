// Package modelstest creates the core of the models for the tests of areas.
package modelstest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/internal/database/databasetest"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/uploads"
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

// Options are those of the tests.
var Options = models.Options{UploadLimit: 1 << 20, ImageLimit: 1 << 20, PendingTTL: time.Hour}

// EachEngine runs a test on a migrated database of each engine and a bucket. In short mode it runs
// on one of them.
func EachEngine(t *testing.T, test func(t *testing.T, db *models.DB, b *bucket.Bucket)) {
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
			test(t, db, b)
		})
	}
}

// Each runs a test on a core of each engine, with a user. In short mode it runs on one of them. It
// calls during in each transaction that stores jobs.
func Each(t *testing.T, during func(), test func(t *testing.T, core *models.Store, ada auth.Caller)) {
	EachEngine(t, func(t *testing.T, db *models.DB, b *bucket.Bucket) {
		core := models.NewStore(db, b, Options, func(context.Context, bun.Tx, models.Work) error {
			during()
			return nil
		})
		test(t, core, NewUser(t, core, "ada"))
	})
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
	thing, _ := PublishedFile(t, core, owner)
	return thing
}

// PublishedFile returns a published thing of a user and its file.
func PublishedFile(t *testing.T, core *models.Store, owner auth.Caller) (*models.Thing, *models.File) {
	t.Helper()
	thing, err := core.CreateThing(t.Context(), owner, models.NewThing{Name: "a", Description: "a", License: models.CC,
		Category: "Art"})
	if err != nil {
		t.Fatal(err)
	}
	file, err := uploads.New(core).
		Upload(t.Context(), owner, uploads.NewUpload{Name: "a.stl", Bytes: strings.NewReader(fmt.Sprint("solid ", thing.ID))})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := core.Finalize(t.Context(), owner, []models.FinalizeFile{{ID: file.ID}},
		models.Target{Type: models.OnThing, ID: thing.ID}); err != nil {
		t.Fatal(err)
	}
	if _, err := core.PublishThing(t.Context(), owner, thing.ID, models.Published); err != nil {
		t.Fatal(err)
	}
	return thing, file
}

// Picture reads a test image.
func Picture(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("../testdata/images/" + name)
	if err != nil { // of a package one folder below
		b, err = os.ReadFile("../../testdata/images/" + name)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}
