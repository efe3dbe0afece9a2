package signin_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/database/databasetest"
	"github.com/meshyard/meshyard/internal/mail/mailtest"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/account"
	"github.com/meshyard/meshyard/test/servertest"
)

// withMail runs a test on each engine, on a server that sends mail.
func withMail(t *testing.T, test func(t *testing.T, s *servertest.Server, box *mailtest.Mailbox),
	change ...func(*config.Settings)) {
	t.Parallel()
	for _, engine := range databasetest.Engines(t) {
		t.Run(string(engine), func(t *testing.T) {
			t.Parallel()
			box := mailtest.New(t, mailtest.Options{})
			sends := func(c *config.Settings) { c.SMTPURL, c.SMTPFrom = box.URL, "Müller's models <no-reply@example.org>" }
			test(t, servertest.Start(t, string(engine), append(change, sends)...), box)
		})
	}
}

// confirmed sets the e-mail address of a user and confirms it.
func confirmed(t *testing.T, s *servertest.Server, box *mailtest.Mailbox, ada *servertest.Client, email string) {
	t.Helper()
	ada.Query(`mutation ($email: String) { updateProfile(input: {email: $email}) { user { id } } }`,
		servertest.Object{"email": email}, new(any))
	b := s.Browser()
	link := box.Next().Link()
	b.Post("/login/confirm", b.Get(link).Want(t, 200).Fields()).Want(t, 200)
}

// register submits the registration form that a link leads to.
func register(t *testing.T, b *servertest.Browser, link, name string, more url.Values) *servertest.Response {
	t.Helper()
	form := b.Get(link).Want(t, 200).Fields()
	form.Set("username", name)
	form.Set("password", servertest.Password)
	maps.Copy(form, more)
	path := "/login/invitation"
	if !strings.Contains(link, "?") {
		path = link
	}
	return b.Post(path, form)
}

