//go:build browser

package gallery_test

import (
	"image"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestBrowserGalleryProblems fixes problems in place, in English and German, also on a phone.
func TestBrowserGalleryProblems(t *testing.T) {
	s := newScene(t)
	s.ada.Query(`mutation { createThing(input: {name: "Bare", licenseId: "LicenseRef-Unknown", category: "Art"}) { thing { id } } }`, nil, new(any))
	v := visitGallery(t, s.Server)
	v.signInAs("ada")
	v.open("/ada")
	v.click(".tabs", "Problems")
	v.await("the problems",
		`location.pathname === '/ada/problems' && ['No license: ', 'No tags: '].every(text => document.querySelector('.problems')?.innerText.includes(text))`)
	v.is("no choice of all users", `!document.querySelector('.people-filter input')`)
	bare := `[...document.querySelectorAll('.problems li')].filter(e => e.innerText.startsWith('Bare'))`
	v.await("both problems of the thing", bare+`.length === 2`)
	v.await("the licenses", `!!document.querySelector('.problems select option[value="MIT"]')`)
	v.run("choose a license", `document.querySelector('.problems select').value = 'MIT'`)
	v.press(`document.querySelector('.problems select').form.querySelector('button')`)
	v.sees("1 thing was changed.")
	v.await("one problem of the thing", bare+`.length === 1`)
	v.run("enter tags", bare+`[0].querySelector('input').value = 'gear, box'`)
	v.press(bare + `[0].querySelector('form button')`)
	v.await("no problem of the thing", bare+`.length === 0`)
	v.press(`document.querySelector('#toast button')`)
	v.await("the problem again", bare+`.length === 1`)

	v.size(image.Pt(360, 740))
	v.Do(t, "choose a language", chromedp.Navigate(v.url+"/login"),
		chromedp.Evaluate[chromedp.Void](`document.cookie = 'meshyard_language=de; path=/'`))
	v.open("/ada/problems")
	v.await("the problem",
		`document.querySelector('.problems')?.innerText.includes('Keine Schlagwörter') && document.documentElement.scrollWidth <= innerWidth`)
	v.run("choose a kind",
		`document.querySelector('#kind').value = 'DUPLICATE_SHAPE'; document.querySelector('#kind').dispatchEvent(new Event('change', {bubbles: true}))`)
	v.sees("Mit deinen Dingen ist alles in Ordnung.")
	v.noProblems()
}
