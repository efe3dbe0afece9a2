//go:build browser

package gallery_test

import (
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/mail/mailtest"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestBrowserAccounts follows the links of mails in a browser: an invitation, the confirmation of
// an e-mail address, and a password reset. Then it deletes the account.
func TestBrowserAccounts(t *testing.T) {
	box := mailtest.New(t, mailtest.Options{})
	s := servertest.Start(t, "sqlite", func(c *config.Settings) {
		c.Registration = true
		c.SMTPURL, c.SMTPFrom = box.URL, "Models <no-reply@example.org>"
	})
	v := visitGallery(t, s)
	follow := func(to, h1 string) {
		t.Helper()
		letter := box.Next()
		if letter.To != to {
			t.Fatalf("the mail is %+v, want one to %s", letter, to)
		}
		v.Do(t, "open the link of the mail", chromedp.Navigate(letter.Link()))
		v.await("the page "+h1, `document.querySelector('h1')?.innerText === '`+h1+`'`)
	}
	const home = `location.pathname === '/' && document.querySelector('#app')?.dataset.ready === '' && document.querySelector('header .bell')`

	s.Administrator().Query(`mutation { createInvitation(input: {email: "ada@example.org"}) { url } }`, nil, new(any))
	follow("ada@example.org", "Create account")
	v.enter("#username", "ada")
	v.enter("#password", servertest.Password)
	v.click("main", "Create account")
	v.await("the home page", home)

	v.open("/settings")
	v.enter("input[name=email]", "ada@other.example")
	v.click("main", "Save")
	follow("ada@other.example", "Confirm e-mail address")
	v.sees("ada@other.example")
	v.click("main", "Confirm")
	v.await("that it is confirmed", `document.querySelector('h1')?.innerText === 'Done'`)
	v.Do(t, "open the account", chromedp.Navigate(s.URL+"/login/password"))
	v.sees("ada@other.example is confirmed")
	v.open("/")
	v.signOut()

	const changed = "a new horse battery"
	v.click("header", "Sign in")
	v.click("main", "Forgot your password?")
	v.enter("#name", "ada@other.example")
	v.click("main", "Send the link")
	follow("ada@other.example", "New password")
	v.await("whose it is", `document.querySelector('#username').value === 'ada'`)
	v.enter("#password", changed+"\r")
	v.await("who is signed in", `document.querySelector('h1')?.innerText === 'Signed in' || (`+home+`)`)
	v.open("/")
	v.signOut()
	s.Browser().SignIn("ada", servertest.Password).Want(t, http.StatusForbidden)
	v.Do(t, "open the page to sign in", chromedp.Navigate(s.URL+"/login?next=/settings"))
	v.enter("#username", "ada")
	v.enter("#password", changed+"\r")
	v.await("the settings", `location.pathname === '/settings' && document.querySelector('#confirm')`)

	v.enter("#confirm", "ada")
	v.click("main .danger", "Delete account")
	v.await("that nobody is signed in",
		`location.pathname === '/' && document.querySelector('#app')?.dataset.ready === '' && !document.querySelector('header .bell')`)
	s.Browser().SignIn("ada", changed).Want(t, http.StatusForbidden)

	// Registration is open: a visitor gets a link.
	v.click("header", "Sign in")
	v.click("main", "Create account")
	v.enter("#email", "bob@example.org")
	v.click("main", "Send the link")
	follow("bob@example.org", "Create account")
	v.enter("#username", "bob")
	v.enter("#password", servertest.Password)
	v.click("main", "Create account")
	v.await("the home page", home)
	box.None()
	v.noProblems()
}
