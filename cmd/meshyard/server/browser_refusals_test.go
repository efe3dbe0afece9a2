//go:build browser

package server_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestBrowserGalleryRefusals checks that the gallery says what is wrong with a file before it is
// uploaded.
func TestBrowserGalleryRefusals(t *testing.T) {
	s := newScene(t)
	v := visitGallery(t, s.Server)
	v.signInAs("ada")
	dir := t.TempDir()
	write := func(name string, size int64) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for file, want := range map[string]string{
		write("empty.stl", 0):       "Upload failed. The file empty.stl is empty.",
		write("large.stl", 8<<20+1): "Upload failed. The file large.stl is larger than 8.39 MB.",
	} {
		t.Run(filepath.Base(file), func(t *testing.T) {
			v.open(fmt.Sprintf("/thing:%d/edit", s.thing))
			v.run("count uploads", `window.uploads = 0; const open = XMLHttpRequest.prototype.open; XMLHttpRequest.prototype.open = function (...a) { window.uploads++; return open.apply(this, a) }`)
			v.choose("main .drop input", file)
			v.await(want, fmt.Sprintf(`document.querySelector('.uploads .fault')?.innerText === %q`, want))
			v.is("nothing is uploaded", `window.uploads === 0`)
		})
	}
}
