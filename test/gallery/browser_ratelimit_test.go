//go:build browser

package gallery_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	cdpfetch "github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/chromedp"

	"github.com/meshyard/meshyard/internal/mesh/meshtest"
)

// limitRequests makes the browser receive the response of the rate limit, with a pause of a second,
// to as many GraphQL requests as the result says.
func (v *visitor) limitRequests() *atomic.Int64 {
	v.t.Helper()
	left := new(atomic.Int64)
	const limited = `{"errors": [{"message": "more than 300 requests in 5 minutes: wait 1s", "extensions": {"code": "RATE_LIMITED", "limit": 300, "retryAfter": 1}}]}`
	v.intercept(cdpfetch.RequestStageRequest, func(e *cdpfetch.EventRequestPaused) {
		if left.Add(-1) >= 0 {
			_, _ = chromedp.Call(v.Context, cdpfetch.FulfillRequest, cdpfetch.FulfillRequestParams{
				RequestID: e.RequestID, ResponseCode: 429,
				ResponseHeaders: []*cdpfetch.HeaderEntry{{Name: "Content-Type", Value: "application/json"}}, Body: []byte(limited),
			})
		} else {
			_, _ = chromedp.Call(v.Context, cdpfetch.ContinueRequest, cdpfetch.ContinueRequestParams{RequestID: e.RequestID})
		}
	})
	return left
}

// TestBrowserGalleryRateLimit uploads files while the server allows no more requests. The browser
// must wait as long as the server says, however often, say so, and continue.
func TestBrowserGalleryRateLimit(t *testing.T) {
	t.Parallel() // it waits most of the time
	s := newScene(t)
	v := visitGallery(t, s.Server)
	v.signInAs("ada")
	v.open(fmt.Sprintf("/thing:%d/edit", s.thing))
	limited := v.limitRequests()
	says := func(within string) string {
		return fmt.Sprintf(`[...document.querySelectorAll('%s [role=status]')].some(e => /limit of requests is reached. This continues at \d/.test(e.innerText))`, within)
	}

	var paths []string
	for i := range 12 {
		paths = append(paths, filepath.Join(t.TempDir(), fmt.Sprintf("part%d.txt", i)))
		if err := os.WriteFile(paths[i], []byte(paths[i]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	limited.Store(30) // more often than requests are repeated for other reasons
	v.choose("main .drop input", paths...)
	v.await("why uploads wait", says(".uploads"))
	v.patiently("that all files have arrived",
		`document.querySelectorAll('.files:not(.uploads) > li').length === 13 && !document.querySelector('.uploads')`)

	picture := filepath.Join(meshtest.Root(), "testdata", "meshes", "lib3mf_thumbnail.png")
	v.open(fmt.Sprintf("/thing:%d/makes", s.thing))
	v.click("main", "I made this")
	v.choose("dialog input[type=file]", picture)
	v.await("the picture", `document.querySelector('dialog .files h3')`)
	limited.Store(3)
	v.click("dialog", "Post")
	v.await("why the make waits", says("dialog"))
	v.await("the make", `!document.querySelector('dialog') && document.querySelector('#panel .card')`)

	v.open("/settings")
	limited.Store(3)
	v.choose(".image-field input", picture)
	v.await("why the avatar waits", says(".image-field"))
	v.await("the avatar", `document.querySelector('.image-field img') && !`+says(".image-field"))
}
