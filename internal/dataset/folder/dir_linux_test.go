package folder

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDir checks the names in a folder that are not UTF-8 or in the form NFD. File
// systems of other operating systems do not permit the former.
func TestDir(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"Gr\xf6\xdfe/B\xe4r.stl", "Good/ok.stl", "Good/B\xe4r.stl", "Tu\u0308r/a.stl",
		"T\u00fcr/a.stl", "@eaDir/x/a.stl", ".hidden/a.stl"} {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(name), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("Good", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	d, err := OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	want := []string{"Good/Bär.stl", "Good/ok.stl", "Größe/Bär.stl", "Tür/a (2).stl", "Tür/a.stl", "link"}
	if diff := cmp.Diff(want, listed(t, d.Tree)); diff != "" {
		t.Error(diff)
	}
	notes := []string{"names that are not UTF-8 were read as Windows-1252: Größe, Bär.stl, Bär.stl"}
	if diff := cmp.Diff(notes, d.Notes); diff != "" {
		t.Error(diff)
	}
	text, err := fs.ReadFile(d.Tree, "Größe/Bär.stl")
	info, statErr := fs.Stat(d.Tree, "Größe/Bär.stl")
	if string(text) != "Gr\xf6\xdfe/B\xe4r.stl" || err != nil || statErr != nil || info.Size() != int64(len(text)) {
		t.Errorf("got %q, %v, %v", text, err, statErr)
	}
	if _, err := OpenDir(filepath.Join(dir, "nothing")); err == nil {
		t.Error("opened a folder that does not exist")
	}
}
