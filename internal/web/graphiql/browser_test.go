//go:build browser

package graphiql_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/meshyard/meshyard/internal/web/graphiql"
	"github.com/meshyard/meshyard/internal/web/graphiql/graphiqltest"
)

// TestMain ends the browser that the tests share.
func TestMain(m *testing.M) { os.Exit(graphiqltest.Main(m)) }

// serve starts a server with GraphiQL, and with api at /graphql.
func serve(t *testing.T, api http.HandlerFunc) string {
	t.Helper()
	mux := http.NewServeMux()
	h := graphiql.Handler(graphiql.Options{})
	mux.Handle("/graphiql", h)
	mux.Handle("/graphiql/", h)
	mux.HandleFunc("POST /graphql", api)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

func closed(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "closed for repairs", http.StatusServiceUnavailable)
}

// beside returns the problems except those that contain provoked, which the test causes itself.
func beside(problems []string, provoked string) []string {
	return slices.DeleteFunc(problems, func(p string) bool { return strings.Contains(p, provoked) })
}

// TestPageWithoutAPI checks that the page works, and shows the problem, if the API does not
// respond.
func TestPageWithoutAPI(t *testing.T) {
	for _, path := range []string{"/graphiql", "/graphiql/"} {
		t.Run(path, func(t *testing.T) {
			base := serve(t, closed)
			tab := graphiqltest.Open(t, base)
			tab.Visit(t, base+path)

			if title := graphiqltest.Run(t, tab, "read the title", chromedp.Title()); title != "Meshyard GraphiQL" {
				t.Errorf("got title %q", title)
			}
			tabs := graphiqltest.Read[[]string](t, tab, "read the tabs",
				`[...document.querySelectorAll('.graphiql-tab-button')].map(b => b.innerText)`)
			want := []string{"me", "createThing", "uploadFile", "finalizeFiles", "publishThing", "file", "recordDownload",
				"browse", "search"}
			if !slices.Equal(tabs, want) {
				t.Errorf("got tabs %q, want %q", tabs, want)
			}

			tab.Await(t, "see labels of the editors",
				`[...document.querySelectorAll('textarea')].length > 1 && [...document.querySelectorAll('textarea')].every(area => area.ariaLabel)`)

			tab.Do(t, "open the documentation", chromedp.Click(chromedp.CSS(`button[aria-label="Show Documentation Explorer"]`)))
			tab.Await(t, "see that there is no schema",
				`document.querySelector('.graphiql-doc-explorer')?.innerText.includes('Error fetching schema')`)
			if got := tab.Execute(t, "503"); !strings.Contains(got, "closed for repairs") {
				t.Errorf("got response %q, want the server's words in it", got)
			}

			// The dialogs create the style element that the nonce is for.
			tab.Do(t, "open the settings", chromedp.Click(chromedp.CSS(`button[aria-label="Open settings dialog"]`)),
				chromedp.WaitVisible(chromedp.CSS(`.graphiql-dialog`)))
			if others := beside(tab.Problems(), "/graphql"); len(others) != 0 {
				t.Errorf("problems: %q", others)
			}
		})
	}
}

// TestPhone checks that the editors and the response use the width of a phone, and that the page
// does not scroll sideways.
func TestPhone(t *testing.T) {
	base := serve(t, closed)
	tab := graphiqltest.Open(t, base)
	tab.Do(t, "have a small screen", chromedp.EmulateViewport(360, 640, chromedp.EmulateMobile))
	tab.Visit(t, base+"/graphiql")
	tab.Do(t, "open the documentation", chromedp.Click(chromedp.CSS(`button[aria-label="Show Documentation Explorer"]`)))
	for _, pane := range []string{".graphiql-query-editor .CodeMirror", ".graphiql-editor-tool .CodeMirror",
		".graphiql-response", ".graphiql-plugin"} {
		script := "document.querySelector('" + pane + "').getBoundingClientRect().width"
		if width := graphiqltest.Read[float64](t, tab, "measure "+pane, script); width < 310 {
			t.Errorf("%s is %.0f pixels wide, want at least 310 of 360", pane, width)
		}
	}
	if width := graphiqltest.Read[float64](t, tab, "measure the page",
		`document.documentElement.scrollWidth`); width > 360 {
		t.Errorf("the page is %.0f pixels wide, want 360", width)
	}
}

