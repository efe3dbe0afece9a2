//go:build browser

package pages_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/web/graphiql/graphiqltest"
	"github.com/meshyard/meshyard/internal/web/pages"
)

// TestMain ends the browser that the tests share.
func TestMain(m *testing.M) { os.Exit(graphiqltest.Main(m)) }

const openAPI = `{
	"openapi": "3.1.0",
	"info": {"title": "A small face", "version": "1"},
	"servers": [{"url": "https://elsewhere.example.org"}],
	"security": [{"bearer": []}],
	"paths": {"/things/{thing_id}": {"get": {
		"operationId": "get_things_thing_id", "tags": ["things"], "summary": "One thing", "x-graphql": "query get_things_thing_id {\n  answer\n}\n",
		"parameters": [{"name": "thing_id", "in": "path", "required": true, "schema": {"type": "integer"}, "example": 7}],
		"responses": {"200": {"description": "A thing", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}}}
	}}},
	"components": {
		"securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
		"schemas": {"Thing": {"type": "object", "properties": {"name": {"type": "string", "pattern": "^[a-z]+$"}}}}
	}
}`

// serve starts a server whose pages are below the path prefix.
func serve(t *testing.T, prefix string) string {
	t.Helper()
	mux := http.NewServeMux()
	server := httptest.NewServer(http.StripPrefix(prefix, mux))
	t.Cleanup(server.Close)
	signedIn := func(r *http.Request) (auth.SignedIn, bool) {
		if c, err := r.Cookie("session"); err == nil {
			return auth.SignedIn{Caller: auth.Caller{UserID: 7}, Username: c.Value}, true
		}
		return auth.SignedIn{}, false
	}
	h := pages.Handler(pages.Options{BaseURL: server.URL + prefix, SignedIn: signedIn, Guide: func() ([]byte, error) {
		return []byte("# Guide\n\n| A |\n|---|\n| b |\n" + strings.Repeat("\nmore\n", 100) + "\n## get_newest\n"), nil
	}})
	for _, pattern := range []string{"GET /developers", "GET /reference", "GET /reference/", "GET /migration"} {
		mux.Handle(pattern, h)
	}
	answer := func(pattern, text string) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			who, _ := signedIn(r)
			_, _ = fmt.Fprint(w, strings.NewReplacer("TOKEN", r.Header.Get("Authorization"), "SESSION",
				r.Header.Get("Meshyard-Session")+" "+who.Username).Replace(text))
		})
	}
	answer("GET /openapi.json", openAPI)
	answer("GET /things/7", `{"name": "asked with TOKEN, SESSION"}`)
	// It redirects to a page with an icon. If a page has no icon, the browser requests /favicon.ico.
	mux.HandleFunc("GET /enter", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "session", Value: "ada", Path: "/", HttpOnly: true})
		http.Redirect(w, r, prefix+"/developers", http.StatusSeeOther)
	})
	return server.URL + prefix
}

// TestReference checks that the reference shows an operation and can run it with the browser
// session or with a token, and that it requests no other host.
func TestReference(t *testing.T) {
	for _, prefix := range []string{"", "/models"} {
		t.Run("prefix "+prefix, func(t *testing.T) {
			base := serve(t, prefix)
			tab := graphiqltest.Open(t, base)
			tab.Do(t, "sign in", chromedp.Navigate(base+"/enter"))
			tab.Await(t, "see who is signed in", `document.querySelector('#who').textContent === 'ada'`)

			tab.Do(t, "open the reference", chromedp.Navigate(base+"/reference"))
			tab.Await(t, "see the operation",
				`document.querySelector('.opblock-summary-path')?.innerText.replaceAll('\u200b', '') === '/things/{thing_id}'`)
			tab.Await(t, "see who asks", `document.querySelector('#as').textContent === 'ada'`)
			tab.Do(t, "open the operation", chromedp.Click(chromedp.CSS(`.opblock-summary-control`)))
			tab.Await(t, "see its document",
				`document.querySelector('pre.extension')?.innerText === 'query get_things_thing_id {\n  answer\n}'`)
			tab.Do(t, "try it", chromedp.Click(chromedp.CSS(`.try-out__btn`)), chromedp.Click(chromedp.CSS(`.btn.execute`)))
			tab.Await(t, "see the answer",
				`document.querySelector('.live-responses-table')?.innerText.includes('asked with , id:7 ada')`)

			tab.Do(t, "give a token", chromedp.Click(chromedp.CSS(`.btn.authorize`)),
				chromedp.SendKeys(chromedp.CSS(`.auth-container input`), "very-secret"),
				chromedp.Click(chromedp.CSS(`.auth-btn-wrapper .authorize`)), chromedp.Click(chromedp.CSS(`.btn-done`)))
			tab.Do(t, "try it with the token", chromedp.Click(chromedp.CSS(`.btn.execute`)))
			tab.Await(t, "see the answer",
				`document.querySelector('.live-responses-table')?.innerText.includes('asked with Bearer very-secret')`)
			tab.CheckTokenNotStored(t, "very-secret")
			if got := graphiqltest.Read[int](t, tab, "count the main landmarks",
				`document.querySelectorAll('main:not([role="none"])').length`); got != 1 {
				t.Errorf("got %d main landmarks, want 1", got)
			}
			tab.Do(t, "let what is wrong be seen", chromedp.Sleep(500*time.Millisecond))
			if problems := tab.Problems(); len(problems) != 0 {
				t.Errorf("problems: %q", problems)
			}
		})
	}
}

// TestMigrationAnchor checks that an external link, such as the Link header of the REST API, leads
// to the operation.
func TestMigrationAnchor(t *testing.T) {
	base := serve(t, "")
	tab := graphiqltest.Open(t, base)
	tab.Do(t, "open the guide", chromedp.Navigate(base+"/migration#get_newest"))
	tab.Await(t, "see the operation",
		`scrollY > 0 && document.querySelector(':target').getBoundingClientRect().top < innerHeight`)
	if problems := tab.Problems(); len(problems) != 0 {
		t.Errorf("problems: %q", problems)
	}
}

// TestTabNotices checks that the tab detects problems. If it reported nothing, every other test
// would pass.
func TestTabNotices(t *testing.T) {
	for _, path := range []string{"/developers", "/reference", "/migration"} {
		for doing, script := range map[string]string{
			"inline script": `document.head.append(Object.assign(document.createElement('script'), {textContent: '1'}))`,
			"inline style":  `document.head.append(Object.assign(document.createElement('style'), {textContent: 'p{}'}))`,
			"own script":    `document.head.append(Object.assign(document.createElement('script'), {src: '/things/7'}))`,
			"another host":  `void fetch('https://example.org/').catch(() => 0)`,
		} {
			base := serve(t, "")
			tab := graphiqltest.Open(t, base)
			tab.Do(t, "open the page", chromedp.Navigate(base+path))
			tab.Do(t, doing, chromedp.Evaluate[chromedp.Void](script))
			tab.AwaitProblem(t, "Content Security Policy")
		}
	}
}
