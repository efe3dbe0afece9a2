//go:build browser

package server_test

import (
	"fmt"
	"image"
	"os"
	"path/filepath"
	"testing"
)

// TestBrowserGalleryRefusals checks that the gallery says what is wrong with a file or an input,
// and accepts what the server accepts.
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
	picture := filepath.Join(dir, "noise.png")
	if err := os.WriteFile(picture, noise(t), 0o600); err != nil {
		t.Fatal(err)
	}

	t.Run("size", func(t *testing.T) {
		v.open("/explore")
		v.enter(".range input[name=min]", "2.5\r")
		v.await("the filter", `location.search === '?min=2.5'`)
	})

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

	t.Run("dialog with a picture", func(t *testing.T) {
		v.open(fmt.Sprintf("/thing:%d/makes", s.thing))
		v.answer(false)
		v.click("main", "I made this")
		v.is("a button", `document.querySelector('dialog input[type=file]')?.closest('label').innerText.trim() === 'Choose pictures'`)
		v.choose("dialog input[type=file]", picture)
		v.await("the picture", `document.querySelector('dialog .files h3')?.innerText.startsWith('noise')`)
		v.is("it asks before a reload", asksToReload)
		v.click("dialog", "Close")
		v.asked("the button to close", 1)
		v.is("the picture is still chosen", `document.querySelector('dialog .files h3')`)
	})

	t.Run("settings", func(t *testing.T) {
		v.size(image.Pt(390, 844))
		v.open("/settings")
		v.is("the hint belongs to the field", `document.getElementById(document.querySelector('#email').getAttribute('aria-describedby'))?.innerText === 'Not visible to other users.'`)
		v.enter("#email", "ada@nowhere@example.org")
		v.run("submit the form without the checks of the browser", `document.querySelector('form.panel').noValidate = true; const button = document.querySelector('form.panel [type=submit]'); button.focus(); button.click()`)
		v.await("the error on the screen", `(e => e && e.getBoundingClientRect().top > 100 && e.getBoundingClientRect().bottom < innerHeight)(document.querySelector('#email-fault')) && document.activeElement.id === 'email'`)
		v.size(image.Pt(1400, 900))
	})
}