// TestToken checks that the token is kept in memory only: it is in no browser storage, and is lost
// on reload.
func TestToken(t *testing.T) {
	base := serve(t, closed)
	tab := graphiqltest.Open(t, base)
	tab.Visit(t, base+"/graphiql")
	tab.Do(t, "enter a token", chromedp.SendKeys(chromedp.CSS(`#token`), "Bearer very-secret\r"))
	refused := `document.querySelector('#who').dataset.state === 'error' && document.querySelector('#who').textContent.includes('closed for repairs')`
	tab.Await(t, "see the server's words", refused)
	tab.Execute(t, "503")
	tab.CheckTokenNotStored(t, "very-secret")
	shown := `document.querySelector('#token').type`
	if got := graphiqltest.Read[string](t, tab, "see the token hidden", shown); got != "password" {
		t.Errorf("got an input of type %q, want password", got)
	}
	tab.Do(t, "show the token", chromedp.Click(chromedp.CSS(`#token-show`)))
	if got := graphiqltest.Read[string](t, tab, "see the token", shown); got != "text" {
		t.Errorf("after Show: got an input of type %q, want text", got)
	}
	tab.Do(t, "forget the token", chromedp.Click(chromedp.CSS(`#token-forget`)))
	tab.Await(t, "see that nobody is signed in", `document.querySelector('#who').textContent === 'not signed in'`)

	tab.Do(t, "enter it again", chromedp.SendKeys(chromedp.CSS(`#token`), "very-secret\r"))
	tab.Await(t, "see the server's words again", refused)
	tab.Visit(t, base+"/graphiql")
	if got := graphiqltest.Read[string](t, tab, "see no token after a reload",
		`document.querySelector('#token').value`); got != "" {
		t.Errorf("after a reload: got the token %q, want none", got)
	}
	if others := beside(tab.Problems(), "/graphql"); len(others) != 0 {
		t.Errorf("problems: %q", others)
	}
}

