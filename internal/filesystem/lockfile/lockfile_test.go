package lockfile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	held, err := Acquire(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Acquire(path); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("another process (%d) is writing",
		os.Getpid())) {
		t.Errorf("a lock that is held: got %v", err)
	}
	if err := held.Release(); err != nil {
		t.Fatal(err)
	}
	again, err := Acquire(path)
	if err != nil {
		t.Fatalf("a lock that was released: %v", err)
	}
	if err := again.Remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file of a lock that was removed: got %v", err)
	}
}