// TestInvitations checks invitations by GraphQL, with and without mail, and that an invitation can
// be used once.
func TestInvitations(t *testing.T) {
	withMail(t, func(t *testing.T, s *servertest.Server, box *mailtest.Mailbox) {
		admin := s.Administrator()
		invite := func(input servertest.Object) (id, link string) {
			t.Helper()
			var made struct {
				CreateInvitation struct {
					Invitation struct{ ID string }
					URL        string
				}
			}
			admin.Query(`mutation ($input: CreateInvitationInput!) { createInvitation(input: $input) { invitation { id } url } }`, servertest.Object{"input": input}, &made)
			return made.CreateInvitation.Invitation.ID, made.CreateInvitation.URL
		}
		works := func(link string, want bool) {
			t.Helper()
			if got := s.Browser().Get(link).StatusCode; (got == 200) != want {
				t.Errorf("%s: got %d, works: want %t", link, got, want)
			}
		}
		list := func() string { return string(admin.GraphQL(`{ invitations { email } }`, nil).Data) }

		_, shown := invite(servertest.Object{"email": "grace@example.org"})
		letter := box.Next()
		if letter.To != "grace@example.org" || letter.From != "Müller's models <no-reply@example.org>" ||
			letter.Subject != "Your invitation to Meshyard" ||
			!strings.HasPrefix(letter.Link(), s.URL+"/login/invitation?token=") || letter.Link() == shown {
			t.Errorf("the mail is %+v", letter)
		}
		if got := list(); got != `{"invitations":[{"email":"grace@example.org"}]}` {
			t.Errorf("the list is %s", got)
		}
		// An attempt with a name that is taken does not use up the invitation.
		if r := register(t, s.Browser(), letter.Link(), "STAFF", nil); r.StatusCode != http.StatusBadRequest ||
			!strings.Contains(string(r.Bytes), "is taken") {
			t.Errorf("a taken name: got %d %s, want 400 and the reason", r.StatusCode, r.Bytes)
		}
		if r := register(t, s.Browser(), letter.Link(), "grace",
			url.Values{"password": {"short"}}); r.StatusCode != http.StatusBadRequest ||
			!strings.Contains(string(r.Bytes), "Password: must be") {
			t.Errorf("a short password: got %d %s, want 400 and the reason", r.StatusCode, r.Bytes)
		}
		b := s.Browser()
		if r := register(t, b, letter.Link(), "grace", url.Values{"email": {"other@example.org"}}).
			Want(t, http.StatusSeeOther); r.Header.Get("Location") != s.URL+"/" {
			t.Errorf("after the registration: got redirect %s, want the home page", r.Header.Get("Location"))
		}
		if page := string(b.Get("/login/password").Want(t, 200).Bytes); !strings.Contains(page,
			"<strong>grace@example.org</strong> is confirmed") {
			t.Errorf("the account: %s", page)
		}
		works(letter.Link(), false)
		works(shown, false)
		if got := list(); got != `{"invitations":[]}` {
			t.Errorf("the list is %s", got)
		}
		s.Browser().SignIn("grace", servertest.Password).Want(t, http.StatusSeeOther)

		// An e-mail address that the user enters is not confirmed until the user opens the link in the
		// mail.
		_, link := invite(servertest.Object{})
		b = s.Browser()
		register(t, b, link, "linus", url.Values{"email": {"linus@example.org"}}).Want(t, http.StatusSeeOther)
		if page := string(b.Get("/login/password").Want(t, 200).Bytes); !strings.Contains(page,
			"<strong>linus@example.org</strong> is not confirmed") {
			t.Errorf("the account: %s", page)
		}
		if letter := box.Next(); letter.To != "linus@example.org" || !strings.Contains(letter.Link(), "/login/confirm?") {
			t.Errorf("the mail is %+v", letter)
		}

		// An invitation cannot be used after it is revoked or has expired.
		id, link := invite(servertest.Object{})
		works(link, true)
		admin.Query(`mutation ($id: ID!) { revokeInvitation(input: {id: $id}) { revokedId } }`, servertest.Object{"id": id},
			new(any))
		works(link, false)
		if code := admin.GraphQL(`mutation ($id: ID!) { revokeInvitation(input: {id: $id}) { revokedId } }`,
			servertest.Object{"id": id}).Code(); code != "NOT_FOUND" {
			t.Errorf("revoked twice: got %q, want NOT_FOUND", code)
		}
		_, link = invite(servertest.Object{"expiresAt": time.Now().Add(time.Hour)})
		works(link, true)
		if _, err := servertest.OpenDB(t, s).SQL().Exec("UPDATE account_links SET expires_at = created_at"); err != nil {
			t.Fatal(err)
		}
		works(link, false)
		for _, input := range []servertest.Object{{"email": "nobody"}, {"email": "a@b\nBcc: c@d"},
			{"expiresAt": time.Now().Add(-time.Hour)}, {"expiresAt": time.Now().AddDate(2, 0, 0)}} {
			if code := admin.GraphQL(`mutation ($input: CreateInvitationInput!) { createInvitation(input: $input) { url } }`,
				servertest.Object{"input": input}).Code(); code != "BAD_USER_INPUT" {
				t.Errorf("%v: got %q, want BAD_USER_INPUT", input, code)
			}
		}
		box.None()
		works(s.URL+"/login/invitation?token=x", false)
		works(s.URL+"/login/invitation", false)
	})
}

