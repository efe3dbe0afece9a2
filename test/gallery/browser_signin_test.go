//go:build browser

package gallery_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/meshyard/meshyard/internal/auth/oidc/oidctest"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/web/graphiql/graphiqltest"
	"github.com/meshyard/meshyard/test/servertest"
)

// useSession acts like a user who has just signed in. It runs a query in GraphiQL, creates a token
// on the token page, uses it in an API client, revokes it and signs out.
func useSession(t *testing.T, s *servertest.Server, tab *graphiqltest.Tab, username string) {
	t.Helper()
	tab.Visit(t, s.URL+"/graphiql")
	tab.Await(t, "see who is signed in", fmt.Sprintf(`document.querySelector('#who').textContent === %q`,
		"signed in as "+username))
	if got := tab.Execute(t, `"me"`); !strings.Contains(got, `"username": "`+username+`"`) {
		t.Errorf("me: got %s", got)
	}
	tab.Do(t, "open the reference", chromedp.Navigate(s.URL+"/reference"))
	tab.Await(t, "see who asks", fmt.Sprintf(`document.querySelector('#as').textContent === %q`, username))

	tab.Do(t, "open the tokens", chromedp.Navigate(s.URL+"/login/tokens"),
		chromedp.SendKeys(chromedp.CSS(`#name`), "laptop"))
	tab.Click(t, "make a token", `#make button`)
	tab.Await(t, "see the new token", `document.querySelector('#secret')`)
	token := graphiqltest.Read[string](t, tab, "read the token", `document.querySelector('#secret').value`)
	use := func(want int) {
		t.Helper()
		if r := s.Client(token).Get("/users/me"); r.StatusCode != want {
			t.Errorf("the token: got %d, want %d: %s", r.StatusCode, want, r.Bytes)
		}
	}
	use(http.StatusOK)
	tab.Click(t, "go on", `section a`)
	tab.Await(t, "see the token listed",
		`document.querySelector('.tokens')?.innerText.includes('laptop') && !document.querySelector('#secret')`)
	tab.CheckTokenNotStored(t, token)
	tab.Click(t, "revoke it", `button[aria-label="Revoke laptop"]`)
	tab.Await(t, "see it gone",
		`document.querySelector('h1')?.innerText === 'Access tokens' && !document.body.innerText.includes('laptop')`)
	use(http.StatusUnauthorized)
	if cookies := graphiqltest.Read[string](t, tab, "read the cookies", `document.cookie`); cookies != "" {
		t.Errorf("a script reads the cookies %q", cookies)
	}
}

func signOut(t *testing.T, s *servertest.Server, tab *graphiqltest.Tab) {
	t.Helper()
	tab.Do(t, "open the page to sign out", chromedp.Navigate(s.URL+"/login"))
	tab.Click(t, "sign out", `form[action$="/logout"] button`)
	tab.Await(t, "see the form to sign in", `document.querySelector('#password')`)
	tab.Visit(t, s.URL+"/graphiql")
	tab.Await(t, "see that nobody is signed in", `document.querySelector('#who').textContent === 'not signed in'`)
	tab.Execute(t, "UNAUTHENTICATED")
}

// TestBrowserSession checks that a user signs in with a password, and that a page of another origin
// cannot use the session.
func TestBrowserSession(t *testing.T) {
	s := servertest.Start(t, "sqlite")
	s.User("ada")
	s.Password("ada", servertest.Password)
	tab := graphiqltest.Open(t, s.URL)
	tab.Do(t, "open the start page", chromedp.Navigate(s.URL+"/developers"))
	tab.Click(t, "open the page to sign in", `#main a[href="/login"]`)
	tab.Do(t, "sign in", chromedp.SendKeys(chromedp.CSS(`#username`), "ada"), chromedp.SendKeys(chromedp.CSS(`#password`),
		servertest.Password+"\r"))
	tab.Await(t, "see the gallery", `document.querySelector('header .bell')`)
	useSession(t, s, tab, "ada")
	tab.Visit(t, s.URL+"/graphiql")
	s.Administrator().Query(`mutation { renameUser(input: {username: "ada", newUsername: "ada2"}) { user { id } } }`, nil,
		new(any))
	tab.Execute(t, `"username": "ada2"`)
	for _, problem := range tab.Problems() {
		t.Error(problem)
	}

	const ask = `fetch(%q, {method: 'POST', credentials: 'include', headers: {'Content-Type': 'application/json'%s}, body: '{"query": "{ me { username } }"}'})
		.then(r => r.text(), e => 'blocked: ' + e).then(text => { document.body.textContent = 'answer ' + text; })`
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		header := ""
		if r.URL.Path == "/header" {
			header = `, 'Meshyard-Session': '1'`
		}
		_, _ = fmt.Fprintf(w, `<!doctype html><body><script>`+ask+`</script>`, s.URL+"/graphql", header)
	}))
	t.Cleanup(evil.Close)
	own := fmt.Sprintf(ask, s.URL+"/graphql", `, 'Meshyard-Session': '1'`)
	tab.Do(t, "ask from a page of the server", chromedp.Navigate(s.URL+"/developers"),
		chromedp.Evaluate[chromedp.Void](`void `+own))
	tab.Await(t, "be answered",
		`document.body.textContent.startsWith('answer ') && document.body.textContent.includes('ada2')`)
	for _, path := range []string{"/header", "/"} {
		// The same host with another port is the same site, so the browser may send the cookie.
		tab.Do(t, "ask from another origin", chromedp.Navigate(evil.URL+path))
		tab.Await(t, "be refused", `document.body.textContent.startsWith('answer blocked: ')`)
	}
	signOut(t, s, tab)
}