// TestUpload checks that an upload follows the GraphQL multipart request specification: operations,
// map and the file, in this order.
func TestUpload(t *testing.T) {
	type part struct{ name, file, content string }
	sent := make(chan []part, 1)
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		closed(w, r)
		for name, want := range map[string]string{"Apollo-Require-Preflight": "true", "Authorization": ""} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("got %s %q, want %q", name, got, want)
			}
		}
		form, err := r.MultipartReader()
		if err != nil {
			return // the introspection query
		}
		var parts []part
		for {
			p, err := form.NextPart()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Error(err)
				break
			}
			content, err := io.ReadAll(p)
			if err != nil {
				t.Error(err)
			}
			parts = append(parts, part{p.FormName(), p.FileName(), string(content)})
		}
		sent <- parts
	})
	file := filepath.Join(t.TempDir(), "cube.stl")
	if err := os.WriteFile(file, []byte("solid cube\nendsolid cube\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tab := graphiqltest.Open(t, base)
	tab.Visit(t, base+"/graphiql")
	tab.OpenExample(t, "3.")
	tab.Execute(t, "503")
	tab.Await(t, "see the request to choose a file", `document.querySelector('#file-note').dataset.state === 'error'`)
	tab.Do(t, "choose a file", chromedp.SetUploadFiles(chromedp.CSS(`#file`), []string{file}))
	tab.Execute(t, "503")

	parts := <-sent
	if len(parts) != 3 {
		t.Fatalf("got parts %q, want 3", parts)
	}
	if p := parts[0]; p.name != "operations" || !strings.Contains(p.content, `"variables":{"file":null}`) ||
		!strings.Contains(p.content, `"operationName":"uploadFile"`) {
		t.Errorf("first part: got %q", p)
	}
	if want := (part{"map", "", `{"0":["variables.file"]}`}); parts[1] != want {
		t.Errorf("second part: got %q, want %q", parts[1], want)
	}
	if want := (part{"0", "cube.stl", "solid cube\nendsolid cube\n"}); parts[2] != want {
		t.Errorf("third part: got %q, want %q", parts[2], want)
	}
}

// TestExamplesMenu checks that the menu reopens a closed example, with its variables.
func TestExamplesMenu(t *testing.T) {
	base := serve(t, closed)
	tab := graphiqltest.Open(t, base)
	tab.Visit(t, base+"/graphiql")
	tabs := `document.querySelectorAll('.graphiql-tab').length`
	tab.Do(t, "close the second tab",
		chromedp.Evaluate[chromedp.Void](`document.querySelectorAll('.graphiql-tab-close')[1].click()`))
	tab.Await(t, "see it gone", tabs+` === 8`)
	tab.OpenExample(t, "2.")
	tab.Await(t, "see it back",
		tabs+` === 9 && document.querySelector('.graphiql-tab-active, .graphiql-tab:last-child').innerText === 'createThing'`)
	tab.Await(t, "see its variables",
		`document.querySelector('.graphiql-editor-tool .CodeMirror').CodeMirror.getValue().includes('"tags"')`)
	tab.OpenExample(t, "6.")
	tab.Await(t, "see no second tab of it", tabs+` === 9`)
}

// TestExampleWhileTabIsSaved opens an example while GraphiQL is still saving the tab that was
// closed, which happens about 100 ms later. The example must stay in its own tab.
func TestExampleWhileTabIsSaved(t *testing.T) {
	base := serve(t, closed)
	tab := graphiqltest.Open(t, base)
	tab.Visit(t, base+"/graphiql")
	tab.Do(t, "close and open examples in haste", chromedp.Evaluate[chromedp.Void](`void (async () => {
		const sleep = ms => new Promise(done => setTimeout(done, ms));
		const menu = document.querySelector('#examples');
		window.haste = [];
		for (let i = 0; i < 12; i++) {
			const n = 2 + i % 8; // the closed one comes back as the last
			document.querySelectorAll('.graphiql-tab-close')[1].click();
			await sleep(80 + 2 * i);
			menu.value = n - 1;
			menu.dispatchEvent(new Event('change'));
			const opened = () => document.querySelector('.graphiql-query-editor .CodeMirror').CodeMirror.getValue().startsWith('# ' + n + '.');
			for (let j = 0; j < 600 && !opened(); j++) await sleep(50);
			await sleep(300);
			window.haste.push(opened());
		}
	})()`))
	tab.Await(t, "see all of them opened", `window.haste.length === 12`)
	if kept := graphiqltest.Read[[]bool](t, tab, "read what was kept", `window.haste`); slices.Contains(kept, false) {
		t.Errorf("examples that stayed in the editor: %v, want all", kept)
	}
}

// TestTabNotices checks that the tab detects problems. If it reported nothing, every other test
// would pass.
func TestTabNotices(t *testing.T) {
	for _, tc := range []struct{ name, script, want string }{
		{"inline style", `document.head.append(Object.assign(document.createElement('style'), {textContent: 'p{}'}))`,
			"Content Security Policy"},
		{"inline script", `document.head.append(Object.assign(document.createElement('script'), {textContent: '1'}))`,
			"Content Security Policy"},
		{"another host", `void fetch('https://example.org/').catch(() => 0)`, "Content Security Policy"},
		{"missing file", `void fetch('/elsewhere')`, "404"},
		{"exception", `void setTimeout(() => { throw new Error('broken') })`, "broken"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			base := serve(t, closed)
			tab := graphiqltest.Open(t, base)
			tab.Visit(t, base+"/graphiql")
			tab.Do(t, "do wrong", chromedp.Evaluate[chromedp.Void](tc.script))
			tab.AwaitProblem(t, tc.want)
		})
	}
}