// TestPasswordReset checks that a password can be reset by mail. Responses do not reveal whether an
// account exists, links work once and are not stored, and a mail that the mail server rejects is
// sent again.
func TestPasswordReset(t *testing.T) {
	withMail(t, func(t *testing.T, s *servertest.Server, box *mailtest.Mailbox) {
		ada := s.User("ada")
		s.Password("ada", servertest.Password)
		confirmed(t, s, box, ada, "ada@example.org")
		s.User("bob") // bob has no e-mail address
		before := s.Browser()
		before.SignIn("ada", servertest.Password).Want(t, http.StatusSeeOther)

		ask := func(name string) string {
			t.Helper()
			return string(s.Browser().Post("/login/forgotten", url.Values{"name": {name}}).Want(t, 200).Bytes)
		}
		nonce := func(page string) string {
			first, rest, _ := strings.Cut(page, `nonce="`)
			_, rest, _ = strings.Cut(rest, `"`)
			return first + rest[max(0, len(rest)-400):]
		}
		unknown := nonce(ask("nobody"))
		for _, name := range []string{"bob", "nobody@example.org", "ada"} {
			if got := nonce(ask(name)); got != unknown {
				t.Errorf("the response about %s: got %s, want the same as for an unknown name", name, got)
			}
		}
		first := box.Next()
		ask("ADA@example.org")
		second := box.Next()
		for _, letter := range []mailtest.Mail{first, second} {
			if letter.To != "ada@example.org" || letter.Subject != "Reset your password on Meshyard" ||
				!strings.Contains(letter.Text, "account ada ") || !strings.HasPrefix(letter.Link(), s.URL+"/login/reset?token=") {
				t.Errorf("the mail is %+v", letter)
			}
		}
		// Opening the link changes nothing.
		b := s.Browser()
		b.Get(first.Link()).Want(t, 200)
		form := b.Get(first.Link()).Want(t, 200).Fields()
		form.Set("password", "short")
		if r := b.Post("/login/reset", form); r.StatusCode != http.StatusBadRequest {
			t.Errorf("a short password: got %d, want 400", r.StatusCode)
		}
		form.Set("password", "a new horse battery")
		b.PostFrom("cross-site", "/login/reset", form).Want(t, http.StatusForbidden)
		b.Post("/login/reset", form).Want(t, http.StatusSeeOther)
		if page := string(b.Get("/login").Bytes); !strings.Contains(page, "<strong>ada</strong>") {
			t.Error("the user is not signed in after the reset")
		}
		for _, link := range []string{first.Link(), second.Link()} {
			if r := s.Browser().Get(link); r.StatusCode != http.StatusNotFound {
				t.Errorf("%s after the reset: got %d, want 404", link, r.StatusCode)
			}
		}
		b.Post("/login/reset", form).Want(t, http.StatusNotFound)
		if page := string(before.Get("/login").Bytes); !strings.Contains(page, `name="password"`) {
			t.Error("the session before the reset goes on")
		}
		s.Browser().SignIn("ada", servertest.Password).Want(t, http.StatusForbidden)
		s.Browser().SignIn("ada", "a new horse battery").Want(t, http.StatusSeeOther)
		if got := ada.GraphQL(`{ me { username } }`, nil).Code(); got != "" {
			t.Errorf("the access token after the reset: got %s, want no error", got)
		}
		// The secret of a link is not stored in any job, and a mail that is rejected is written again
		// with a new link.
		box.Refuse(1)
		if err := s.Store.Account.RequestMail(context.Background(), models.Mail{Purpose: models.ResetLink,
			Name: "ada"}); err != nil {
			t.Fatal(err)
		}
		third := box.Next()
		u, err := url.Parse(third.Link())
		if err != nil {
			t.Fatal(err)
		}
		var found, links int
		row := servertest.OpenDB(t, s).SQL().
			QueryRow("SELECT (SELECT count(*) FROM river_job WHERE CAST(args AS text) LIKE '%" + u.Query().Get("token") +
				"%'), (SELECT count(*) FROM account_links)")
		if err := row.Scan(&found, &links); err != nil || found != 0 || links != 1 {
			t.Errorf("%d jobs have the secret, %d links are kept (%v), want 0 and 1", found, links, err)
		}
		// A link works only for its own purpose, and the number of mails to a user is limited.
		s.Browser().Get(strings.Replace(third.Link(), "/reset", "/invitation", 1)).Want(t, http.StatusNotFound)
		s.Browser().Get(strings.Replace(third.Link(), "/reset", "/confirm", 1)).Want(t, http.StatusNotFound)
		for range 10 {
			if letters, err := s.Store.Account.WriteEmails(context.Background(), models.Mail{Purpose: models.ResetLink,
				Name: "ada"}); err != nil || len(letters) > 1 {
				t.Errorf("got %d mails, %v, want one at most", len(letters), err)
			}
		}
		if letters, err := s.Store.Account.WriteEmails(context.Background(), models.Mail{Purpose: models.ResetLink,
			Name: "ada"}); err != nil || len(letters) > 0 {
			t.Errorf("beyond the limit: got %d mails, %v, want none", len(letters), err)
		}
		// The number of requests of one network is limited.
		status := 0
		for range 30 {
			if status = s.Browser().Post("/login/forgotten", url.Values{"name": {"nobody"}}).StatusCode; status != 200 {
				break
			}
		}
		if status != http.StatusTooManyRequests {
			t.Errorf("after many requests: got %d, want 429", status)
		}
		box.None()
	})
}

