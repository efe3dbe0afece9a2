package graphiqltest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// Drive acts like a new user: it opens GraphiQL, signs in with the token, reads the documentation
// and runs some examples. baseURL is the scheme, host and port of the server, without a trailing
// slash. The browser has access to that host only. It fails the test if a step fails or if the
// browser reports a problem. It returns a screenshot of the final page as PNG.
func Drive(t testing.TB, baseURL, token string) []byte {
	t.Helper()
	tab := Open(t, baseURL)
	tab.Visit(t, baseURL+"/graphiql")
	tab.SignIn(t, token)

	tab.Do(t, "open the documentation", chromedp.Click(chromedp.CSS(`button[aria-label="Show Documentation Explorer"]`)))
	tab.Await(t, "see the root types",
		`document.querySelector('.graphiql-doc-explorer')?.innerText.includes('Root Types')`)
	for _, root := range []string{"Query", "Mutation"} {
		tab.Await(t, "see the root type "+root, fmt.Sprintf(docLink, root))
	}
	tab.Do(t, "open the type Query", chromedp.Evaluate[chromedp.Void](fmt.Sprintf(docLink, "Query")+`.click()`))
	tab.Await(t, "see its fields with a description", `document.querySelector('.graphiql-doc-explorer-title')?.innerText === 'Query'
		&& [...document.querySelectorAll('.graphiql-doc-explorer-item .graphiql-markdown-description')].some(d => d.innerText.trim() !== '')`)

	response := tab.Execute(t, `"me"`)
	if !strings.Contains(response, `"username"`) || strings.Contains(response, `"errors"`) {
		t.Errorf("first example: got %s, want a user's name and no errors", response)
	}

	// The ids of created objects are inserted into the variables of examples that are opened later.
	for _, step := range []struct{ title, name, want string }{
		{"2. Create a thing", "createThing", "DRAFT"}, {"Create a collection", "createCollection", "workshop"},
		{"Add a thing to a collection", "addToCollection", `"thingCount": 1`},
	} {
		tab.OpenExample(t, step.title)
		tab.Await(t, "see its tab", fmt.Sprintf(`document.querySelector('.graphiql-tab-active').innerText === %q`, step.name))
		if response := tab.Execute(t, step.want); strings.Contains(response, `"errors"`) {
			t.Errorf("%s: got %s", step.title, response)
		}
	}

	tab.CheckTokenNotStored(t, token)
	picture := Run(t, tab, "take a screenshot", chromedp.CaptureScreenshot())
	for _, problem := range tab.Problems() {
		t.Error(problem)
	}
	return picture
}

// docLink is a JavaScript expression for the link of a name in the documentation.
const docLink = `[...document.querySelectorAll('.graphiql-doc-explorer a')].find(a => a.textContent === %q)`

// responseText is a JavaScript expression for what the response pane shows.
const responseText = `document.querySelector('.graphiql-response .CodeMirror').CodeMirror.getValue()`

// Visit opens the GraphiQL page at the URL and waits for its editors.
func (tab *Tab) Visit(t testing.TB, address string) {
	t.Helper()
	tab.Do(t, "open "+address, chromedp.Navigate(address))
	tab.Await(t, "see the editors", `document.querySelector('.graphiql-execute-button')
		&& document.querySelectorAll('.graphiql-query-editor .CodeMirror, .graphiql-response .CodeMirror').length === 2`)
}

// SignIn types the token into the bar of the page and waits for the name of the user.
func (tab *Tab) SignIn(t testing.TB, token string) {
	t.Helper()
	tab.Do(t, "enter the token", chromedp.SendKeys(chromedp.CSS(`#token`), token+"\r"))
	tab.Await(t, "see who is signed in", `document.querySelector('#who').textContent.startsWith('signed in as ')`)
}

// OpenExample chooses from the menu the example whose title starts with the text.
func (tab *Tab) OpenExample(t testing.TB, title string) {
	t.Helper()
	tab.Do(t, "open example "+title, chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`(() => {
		const menu = document.querySelector('#examples');
		menu.value = [...menu.options].find(option => option.text.startsWith(%q)).value;
		menu.dispatchEvent(new Event('change'));
	})()`, title)))
	tab.Await(t, "see it in the editor", fmt.Sprintf(
		`document.querySelector('.graphiql-query-editor .CodeMirror').CodeMirror.getValue().startsWith('# ' + %q)`, title))
}

// Execute runs the operation in the editor, waits for a response that contains want and returns it.
func (tab *Tab) Execute(t testing.TB, want string) string {
	t.Helper()
	tab.Do(t, "clear the response", chromedp.Evaluate[chromedp.Void](
		`document.querySelector('.graphiql-response .CodeMirror').CodeMirror.setValue('')`))
	tab.Do(t, "run the operation", chromedp.Click(chromedp.CSS(`.graphiql-execute-button`)))
	tab.Await(t, "see the response with "+want, fmt.Sprintf(`%s.includes(%q)`, responseText, want))
	return Read[string](t, tab, "read the response", responseText)
}

// CheckTokenNotStored fails the test if the token is in a storage of the browser.
func (tab *Tab) CheckTokenNotStored(t testing.TB, token string) {
	t.Helper()
	for name, expression := range map[string]string{
		"session storage": `JSON.stringify(Object.entries(sessionStorage))`,
		"local storage":   `JSON.stringify(Object.entries(localStorage))`,
		"the cookies":     `document.cookie`,
		"the address":     `location.href`,
	} {
		if strings.Contains(Read[string](t, tab, "read "+name, expression), token) {
			t.Errorf("%s: got the token in it, want it in no storage", name)
		}
	}
}
