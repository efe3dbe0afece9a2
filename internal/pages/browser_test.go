//go:build browser

package pages_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/meshyard/meshyard/internal/graphiql/graphiqltest"
	"github.com/meshyard/meshyard/internal/pages"
)

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

// serve starts a server that clients see below the path prefix.
func serve(t *testing.T, prefix string) string {
	t.Helper()
	mux := http.NewServeMux()
	server := httptest.NewServer(http.StripPrefix(prefix, mux))
	t.Cleanup(server.Close)
	h := pages.Handler(pages.Options{BaseURL: server.URL + prefix, Guide: func() string {
		return "# Guide\n\n| A |\n|---|\n| b |\n" + strings.Repeat("\nmore\n", 100) + "\n## get_newest\n"
	}})
	for _, pattern := range []string{"GET /{$}", "GET /reference", "GET /reference/", "GET /migration"} {
		mux.Handle(pattern, h)
	}
	answer := func(pattern, text string) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprint(w, strings.ReplaceAll(text, "TOKEN", r.Header.Get("Authorization")))
		})
	}
	answer("GET /openapi.json", openAPI)
	answer("GET /things/7", `{"name": "asked with TOKEN"}`)
	mux.HandleFunc("POST /graphql", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Header.Get("Authorization") != "Bearer very-secret" {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = fmt.Fprint(w, `{"errors":[{"message":"the access token is unknown"}]}`)
			return
		}
		_, _ = fmt.Fprint(w, `{"data":{"me":{"username":"ada","isAdmin":true}}}`)
	})
	return server.URL + prefix
}

// The reference shows an operation and tries it, with the token of the tab, and reaches no other
// host.
func TestReference(t *testing.T) {
	for _, prefix := range []string{"", "/models"} {
		t.Run("prefix "+prefix, func(t *testing.T) {
			base := serve(t, prefix)
			tab := graphiqltest.Open(t, base)
			tab.Do(t, "open the start page", chromedp.Navigate(base+"/"))
			tab.Do(t, "enter a token", chromedp.SendKeys(chromedp.CSS(`#token`), "very-secret\r"))
			tab.Await(t, "see who is asking", `document.querySelector('#who').textContent === 'ada, who administers this server.'`)

			tab.Do(t, "open the reference", chromedp.Navigate(base+"/reference"))
			tab.Await(t, "see the operation", `document.querySelector('.opblock-summary-path')?.innerText.replaceAll('\u200b', '') === '/things/{thing_id}'`)
			tab.Await(t, "see that there is a token", `document.querySelector('#as').textContent.includes('the token of this tab')`)
			tab.Do(t, "open the operation", chromedp.Click(chromedp.CSS(`.opblock-summary-control`)))
			tab.Await(t, "see its document", `document.querySelector('pre.extension')?.innerText === 'query get_things_thing_id {\n  answer\n}'`)
			tab.Do(t, "try it", chromedp.Click(chromedp.CSS(`.try-out__btn`)), chromedp.Click(chromedp.CSS(`.btn.execute`)))
			tab.Await(t, "see the answer", `document.querySelector('.live-responses-table')?.innerText.includes('asked with Bearer very-secret')`)
			tab.CheckTokenPlace(t, "very-secret")
			if got := graphiqltest.Read[int](t, tab, "count the main landmarks", `document.querySelectorAll('main:not([role="none"])').length`); got != 1 {
				t.Errorf("got %d main landmarks, want 1", got)
			}
			tab.Do(t, "let what is wrong be seen", chromedp.Sleep(500*time.Millisecond))
			if problems := tab.Problems(); len(problems) != 0 {
				t.Errorf("problems: %q", problems)
			}
		})
	}
}

// Who is asking is told, refused and forgotten.
func TestWho(t *testing.T) {
	base := serve(t, "")
	tab := graphiqltest.Open(t, base)
	tab.Do(t, "open the start page", chromedp.Navigate(base+"/"))
	who := func(doing, want string) {
		t.Helper()
		tab.Await(t, doing, fmt.Sprintf(`document.querySelector('#who').textContent === %q`, want))
	}
	who("see that nobody is", "Nobody: this tab has no access token.")
	tab.Do(t, "enter a wrong token", chromedp.SendKeys(chromedp.CSS(`#token`), "Bearer wrong"), chromedp.Click(chromedp.CSS(`#token-use`)))
	who("see the server's words", "Nobody: the access token is unknown.")
	tab.Do(t, "show the token", chromedp.Click(chromedp.CSS(`#token-show`)))
	if got := graphiqltest.Read[string](t, tab, "see the token", `document.querySelector('#token').type`); got != "text" {
		t.Errorf("after Show: got an input of type %q, want text", got)
	}
	tab.Do(t, "forget the token", chromedp.Click(chromedp.CSS(`#token-forget`)))
	who("see that nobody is again", "Nobody: this tab has no access token.")
	if got := graphiqltest.Read[int](t, tab, "read session storage", `sessionStorage.length`); got != 0 {
		t.Errorf("after Forget: session storage holds %d entries", got)
	}
	// the refusal
	others := slices.DeleteFunc(tab.Problems(), func(p string) bool { return strings.Contains(p, "/graphql") })
	if len(others) != 0 {
		t.Errorf("problems: %q", others)
	}
}

// A link from outside, such as the old face's Link header, leads to the operation.
func TestMigrationAnchor(t *testing.T) {
	base := serve(t, "")
	tab := graphiqltest.Open(t, base)
	tab.Do(t, "open the guide", chromedp.Navigate(base+"/migration#get_newest"))
	tab.Await(t, "see the operation", `scrollY > 0 && document.querySelector(':target').getBoundingClientRect().top < innerHeight`)
	if problems := tab.Problems(); len(problems) != 0 {
		t.Errorf("problems: %q", problems)
	}
}

// A watcher that sees nothing would make every other test pass.
func TestTabNotices(t *testing.T) {
	for _, path := range []string{"/", "/reference", "/migration"} {
		for doing, script := range map[string]string{
			"inline script": `document.head.append(Object.assign(document.createElement('script'), {textContent: '1'}))`,
			"inline style":  `document.head.append(Object.assign(document.createElement('style'), {textContent: 'p{}'}))`,
			"own script":    `document.head.append(Object.assign(document.createElement('script'), {src: '/things/7'}))`,
			"another host":  `void fetch('https://example.org/').catch(() => 0)`,
		} {
			base := serve(t, "")
			tab := graphiqltest.Open(t, base)
			tab.Do(t, "open the page", chromedp.Navigate(base+path))
			tab.Do(t, doing, chromedp.Evaluate[chromedp.Void](script), chromedp.Sleep(500*time.Millisecond))
			if !slices.ContainsFunc(tab.Problems(), func(p string) bool { return strings.Contains(p, "Content Security Policy") }) {
				t.Errorf("%s in %s: got problems %q, want one of the policy", doing, path, tab.Problems())
			}
		}
	}
}