// TestResetOfSharedAddress checks that the users who share an e-mail address get one mail each,
// also if the mail server rejects one of the mails at first.
func TestResetOfSharedAddress(t *testing.T) {
	withMail(t, func(t *testing.T, s *servertest.Server, box *mailtest.Mailbox) {
		for _, name := range []string{"ada", "bob"} {
			confirmed(t, s, box, s.User(name), "shared@example.org")
		}
		box.Refuse(1)
		if err := s.Store.Account.RequestMail(t.Context(), models.Mail{Purpose: models.ResetLink,
			Name: "shared@example.org"}); err != nil {
			t.Fatal(err)
		}
		texts := box.Next().Text + box.Next().Text
		db := servertest.OpenDB(t, s).SQL()
		servertest.Until(t, "the end of the jobs", func() bool {
			var left int
			err := db.QueryRow("SELECT count(*) FROM river_job WHERE kind = 'send_mail' AND state NOT IN ('completed', 'discarded')").Scan(&left)
			return err == nil && left == 0
		})
		box.None()
		for _, name := range []string{"ada", "bob"} {
			if strings.Count(texts, "account "+name+" ") != 1 {
				t.Errorf("%s did not get one mail: %s", name, texts)
			}
		}
	})
}

// TestEmailConfirmation checks that an e-mail address can be confirmed, and that a new address is
// not confirmed.
func TestEmailConfirmation(t *testing.T) {
	withMail(t, func(t *testing.T, s *servertest.Server, box *mailtest.Mailbox) {
		b, ada := servertest.SignedIn(t, s, "ada")
		change := func(email string) string {
			t.Helper()
			ada.Query(`mutation ($email: String) { updateProfile(input: {email: $email}) { user { id } } }`,
				servertest.Object{"email": email}, new(any))
			return box.Next().Link()
		}
		state := func(want string) {
			t.Helper()
			if page := string(b.Get("/login/password").Want(t, 200).Bytes); !strings.Contains(page, want) {
				t.Errorf("the page lacks %q: %s", want, page)
			}
		}
		first := change("ada@example.org")
		state("<strong>ada@example.org</strong> is not confirmed")
		// Setting the same address again sends no mail, but the form on the page does.
		ada.Query(`mutation { updateProfile(input: {email: "ada@example.org", location: "Here"}) { user { id } } }`, nil,
			new(any))
		b.Post("/login/email", b.Get("/login/password").Fields()).Want(t, 200)
		again := box.Next().Link()
		b.Get(again).Want(t, 200)
		state("is not confirmed") // a link checker opens links, which must not confirm the address
		b.Post("/login/confirm", b.Get(again).Fields()).Want(t, 200)
		state("<strong>ada@example.org</strong> is confirmed")
		s.Browser().Post("/login/confirm", url.Values{"token": {"x"}}).Want(t, http.StatusNotFound)
		second := change("countess@example.org")
		state("<strong>countess@example.org</strong> is not confirmed")
		form := b.Get(first).Want(t, 200).Fields()
		b.Post("/login/confirm", form).Want(t, http.StatusNotFound) // of the previous address
		b.Post("/login/confirm", b.Get(second).Fields()).Want(t, 200)
		state("<strong>countess@example.org</strong> is confirmed")

		// The links of a deleted account stop working.
		link := change("third@example.org")
		ada.Query(`mutation { deleteAccount(input: {username: "me"}) { deletedId } }`, nil, new(any))
		s.Browser().Get(link).Want(t, http.StatusNotFound)
		box.None()
	})
}

// TestApplicationsKeepTheAddress checks that an application that a user has authorized to write
// cannot take over the account: it cannot change the e-mail address, to which links to reset the
// password are sent.
func TestApplicationsKeepTheAddress(t *testing.T) {
	withMail(t, func(t *testing.T, s *servertest.Server, box *mailtest.Mailbox) {
		b, ada := servertest.SignedIn(t, s, "ada")
		confirmed(t, s, box, ada, "ada@example.org")
		c := servertest.NewOAuthClient(t, s, account.NewApplication{})
		code := c.Decide(b, c.Question("scope", "read write"), "allow").Query().Get("code")
		var token struct {
			AccessToken string `json:"access_token"`
		}
		c.Exchange("application/json", c.Grant(code)).Want(t, 200, &token)
		program := s.Client(token.AccessToken)
		const change = `mutation ($email: String) { updateProfile(input: {email: $email, bio: "x"}) { user { id } } }`
		if code := program.GraphQL(change, servertest.Object{"email": "mallory@example.org"}).Code(); code != "FORBIDDEN" {
			t.Errorf("the application changes the address: got %q, want FORBIDDEN", code)
		}
		program.Query(change, servertest.Object{"email": "ada@example.org"}, new(any))
		box.None()
	})
}

