//go:build browser

package gallery_test

import (
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/web/graphiql/graphiqltest"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestBrowserGalleryOtherHosts uses a server without --base-url from another computer: at its IP
// address on SQLite, and by its name with PostgreSQL. Browsers do not trust such origins without
// HTTPS, so scripts lack functions that they have on localhost.
func TestBrowserGalleryOtherHosts(t *testing.T) {
	machine, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for engine, host := range map[string]string{"sqlite": "192.168.1.5", "postgres": strings.ToLower(machine) + ".local"} {
		t.Run(host, func(t *testing.T) {
			s := newSceneOn(t, engine, func(c *config.Settings) { c.BaseURLIsDefault = true })
			at, err := url.Parse(s.URL)
			if err != nil {
				t.Fatal(err)
			}
			at.Host = host + ":" + at.Port()
			rules := fmt.Sprintf("MAP %s 127.0.0.1, MAP * ~NOTFOUND", host)
			v := &visitor{graphiqltest.Open(t, at.String(), chromedp.Flag("host-resolver-rules", rules)), t, at.String()}
			graphiqltest.Call(t, v.Tab, "watch dialogs", page.Enable, page.EnableParams{})
			v.signInAs("bob")
			v.is("the browser does not trust the origin", `!isSecureContext`)
			v.open("/")
			v.await("the picture of a thing", `document.querySelector('main .card img')?.naturalWidth > 0`)

			v.open("/upload")
			v.choose("main .drop input", servertest.Meshes(t)[0])
			v.chooseCategory()
			v.click("main", "Upload 1 file")
			v.await("the form of the thing",
				`/^\/thing:\d+\/edit$/.test(location.pathname) && document.querySelector('.files li')`)
			v.settled()
			v.await("the picture of the upload", `document.querySelector('.files img')?.naturalWidth > 0`)
			v.is("all addresses are those of the server",
				fmt.Sprintf(`performance.getEntriesByType('resource').every(r => new URL(r.name).host === %q)`, at.Host))

			v.open(fmt.Sprintf("/thing:%d", s.thing))
			v.await("its rendering", `document.querySelector('.stage img')?.naturalWidth > 0`)
			v.click(".strip", "View in 3D")
			v.await("the model in the frame",
				`document.querySelector('iframe')?.contentDocument?.body?.dataset.phase === 'shown'`)
			v.click("main", "Like")
			v.await("that it is liked", `document.querySelector('.button.like')?.ariaPressed === 'true'`)
			v.click("header", "Account menu")
			v.click(".menu-items", "Sign out")
			v.await("that nobody is signed in",
				`document.querySelector('#app')?.dataset.ready === '' && !document.querySelector('header .bell')`)
			for _, problem := range v.Problems() {
				if !strings.Contains(problem, "the URL's origin was untrustworthy") {
					t.Error(problem)
				}
			}
		})
	}
}
