package backup

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestOneAtATime checks that a folder is rejected while another backup is written to it.
func TestOneAtATime(t *testing.T) {
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