// TestChangePassword checks that a signed-in user can change the password, which ends the other
// sessions.
func TestChangePassword(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		b, _ := servertest.SignedIn(t, s, "ada")
		other := s.Browser()
		other.SignIn("ada", servertest.Password).Want(t, http.StatusSeeOther)
		s.Browser().Get("/login/password").Want(t, http.StatusSeeOther)
		form := b.Get("/login/password").Want(t, 200).Fields()
		set := func(present, password string) url.Values {
			form.Set("present", present)
			form.Set("password", password)
			return form
		}
		if r := b.Post("/login/password",
			set("wrong horse battery", "a new horse battery")); r.StatusCode != http.StatusForbidden ||
			!strings.Contains(string(r.Bytes), "The current password is wrong.") {
			t.Errorf("a wrong password: got %d %s, want 403 and the reason", r.StatusCode, r.Bytes)
		}
		b.Post("/login/password", set(servertest.Password, "short")).Want(t, http.StatusBadRequest)
		b.PostFrom("cross-site", "/login/password", set(servertest.Password, "a new horse battery")).
			Want(t, http.StatusForbidden)
		// The form of another session is rejected.
		other.Post("/login/password", set(servertest.Password, "a new horse battery")).Want(t, http.StatusForbidden)
		b.Post("/login/password", set(servertest.Password, "a new horse battery")).Want(t, 200)
		if page := string(b.Get("/login").Bytes); !strings.Contains(page, "<strong>ada</strong>") {
			t.Error("the session in which it was changed ended")
		}
		if page := string(other.Get("/login").Bytes); !strings.Contains(page, `name="password"`) {
			t.Error("another session goes on")
		}
		s.Browser().SignIn("ada", "a new horse battery").Want(t, http.StatusSeeOther)
		s.Browser().SignIn("ada", servertest.Password).Want(t, http.StatusForbidden)
		// On a server without mail, passwords cannot be reset and users cannot sign up.
		s.Browser().Get("/login/forgotten").Want(t, http.StatusNotFound)
		s.Browser().Post("/login/forgotten", url.Values{"name": {"ada"}}).Want(t, http.StatusNotFound)
		s.Browser().Get("/signup").Want(t, http.StatusForbidden)
		s.Browser().Post("/signup", url.Values{"username": {"eve"}, "password": {servertest.Password}}).
			Want(t, http.StatusForbidden)
	})
}

// TestRegistration creates accounts where registration is open: directly on a server without mail,
// and by a link in a mail otherwise.
func TestRegistration(t *testing.T) {
	open := func(c *config.Settings) { c.Registration = true }
	t.Run("without mail", func(t *testing.T) {
		servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
			if !servertest.OpenPage(t, s.Client("").Get, "/").Config.Registration {
				t.Error("the config of pages says that registration is closed")
			}
			b := s.Browser()
			register(t, b, "/signup", "eve", url.Values{"email": {"eve@example.org"}}).Want(t, http.StatusSeeOther)
			if who := servertest.OpenPage(t, b.Get, "/").Config.User; who == nil || who.Username != "eve" {
				t.Errorf("after the registration: got user %+v, want eve", who)
			}
			for name, status := range map[string]int{"EVE": 400, "things": 400, "no name": 400, "": 400, "me": 400} {
				if r := register(t, s.Browser(), "/signup", name, nil); r.StatusCode != status {
					t.Errorf("%q: got %d, want %d", name, r.StatusCode, status)
				}
			}
			register(t, s.Browser(), "/signup", "mallory", url.Values{"email": {"nobody"}}).Want(t, 400)
			// The visitor returns to the page from which they came, but to no page of another site.
			number := 0
			for next, want := range map[string]string{"/explore?q=a%20b": "/explore?q=a%20b", "/thing:1": "/thing:1", "": "/",
				"https://evil.example/": "/", "//evil.example": "/", "/\\evil.example": "/"} {
				b := s.Browser()
				if link := b.Get("/login?" + url.Values{"next": {next}}.Encode()); next == "/thing:1" &&
					!strings.Contains(string(link.Bytes), `"/signup?next=%2fthing%3a1"`) {
					t.Errorf("the page to sign in does not pass %q on: %s", next, link.Bytes)
				}
				page := b.Get("/signup?"+url.Values{"next": {next}}.Encode()).Want(t, 200)
				if next == "/thing:1" && !strings.Contains(string(page.Bytes), `"/login?next=%2fthing%3a1"`) {
					t.Errorf("the page to create an account does not lead to that to sign in, and from there to %s", next)
				}
				form := page.Fields()
				number++
				form.Set("username", fmt.Sprint("visitor", number))
				form.Set("password", servertest.Password)
				if to := b.Post("/signup", form).Want(t, 303).Header.Get("Location"); to != s.URL+want {
					t.Errorf("next %q leads to %s, want %s", next, to, want)
				}
			}
			s.Browser().PostFrom("cross-site", "/signup", url.Values{"username": {"mallory"},
				"password": {servertest.Password}}).Want(t, http.StatusForbidden)
		}, open)
	})
	t.Run("with mail", func(t *testing.T) {
		withMail(t, func(t *testing.T, s *servertest.Server, box *mailtest.Mailbox) {
			s.Browser().Post("/signup", url.Values{"username": {"eve"}, "password": {servertest.Password}}).Want(t, 400)
			b := s.Browser()
			form := b.Get("/signup?next=/thing:1").Want(t, 200).Fields()
			form.Set("email", "eve@example.org")
			b.Post("/signup", form).Want(t, 200)
			letter := box.Next()
			if letter.To != "eve@example.org" || letter.Subject != "Create your account on Meshyard" {
				t.Errorf("the mail is %+v", letter)
			}
			if to := register(t, b, letter.Link(), "eve", nil).Want(t, http.StatusSeeOther).
				Header.Get("Location"); to != s.URL+"/thing:1" {
				t.Errorf("after the registration: got redirect %s, want /thing:1", to)
			}
			if page := string(b.Get("/login/password").Bytes); !strings.Contains(page,
				"<strong>eve@example.org</strong> is confirmed") {
				t.Errorf("the account: %s", page)
			}
			s.Browser().Get(letter.Link()).Want(t, http.StatusNotFound)
		}, open)
	})
}

