//go:build browser

package gallery_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/meshyard/meshyard/internal/web/graphiql/graphiqltest"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestBrowserGalleryPictures opens pages on a phone. The client-side code must show the images that
// the server-rendered page has loaded, in a suitable size, and cause no layout shift.
func TestBrowserGalleryPictures(t *testing.T) {
	s := newScene(t)
	for i := range 5 {
		id := s.ada.Thing(fmt.Sprint("Gear ", i))
		s.ada.Finalize("THING", id, s.ada.Upload("gear.stl", servertest.Mesh(t, "numpystl_HalfDonut_bin.stl")))
		s.ada.Publish(id)
		rendered(t, s.ada, id)
	}
	s.Fold()
	v := visitGallery(t, s.Server)
	graphiqltest.Call(t, v.Tab, "be a phone", emulation.SetDeviceMetricsOverride,
		emulation.SetDeviceMetricsOverrideParams{Width: 412, Height: 823, DeviceScaleFactor: 1.75, Mobile: true})
	for path, want := range map[string]string{"/": "preview_card.jpg", "/explore?q=gear": "preview_card.jpg",
		fmt.Sprintf("/thing:%d", s.thing): "display_medium.jpg"} {
		v.open(path)
		loaded := graphiqltest.Read[[]string](t, v.Tab, "read what was loaded",
			`performance.getEntriesByType('resource').map(r => new URL(r.name).pathname).filter(p => p.startsWith('/renders/') && !p.includes('thumb_'))`)
		if len(loaded) == 0 || slices.ContainsFunc(loaded, func(p string) bool { return !strings.HasSuffix(p, "/"+want) }) {
			t.Errorf("%s: loaded %q, want each picture as %s only", path, loaded, want)
		}
		first := graphiqltest.Read[[]string](t, v.Tab, "read the first picture",
			`(i => [i.currentSrc.split('/').pop(), i.fetchPriority, i.loading, String(i.complete)])(document.querySelector('main img'))`)
		if !slices.Equal(first, []string{want, "high", "eager", "true"}) &&
			!slices.Equal(first, []string{want, "high", "auto", "true"}) {
			t.Errorf("%s: the first picture is %q", path, first)
		}
		if want == "preview_card.jpg" {
			if eager := graphiqltest.Read[int](t, v.Tab, "count pictures",
				`document.querySelectorAll('main img[loading=eager]').length`); eager != 4 {
				t.Errorf("%s: %d pictures are loaded at once, want 4", path, eager)
			}
		}
		v.Do(t, "watch what moves", chromedp.Evaluate[chromedp.Void](`window.moved = 0;
			new PerformanceObserver(list => list.getEntries().forEach(shift => { window.moved += shift.value })).observe({type: 'layout-shift', buffered: true});
			setTimeout(() => { window.watched = true }, 200)`))
		v.await("what moved", `window.watched`)
		if moved := graphiqltest.Read[float64](t, v.Tab, "read what moved", `window.moved`); moved > 0.01 {
			t.Errorf("%s: the layout shifts by %f", path, moved)
		}
	}
	v.noProblems()
}

// TestBrowserGalleryShifts checks that nothing moves while the parts of other pages are loaded.
func TestBrowserGalleryShifts(t *testing.T) {
	s := newScene(t)
	v := visitGallery(t, s.Server)
	v.open(fmt.Sprintf("/thing:%d", s.thing))
	v.run("watch what moves", `window.moved = [];
		new PerformanceObserver(list => list.getEntries().forEach(shift => moved.push(shift.value.toFixed(4) + ': ' + shift.sources.map(source => source.node?.className || source.node?.nodeName)))).observe({type: 'layout-shift'})`)
	slow := fast
	slow.Latency = 300
	v.network(slow)
	for _, path := range []string{"/ada", "/ada/makes", "/ada/followers", fmt.Sprintf("/thing:%d/comments", s.thing),
		fmt.Sprintf("/thing:%d/makes", s.thing), "/explore?type=USERS", "/"} {
		v.follow(path)
		v.settled()
		v.run("let what moves be noticed",
			`window.noticed = false; requestAnimationFrame(() => setTimeout(() => { window.noticed = true }, 100))`)
		v.await("what moved", `window.noticed`)
		if moved := graphiqltest.Read[[]string](t, v.Tab, "read what moved", `moved.splice(0)`); len(moved) > 0 {
			t.Errorf("%s: %q moved", path, moved)
		}
		v.is("the footer", `getComputedStyle(document.querySelector('footer')).visibility === 'visible'`)
	}
	v.noProblems()

	// A dialog that loads its content does not move the footer.
	v.network(fast)
	v.signInAs("bob")
	v.open(fmt.Sprintf("/thing:%d", s.thing))
	v.hold("collectionsOfThing")
	v.click(".summary", "Collect")
	v.holds("collectionsOfThing", 1)
	v.is("the footer", `document.querySelector('dialog [aria-busy=true]') && getComputedStyle(document.querySelector('footer')).visibility === 'visible'`)
}

