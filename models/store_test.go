package models

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/internal/database/databasetest"
)

// newUser creates a user.
func newUser(t *testing.T, s *Store, name string) auth.Caller {
	t.Helper()
	u, err := s.Admin().CreateUser(t.Context(), name, false)
	if err != nil {
		t.Fatal(err)
	}
	return auth.Caller{UserID: u.ID, Role: auth.Member, Scopes: auth.Scopes{auth.Read, auth.Write}}
}

// migrated is a database with all migrations, which is copied for each test.
var migrated = databasetest.NewTemplate(func(address string) error {
	db, err := OpenDB(context.Background(), address)
	if err != nil {
		return err
	}
	_, err = db.Migrate(context.Background())
	return errors.Join(err, db.Close())
})

// eachStore runs a test on a store of each engine, with a user. In short mode, as under the race
// detector, it runs on one of them.
func eachStore(t *testing.T, test func(t *testing.T, s *Store, ada auth.Caller)) {
	eachStoreDuring(t, func() {}, test)
}

// eachStoreDuring is eachStore with a function that is called in each transaction that stores jobs.
func eachStoreDuring(t *testing.T, during func(), test func(t *testing.T, s *Store, ada auth.Caller)) {
	for _, engine := range databasetest.Engines(t) {
		t.Run(string(engine), func(t *testing.T) {
			dir := t.TempDir()
			db, err := OpenDB(t.Context(), migrated.Database(t, engine, dir))
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			b, err := bucket.Open(t.Context(), "file://"+filepath.Join(dir, "bucket"))
			if err != nil {
				t.Fatal(err)
			}
			options := Options{UploadLimit: 1 << 20, ImageLimit: 1 << 20, PendingTTL: time.Hour}
			s := NewStore(db, b, options, func(context.Context, bun.Tx, Work) error {
				during()
				return nil
			})
			test(t, s, newUser(t, s, "ada"))
			CheckStore(t, s)
		})
	}
}

// CheckStore checks that the database and the bucket are consistent. It is set by a test of package
// models_test, which may import the area fsck.
var CheckStore func(t *testing.T, s *Store)