// TestAdministerUsers renames and disables users by GraphQL.
func TestAdministerUsers(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		admin, ada := s.Administrator(), s.User("ada")
		s.User("bob")
		const rename = `mutation ($from: String!, $to: String!) { renameUser(input: {username: $from, newUsername: $to}) { user { username } } }`
		for to, code := range map[string]string{"BOB": "CONFLICT", "graphql": "BAD_USER_INPUT", "": "BAD_USER_INPUT"} {
			if got := admin.GraphQL(rename, servertest.Object{"from": "ada", "to": to}).Code(); got != code {
				t.Errorf("to %q: got %s, want %s", to, got, code)
			}
		}
		if got := admin.GraphQL(rename, servertest.Object{"from": "nobody", "to": "x"}).Code(); got != "NOT_FOUND" {
			t.Errorf("an unknown user: got %q, want NOT_FOUND", got)
		}
		admin.Query(rename, servertest.Object{"from": "ADA", "to": "Countess"}, new(any))
		var me struct{ Me struct{ Username string } }
		if ada.Query(`{ me { username } }`, nil, &me); me.Me.Username != "Countess" {
			t.Errorf("got username %s, want Countess", me.Me.Username)
		}
		const disable = `mutation ($name: String!, $reason: String!) { disableUser(input: {username: $name, reason: $reason}) { user { suspension { reason } } } }`
		for _, c := range [][3]string{{"countess", "", "BAD_USER_INPUT"}, {"staff", "because", "BAD_USER_INPUT"}} {
			if got := admin.GraphQL(disable, servertest.Object{"name": c[0], "reason": c[1]}).Code(); got != c[2] {
				t.Errorf("%s: got %s, want %s", c[0], got, c[2])
			}
		}
		admin.Query(disable, servertest.Object{"name": "countess", "reason": "because"}, new(any))
		if got := ada.GraphQL(`{ me { username } }`, nil).Code(); got != "UNAUTHENTICATED" {
			t.Errorf("the token of a suspended user: got %q, want UNAUTHENTICATED", got)
		}
		var log struct {
			ModerationLog struct {
				Nodes []struct {
					Action string
					Actor  struct{ Username string }
				}
			}
		}
		admin.Query(`{ moderationLog(first: 2) { nodes { action actor { username } } } }`, nil, &log)
		for i, want := range []string{"SUSPEND_USER", "RENAME_USER"} {
			if got := log.ModerationLog.Nodes[i]; got.Action != want || got.Actor.Username != "staff" {
				t.Errorf("entry %d is %+v, want %s", i, got, want)
			}
		}
	})
}
