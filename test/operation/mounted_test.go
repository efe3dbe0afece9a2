package operation_test

import (
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/meshyard/meshyard/cmd/meshyard/server"
	"github.com/meshyard/meshyard/internal/pgtest"
	"github.com/meshyard/meshyard/models/maintenance"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestBucketOfAnotherDatabase checks that a server does not remove the files of another database:
// a new database is not served with a bucket that has files, and a database whose files are not in
// the bucket is served with an error in the log, and its garbage is not collected.
func TestBucketOfAnotherDatabase(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ctx := t.Context()
		upload := func(s *servertest.Server, content string) {
			t.Helper()
			c := s.User("ada")
			c.Finalize("thing", c.Thing("One"), c.Upload("one.stl", []byte(content))).Want(t, 200)
		}
		upload(s, "solid one")
		engine := "sqlite"
		if !strings.HasPrefix(s.Settings.DatabaseURL, "sqlite:") {
			engine = "postgres"
		}
		fresh := servertest.Settings(t, engine)
		if engine == "postgres" {
			fresh.DatabaseURL = pgtest.Database(t)
		} else {
			fresh.DatabaseURL = "sqlite:" + filepath.Join(t.TempDir(), "fresh.db")
		}
		fresh.BucketURL = s.Settings.BucketURL
		a, err := server.OpenWait(ctx, fresh, s.Logger, 0)
		if err == nil {
			_ = a.Close()
		}
		if !errors.Is(err, maintenance.ErrUsedBucket) || !strings.HasPrefix(err.Error(), "--bucket-url file://") {
			t.Errorf("serve a new database: got %v, want an error about the bucket", err)
		}

		other := servertest.Start(t, engine)
		upload(other, "solid other")
		log := new(servertest.LogBuffer)
		wrong := s.Settings
		wrong.BucketURL = other.Settings.BucketURL
		served, err := server.OpenWait(ctx, wrong, slog.New(slog.NewJSONHandler(log, nil)), 0)
		if err != nil {
			t.Fatal(err)
		}
		defer served.Close()
		if lines := log.With(t, "level", "ERROR"); len(lines) != 1 || !strings.Contains(fmt.Sprint(lines[0]["error"]),
			maintenance.ErrNoContents.Error()) {
			t.Errorf("the log has %v, want one error about the bucket", lines)
		}
		u, err := url.Parse(other.Settings.BucketURL)
		if err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(u.Path, "files", "*"))
		if err != nil || len(files) != 1 {
			t.Fatalf("the files are %q, %v", files, err)
		}
		long := time.Now().Add(-2 * server.CollectAfter)
		if err := os.Chtimes(files[0], long, long); err != nil {
			t.Fatal(err)
		}
		if err := served.CollectGarbage(ctx); !errors.Is(err, maintenance.ErrNoContents) {
			t.Errorf("collect garbage: got %v, want %v", err, maintenance.ErrNoContents)
		}
		if _, err := os.Stat(files[0]); err != nil {
			t.Errorf("the file of the other database: %v", err)
		}
	})
}