// TestBrowserPrivateGallery checks that a user who is signed in on a server without anonymous
// reading sees all images and the 3D view, also when the signatures of a page have expired.
func TestBrowserPrivateGallery(t *testing.T) {
	s := newSceneOn(t, "sqlite", servertest.Privately)
	v := visitGallery(t, s.Server)
	v.signInAs("bob")
	const seen = `[...document.querySelectorAll('main img')].length > 0 && [...document.querySelectorAll('main img')].every(i => i.complete && i.naturalWidth > 0 && i.currentSrc.includes('signature='))`
	for _, path := range []string{"/", fmt.Sprintf("/thing:%d", s.thing)} {
		v.open(path)
		v.await("the images of "+path, seen)
	}
	v.click(".strip", "View in 3D")
	const shown = `document.querySelector('iframe')?.contentDocument?.body?.dataset.phase === 'shown'`
	v.await("the model in the frame", shown)
	v.Do(t, "let the signature expire",
		chromedp.Evaluate[chromedp.Void](
			`document.querySelector('iframe').src = document.querySelector('iframe').src.replace(/expires=\d+/, 'expires=1')`))
	v.await("the model in the frame again",
		`document.querySelector('iframe').contentWindow.location.search.includes('expires=1') && `+shown)
	v.noProblems()
}

// TestBrowserGalleryFailedPicture checks that a picture whose preview has failed is neither the
// cover of a card nor the first picture of a page, which would say forever that it is being made.
// On dark pages, renderings are dimmed, and photos are not.
func TestBrowserGalleryFailedPicture(t *testing.T) {
	s := newScene(t)
	photo := servertest.Image(t, 1)
	add := func(thing int64, name string, content []byte) {
		t.Helper()
		id := s.ada.Upload(name, content)
		s.ada.Finalize("THING", thing, id).Want(t, 200)
		servertest.Settled(t, s.ada, id)
	}
	two, none := s.ada.Thing("Two pictures"), s.ada.Thing("No picture")
	for _, thing := range []int64{two, none} {
		add(thing, "model.step", []byte("ISO-10303-21;\nHEADER;\n"))
		add(thing, "broken.png", photo[:len(photo)/2])
		s.ada.Publish(thing).Want(t, 200)
	}
	add(two, "photo.png", photo)
	v := visitGallery(t, s.Server)
	v.scheme("dark")
	v.open("/explore?sort=newest")
	card := func(thing int64) string {
		return fmt.Sprintf(`document.querySelector('.card:has(a[href^="/thing:%d"]) .cover')`, thing)
	}
	v.is("the card shows the photo",
		card(two)+`?.querySelector('img')?.currentSrc.includes('/renders/') && getComputedStyle(`+card(
			two)+`.querySelector('img')).filter === 'none'`)
	v.is("the card without a picture says so",
		card(none)+`?.querySelector('.no-picture') && !`+card(none)+`.querySelector('img')`)
	v.is("the rendering is dimmed",
		`getComputedStyle(`+card(s.thing)+`.querySelector('img')).filter === 'brightness(0.5)'`)

	const shown = `document.querySelector('.strip [aria-pressed=true]')?.ariaLabel`
	v.open(fmt.Sprintf("/thing:%d", two))
	v.is("the page shows the second picture", `document.querySelector('.stage img') && `+shown+`.includes('2')`)
	v.run("show the first picture", `document.querySelector('.strip .thumb:not(.cube)').click()`)
	v.await("that the first picture has no preview",
		`document.querySelector('.stage .no-picture')?.innerText.includes('No preview') && `+shown+`.includes('1')`)
	v.open(fmt.Sprintf("/thing:%d", none))
	v.is("the page waits for nothing",
		`document.querySelector('.stage .no-picture') && !document.body.innerText.includes('being created')`)

	v.scheme("light")
	v.open("/explore?sort=newest")
	v.is("the rendering is as it was made", `getComputedStyle(`+card(s.thing)+`.querySelector('img')).filter === 'none'`)
	v.noProblems()
}
