package server_test

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/cmd/meshyard/server"
	"github.com/meshyard/meshyard/cmd/meshyard/server/servertest"
)

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