// TestBucketOfTheOriginal checks that a copy of a database that is served with the bucket of the
// original logs an error, and does not remove files that were stored since the copy was made.
func TestBucketOfTheOriginal(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ctx, db := t.Context(), servertest.OpenDB(t, s).SQL()
		c := s.User("ada")
		c.Finalize("thing", c.Thing("One"), c.Upload("one.stl", []byte("solid one"))).Want(t, 200)
		var marks []byte
		// Wait for the end of the first run of the job, which would collect the newer file below.
		for began := time.Now(); marks == nil; time.Sleep(10 * time.Millisecond) {
			err := db.QueryRow("SELECT value FROM secrets WHERE name = 'collector' AND EXISTS (SELECT 1 FROM river_job WHERE kind = 'collect_garbage' AND state = 'completed')").Scan(&marks)
			if err != nil && !errors.Is(err, sql.ErrNoRows) || time.Since(began) > 30*time.Second {
				t.Fatalf("the database remembers no mark: %v", err)
			}
		}
		if err := s.Store.Maintenance.TakeOverBucket(ctx); err != nil { // the original
			t.Fatal(err)
		}
		if _, err := db.Exec("UPDATE secrets SET value = $1 WHERE name = 'collector'", marks); err != nil {
			t.Fatal(err)
		}
		// From here on, the database is a copy that was made before.
		u, err := url.Parse(s.Settings.BucketURL)
		if err != nil {
			t.Fatal(err)
		}
		newer := filepath.Join(u.Path, "files", fmt.Sprintf("%x", sha256.Sum256([]byte("solid two"))))
		long := time.Now().Add(-2 * server.CollectAfter)
		if err := errors.Join(os.WriteFile(newer, []byte("solid two"), 0o600), os.Chtimes(newer, long, long)); err != nil {
			t.Fatal(err)
		}
		log := new(servertest.LogBuffer)
		served, err := server.OpenWait(ctx, s.Settings, slog.New(slog.NewJSONHandler(log, nil)), 0)
		if err != nil {
			t.Fatal(err)
		}
		defer served.Close()
		if lines := log.With(t, "level", "ERROR"); len(lines) != 1 || !strings.Contains(fmt.Sprint(lines[0]["error"]),
			maintenance.ErrOtherCollector.Error()) {
			t.Errorf("the log has %v, want one error about the bucket", lines)
		}
		if err := served.CollectGarbage(ctx); !errors.Is(err, maintenance.ErrOtherCollector) {
			t.Errorf("collect garbage: got %v, want %v", err, maintenance.ErrOtherCollector)
		}
		if _, err := os.Stat(newer); err != nil {
			t.Errorf("the newer file: %v", err)
		}
	})
}

// TestBucketFolderNotMounted checks that a database with files is not opened with a bucket folder
// that is missing or that was never used, and that the folder stays as it is.
func TestBucketFolderNotMounted(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ctx := t.Context()
		u, err := url.Parse(s.Settings.BucketURL)
		if err != nil || u.Scheme != "file" {
			t.Fatalf("the bucket is %s", s.Settings.BucketURL)
		}
		ada := s.User("ada")
		thing := ada.Thing("One")
		ada.Finalize("thing", thing, ada.Upload("one.stl", []byte("solid one"))).Want(t, 200)
		mounted := u.Path + ".mounted"
		if err := os.Rename(u.Path, mounted); err != nil {
			t.Fatal(err)
		}
		refused := func() {
			t.Helper()
			for name, open := range map[string]func() (*server.Server, error){
				"serve":     func() (*server.Server, error) { return server.OpenWait(ctx, s.Settings, s.Logger, 0) },
				"a command": func() (*server.Server, error) { return server.OpenExisting(ctx, s.Settings, s.Logger) },
			} {
				a, err := open()
				if err == nil {
					_ = a.Close()
				}
				if err == nil || !strings.Contains(err.Error(), "mount the disk") || !strings.Contains(err.Error(), u.Path) {
					t.Errorf("%s: got %v, want an error about the disk", name, err)
				}
			}
		}
		refused()
		if _, err := os.Stat(u.Path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the missing folder was created: %v", err)
		}
		if err := os.MkdirAll(u.Path, 0o750); err != nil { // a mount point
			t.Fatal(err)
		}
		refused()
		if entries, err := os.ReadDir(u.Path); len(entries) > 0 || err != nil {
			t.Errorf("the mount point contains %v, %v", entries, err)
		}
		if err := os.Mkdir(filepath.Join(u.Path, "files"), 0o750); err != nil {
			t.Fatal(err)
		}
		a, err := server.OpenWait(ctx, s.Settings, s.Logger, 0)
		if err != nil {
			t.Fatalf("with the folder files: %v", err)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
}
