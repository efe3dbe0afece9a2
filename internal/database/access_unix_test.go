//go:build unix

package database

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSQLiteFilesArePrivate checks that other users of the system cannot read a new database.
func TestSQLiteFilesArePrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "meshyard.db")
	db, err := Open(t.Context(), "sqlite:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.Write.NewRaw("CREATE TABLE secrets (word text)").Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: got %v, %v, want a file of the owner only", filepath.Base(name), info, err)
		}
	}
}
