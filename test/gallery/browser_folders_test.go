//go:build browser

package gallery_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/uploads"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestBrowserGalleryFolders opens and closes the folders of a thing's files with the keyboard, and
// checks that a thing with more files than its page lists shows the size of all.
func TestBrowserGalleryFolders(t *testing.T) {
	c := newScene(t)
	caller := auth.Caller{UserID: servertest.Must(c.Store.Admin().User(t.Context(), "ada"))(t).ID}
	stl := servertest.Mesh(t, "hschendel_simple_bin.stl")
	add := func(thing int64, files map[string][]byte) {
		t.Helper()
		var pending []models.FinalizeFile
		for _, path := range slices.Sorted(maps.Keys(files)) {
			folder, name := "", path
			if at := strings.LastIndexByte(path, '/'); at >= 0 {
				folder, name = path[:at], path[at+1:]
			}
			f := servertest.Must(c.Store.Uploads.Upload(t.Context(), caller, uploads.NewUpload{Folder: folder, Name: name,
				Bytes: bytes.NewReader(files[path])}))(t)
			pending = append(pending, models.FinalizeFile{ID: f.ID})
		}
		servertest.Must(c.Store.Finalize(t.Context(), caller, pending, models.Target{Type: models.OnThing, ID: thing}))(t)
	}
	dragon := servertest.PublishedThing(t, c.ada, "Dragon")
	add(dragon, map[string][]byte{"Supported/32mm/dragon.stl": stl, "Supported/base.stl": stl,
		"guide.txt": []byte("Print it.")})
	v := visitGallery(t, c.Server)
	v.open(fmt.Sprintf("/thing:%d/files", dragon))
	const folder = `document.querySelector('.files > .folder > details')`
	v.await("the folders",
		`[...document.querySelectorAll('.folder summary')].map(e => e.innerText.replace(/\s+/g, ' ').trim()).join() === 'Supported 2,32mm 1'`)
	v.await("a file in a folder in a folder", `document.querySelector('.folder .folder h3')?.innerText === 'dragon.stl'`)
	v.press(folder + `.firstElementChild`)
	v.await("the closed folder", `!`+folder+`.open`)
	v.press(folder + `.firstElementChild`)
	v.await("the open folder", folder+`.open`)

	many := servertest.PublishedThing(t, c.ada, "Many")
	files := map[string][]byte{}
	for i := range 140 {
		files[fmt.Sprintf("Notes/%d.txt", i)] = bytes.Repeat([]byte("x"), 1<<10)
	}
	add(many, files)
	v.open(fmt.Sprintf("/thing:%d/files", many))
	v.await("the size of all files", `/14\d\s?kB/.test(document.querySelector('.summary .wide small').innerText)`)
	v.await("the closed folder of many files", `document.querySelectorAll('.folder').length === 1 && !`+folder+`.open`)
}
