package backup

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestFolderIsLocked checks that a folder is rejected while another backup is written to it.
func TestFolderIsLocked(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "backup")
	first, err := Create(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Create(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "is locked: another process") {
		t.Errorf("a second backup: got %v, want that it is rejected", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second, err := Create(t.Context(), dir)
	if err != nil {
		t.Fatalf("a backup after the first one: %v", err)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestDamagedBackup checks that a database file that differs from the manifest is rejected, and a
// manifest that names a file outside of the folder.
func TestDamagedBackup(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "backup")
	f, err := Create(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	path, err := f.NewDatabase(time.Now(), ".sqlite")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("rows"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := &Manifest{CreatedAt: time.Now()}
	if err := errors.Join(f.Commit(t.Context(), m, path, func(string) bool { return true }), f.Close()); err != nil {
		t.Fatal(err)
	}
	f, m, err = Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, err := f.Database(m); got != path || err != nil {
		t.Errorf("the database file is %s (%v), want %s", got, err, path)
	}
	for _, text := range []string{"rowz", "rows "} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Database(m); err == nil || !strings.Contains(err.Error(), "is damaged") {
			t.Errorf("a database file with the content %q: got %v, want that it is damaged", text, err)
		}
	}
	manifest := filepath.Join(dir, manifestName)
	text, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte(filepath.Base(path)), []byte("../"+filepath.Base(path)), 1)
	if err := os.WriteFile(manifest, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Open(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "is not in the folder") {
		t.Errorf("a manifest with a file outside of the folder: got %v, want that it is rejected", err)
	}
}
