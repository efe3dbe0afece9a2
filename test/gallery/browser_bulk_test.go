//go:build browser

package gallery_test

import (
	"fmt"
	"image"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestBrowserGalleryBulk selects several things with the mouse and the keyboard, changes and
// deletes them, and undoes that, in English and German, also on a phone.
func TestBrowserGalleryBulk(t *testing.T) {
	s := newScene(t)
	for i := range 30 {
		s.ada.Thing(fmt.Sprintf("Draft %02d", i+1))
	}
	v := visitGallery(t, s.Server)
	v.signInAs("ada")
	v.open("/ada/drafts")
	v.is("no script before something is selected",
		`!performance.getEntriesByType('resource').some(e => e.name.includes('manage'))`)
	v.click("main", "Select")
	v.await("the focus on the first checkbox",
		`document.activeElement.closest('.select-head') !== null && document.activeElement.type === 'checkbox'`)
	pick := func(n int, shift bool) {
		v.run("pick", fmt.Sprintf(
			`const label = document.querySelectorAll('.pick')[%d]; label.dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true, shiftKey: %v}))`, n, shift))
	}
	selected := func(n int) {
		t.Helper()
		v.await(fmt.Sprint(n, " selected"),
			fmt.Sprintf(`document.querySelectorAll('.pick input:checked').length === %d && document.querySelector('.bulk-bar [role=status]').innerText === '%[1]d selected'`, n))
	}
	pick(1, false)
	selected(1)
	pick(4, true)
	selected(4)
	pick(4, false)
	selected(3)
	v.is("a partly checked box", `document.querySelector('.select-head input').indeterminate`)

	tagged := func() int {
		var found struct {
			Me struct {
				Drafts struct {
					Nodes []struct{ Tags []struct{ Name string } }
				}
			}
		}
		s.ada.Query(`{ me { drafts(first: 100) { nodes { tags { name } } } } }`, nil, &found)
		n := 0
		for _, thing := range found.Me.Drafts.Nodes {
			if len(thing.Tags) == 2 && thing.Tags[0].Name == "gear" {
				n++
			}
		}
		return n
	}
	v.click(".bulk-bar", "Tags")
	v.enter("#addTags", "gear, small box")
	v.click("dialog", "Apply")
	v.sees("3 things were changed.")
	if n := tagged(); n != 3 {
		t.Errorf("%d things have the tags", n)
	}
	v.click("#toast", "Undo")
	v.sees("The changes are undone.")
	if n := tagged(); n != 0 {
		t.Errorf("%d things have the tags after the undo", n)
	}

	// Drafts without a model cannot be published: the dialog lists them.
	v.click(".bulk-bar", "Visibility")
	v.click("dialog", "Apply")
	v.await("the reasons",
		`document.querySelectorAll('.refusals li').length === 3 && document.querySelector('dialog').innerText.includes('3 things were not changed')`)
	v.click("dialog .actions", "Close")

	// All, with the keyboard: also those that were not loaded.
	v.press(`document.querySelector('.select-head input')`)
	selected(30)
	v.press(`[...document.querySelectorAll('.bulk-bar button')].find(e => e.innerText === 'Delete')`)
	v.click("dialog", "Delete")
	v.sees("30 things were deleted.")
	v.await("an empty list", `document.querySelectorAll('main .grid > li').length === 0`)
	v.press(`document.querySelector('#toast button')`)
	v.sees("The changes are undone.")
	v.await("the things", `document.querySelectorAll('main .grid > li').length >= 24`)
	v.run("press Escape",
		`document.querySelector('.select-head input').dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape', bubbles: true}))`)
	v.await("the list", `!document.querySelector('.bulk-bar')`)

	v.size(image.Pt(360, 740))
	v.Do(t, "choose a language", chromedp.Navigate(v.url+"/login"),
		chromedp.Evaluate[chromedp.Void](`document.cookie = 'meshyard_language=de; path=/'`))
	v.open("/ada")
	v.click("main", "Auswählen")
	v.await("the bar", `document.querySelector('.bulk-bar') && document.documentElement.scrollWidth <= innerWidth`)
	v.run("pick", `document.querySelector('.pick').click()`)
	v.click(".bulk-bar", "Lizenz")
	v.await("the licenses",
		`document.querySelectorAll('#licenseId option').length > 10 && document.querySelector('dialog').scrollWidth <= innerWidth`)
	v.run("choose", `document.querySelector('#licenseId').value = 'CC0-1.0'`)
	v.click("dialog", "Anwenden")
	v.sees("1 Ding wurde geändert.")
	var changed struct {
		Me struct {
			Things struct {
				Nodes []struct{ LicenseInfo struct{ SpdxID string } }
			}
		}
	}
	s.ada.Query(`{ me { things(first: 1) { nodes { licenseInfo { spdxId } } } } }`, nil, &changed)
	if got := changed.Me.Things.Nodes[0].LicenseInfo.SpdxID; got != "CC0-1.0" {
		t.Errorf("got the license %s", got)
	}
	v.noProblems()
}
