//go:build unix

package durable

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// TestWrite checks that a file is replaced only if it was written completely, that only its owner
// can read it, and that no temporary file remains.
func TestWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, temp := filepath.Join(dir, "file"), filepath.Join(dir, "file.part")
	failed := errors.New("failed")
	for _, c := range []struct {
		name, text string
		err        error
		left       bool // an earlier process left the temporary file
		want       string
	}{
		{"a new file", "one", nil, false, "one"},
		{"a failure", "tw", failed, false, "one"},
		{"a file that exists", "two", nil, false, "two"},
		{"after a killed process", "3", nil, true, "3"},
	} {
		if c.left {
			if err := os.WriteFile(temp, []byte("rest of it"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		err := Write(path, temp, func(w io.Writer) error {
			_, err := io.WriteString(w, c.text)
			return errors.Join(err, c.err)
		})
		if !errors.Is(err, c.err) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != c.want {
			t.Errorf("%s: the file is %q, %v; want %q", c.name, got, err, c.want)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: got %v, %v; want a file of the owner only", c.name, info, err)
		}
		if _, err := os.Lstat(temp); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: the temporary file remains: %v", c.name, err)
		}
	}
}