// TestBrowserBackAfterMistake checks that Back works after a visitor corrected a form to sign in or
// to create an account: the browser does not ask to send a form again.
func TestBrowserBackAfterMistake(t *testing.T) {
	c := newSceneOn(t, "sqlite", func(s *config.Settings) { s.Registration = true })
	v := visitGallery(t, c.Server)
	back := func(form string) {
		t.Helper()
		v.Do(t, "go back", chromedp.Evaluate[chromedp.Void](`window.isLeft = true; history.go(-1)`))
		// The page that is left can look like the page before.
		v.await("the page before", `!window.isLeft && `+form)
	}
	v.open("/explore")
	v.click("header", "Sign in")
	v.enter("#username", "ada")
	v.enter("#password", "wrong horse\r")
	v.sees("The name or the password is wrong.")
	v.await("the entered name", `document.querySelector('#username').value === 'ada'`)
	faulty := `(e => e.ariaInvalid === 'true' && e.ariaDescribedByElements[0].role === 'alert' ? e.id : '')(document.activeElement)`
	v.await("the focus on the password", faulty+` === 'password'`)
	v.enter("#password", servertest.Password+"\r")
	v.await("the page before", `location.pathname === '/explore' && document.querySelector('header .bell')`)
	// The page to sign in leads on.
	back(`location.pathname === '/explore' && document.querySelector('header .bell')`)
	v.open("/")
	v.signOut()

	v.open("/explore")
	v.click("header", "Menu")
	v.click(".menu-items", "Create account")
	v.enter("#username", "ada")
	v.enter("#password", servertest.Password+"\r")
	v.sees("is taken")
	v.await("the entered name", `document.querySelector('#username').value === 'ada'`)
	v.await("the focus on the name", faulty+` === 'username'`)
	v.enter("#username", "eve")
	v.enter("#password", servertest.Password+"\r")
	v.await("the page before", `location.pathname === '/explore' && document.querySelector('header .bell')`)
	back(`location.pathname === '/signup' && document.querySelector('#username')`)
}

// TestBrowserOpenID checks sign-in, a working token and sign-out with two kinds of OpenID
// providers: one puts all claims into the ID token, the other one returns them only from UserInfo.
func TestBrowserOpenID(t *testing.T) {
	claims := oidctest.Claims{"sub": "1", "preferred_username": "ada", "email": "ada@id.example", "email_verified": true,
		"groups": []string{"makers"}}
	for name, prepare := range map[string]func(i *oidctest.Issuer){
		"ID token": func(i *oidctest.Issuer) { i.SetUser(claims) },
		"UserInfo": func(i *oidctest.Issuer) { i.SetUser(oidctest.Claims{"sub": "1"}); i.SetUserInfo(claims) },
	} {
		t.Run(name, func(t *testing.T) {
			issuer := oidctest.New(t)
			issuer.RequiredLogin = "ada"
			prepare(issuer)
			s := servertest.Start(t, "sqlite", func(s *config.Settings) {
				s.OIDCIssuer, s.OIDCClientID, s.OIDCClientSecret = issuer.URL, issuer.ClientID, issuer.Secret
				s.OIDCAllowedGroups = []string{"makers"}
			})
			tab := graphiqltest.Open(t, s.URL)
			tab.Do(t, "begin at GraphiQL", chromedp.Navigate(s.URL+"/graphiql"))
			tab.Click(t, "open the page to sign in", `#token-note a`)
			tab.Click(t, "choose the OpenID provider", `a.or`)
			tab.Do(t, "sign in at the provider", chromedp.SendKeys(chromedp.CSS(`#login`), "ada\r"))
			tab.Await(t, "be back in GraphiQL",
				fmt.Sprintf(`location.href === %q && document.querySelector('#who')?.textContent === 'signed in as ada'`,
					s.URL+"/graphiql"))
			useSession(t, s, tab, "ada")
			signOut(t, s, tab)
		})
	}
}
