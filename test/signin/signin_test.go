package signin_test

import (
	"context"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/account"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestPasswordSignIn checks that signing in sets a cookie that scripts cannot read, and that the
// error for a wrong name equals that for a wrong password.
func TestPasswordSignIn(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		s.User("ada")
		s.User("bob") // bob has no password
		s.Password("ada", servertest.Password)
		b := s.Browser()
		page := b.Get("/login").Want(t, 200)
		if !strings.Contains(page.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'") ||
			strings.Contains(string(page.Bytes), "<script") {
			t.Errorf("the sign-in page: got headers %v, want no framing and no scripts", page.Header)
		}
		wrong := b.SignIn("ada", "wrong horse").Want(t, 403)
		for _, name := range []string{"nobody", "bob", "", "a\x00b", strings.Repeat("x", 5000)} {
			r := b.SignIn(name, "wrong horse").Want(t, 403)
			words := func(r *servertest.Response) string {
				_, said, _ := strings.Cut(string(r.Bytes), `role="alert">`)
				said, _, _ = strings.Cut(said, "</p>")
				return said
			}
			if words(r) != words(wrong) || words(wrong) == "" || len(r.Cookies()) > 0 {
				t.Errorf("%.20q: got %q, want %q as for a wrong password of ada, without a cookie", name, words(r), words(wrong))
			}
		}
		r := b.SignIn("ADA", servertest.Password).Want(t, http.StatusSeeOther)
		if c := r.Cookies(); len(c) != 2 {
			t.Errorf("got cookies %+v, want those of the session and the device", c)
		}
		for _, c := range r.Cookies() {
			if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Secure || c.Path != "/" || len(c.Value) < 43 {
				t.Errorf("got cookie %+v, want HttpOnly, SameSite=Lax and a long value", c)
			}
		}
		if page := b.Get("/login").Want(t, 200); !strings.Contains(string(page.Bytes), "<strong>ada</strong>") {
			t.Errorf("after signing in: got %s, want a page that names ada", page.Bytes)
		}
		// After the sign-in, the browser is redirected only to a page of this server or an authorization
		// request of an application, and by default to the home page.
		for _, next := range []string{"https://evil.example/", "//evil.example/login/oauth/authorize", "/\\evil.example",
			"javascript:alert(1)", "/things/1", "/login/oauth/authorize@evil.example", ""} {
			r := s.Browser().Post("/login", url.Values{"username": {"ada"}, "password": {servertest.Password}, "next": {next}}).
				Want(t, 303)
			if to := r.Header.Get("Location"); to != s.URL+"/" {
				t.Errorf("next %q: got redirect %s, want the home page", next, to)
			}
		}
		if to := b.Post("/logout", nil).Want(t, 303).Header.Get("Location"); to != s.URL+"/login" {
			t.Errorf("signing out: got redirect %s, want /login", to)
		}
		if page := b.Get("/login"); !strings.Contains(string(page.Bytes), `name="password"`) {
			t.Errorf("after signing out: got %s, want the sign-in form", page.Bytes)
		}
		// Setting a new password ends all existing sessions.
		b.SignIn("ada", servertest.Password).Want(t, 303)
		s.Password("ada", servertest.Password+"!")
		if page := b.Get("/login"); !strings.Contains(string(page.Bytes), `name="password"`) {
			t.Errorf("after a new password: got %s, want the sign-in form", page.Bytes)
		}
		b.SignIn("ada", servertest.Password).Want(t, 403)
		b.SignIn("ada", servertest.Password+"!").Want(t, 303)
		for _, bad := range []string{"", "short", strings.Repeat("x", auth.MaxPassword+1), "no utf-8 \xff\xff\xff"} {
			if err := s.Store.Account.Admin().SetPassword(context.Background(), "ada",
				bad); models.CodeOf(err) != models.BadInput {
				t.Errorf("password %.20q: %v", bad, err)
			}
		}
	})
}

// TestCookieIsSecure checks that the cookies are limited to HTTPS, if the base URL is HTTPS, and to
// this host.
func TestCookieIsSecure(t *testing.T) {
	t.Parallel()
	settings := servertest.Settings(t, "sqlite")
	for base, want := range map[string][2]string{
		"https://models.example":          {"__Host-meshyard_session /", "__Host-meshyard_device /"},
		"https://models.example/meshyard": {"meshyard_session /meshyard/", "meshyard_device /meshyard/"},
	} {
		h, s := handlerAt(t, settings, base)
		if _, err := s.Admin().CreateUser(context.Background(), "ada", false); err != nil &&
			models.CodeOf(err) != models.Conflict {
			t.Fatal(err)
		}
		if err := s.Account.Admin().SetPassword(context.Background(), "ada", servertest.Password); err != nil {
			t.Fatal(err)
		}
		w := post(h, base+"/login", url.Values{"username": {"ada"}, "password": {servertest.Password}})
		c := w.Result().Cookies()
		if w.Code != 303 || len(c) != 2 {
			t.Fatalf("%s: %d, cookies %+v, want %s", base, w.Code, c, want)
		}
		for i, c := range c {
			if !c.Secure || c.Name+" "+c.Path != want[i] {
				t.Errorf("%s: cookie %+v, want %s", base, c, want[i])
			}
		}
	}
}

// TestPasswordAttempts checks that the number of attempts is limited in the same way for existing
// and missing accounts.
func TestPasswordAttempts(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		s.User("ada")
		s.Password("ada", servertest.Password)
		b := s.Browser()
		for _, name := range []string{"ada", "nobody"} {
			n := 0
			for n < 30 && b.SignIn([]string{name, strings.ToUpper(name)}[n%2], "wrong horse").StatusCode == 403 {
				n++
			}
			r := b.SignIn(name, servertest.Password)
			if n != 10 || r.StatusCode != 429 || r.Header.Get("Retry-After") == "" || len(r.Cookies()) > 0 {
				t.Errorf("%s: got %d attempts and then %d, want 10 and then 429 with Retry-After", name, n, r.StatusCode)
			}
		}
	})
}

// TestUnknownNamesCostAHash checks that a password is hashed for an unknown name and for a user
// without a password, too, so that the time of the response reveals no account. It measures memory
// instead of time: in tests of servers, one hash allocates 64 KiB, and the rest less than 16 KiB.
func TestUnknownNamesCostAHash(t *testing.T) {
	s := servertest.Start(t, "sqlite")
	s.User("ada")
	s.Password("ada", servertest.Password)
	s.User("bob") // has no password
	check := func(name string) (allocated uint64) {
		t.Helper()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := s.Store.Account.CheckPassword(t.Context(), name,
			"wrong horse"); models.CodeOf(err) != models.Unauthenticated {
			t.Fatalf("%s: %v, want %s", name, err, models.Unauthenticated)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	least := uint64(auth.Argon2.Memory) << 10
	check("nobody") // the first call creates the hash that unknown names are compared with
	for _, name := range []string{"ada", "bob", "nobody"} {
		if got := check(name); got < least {
			t.Errorf("a wrong password of %s: %d bytes allocated, want at least %d, those of one hash", name, got, least)
		}
	}
}

// TestSignInsExpire checks that expired sessions and codes are rejected and removed.
func TestSignInsExpire(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		b, _ := servertest.SignedIn(t, s, "ada")
		c := servertest.NewOAuthClient(t, s, account.NewApplication{})
		code := c.Decide(b, c.Question(), "allow").Query().Get("code")
		db := servertest.OpenDB(t, s)
		exec := func(statement string) {
			t.Helper()
			if _, err := db.SQL().Exec(statement); err != nil {
				t.Fatal(err)
			}
		}
		exec("UPDATE grants SET expires_at = '2020-01-01 00:00:00+00:00', created_at = '2020-01-01 00:00:00+00:00'")
		c.Refused("a code that expired", c.Exchange("", c.Grant(code)), 400, "invalid_grant")
		exec("UPDATE sessions SET expires_at = '2020-01-01 00:00:00+00:00'")
		b.Get(c.Question()).Want(t, http.StatusSeeOther)
		if _, err := s.Store.Maintenance.CollectGarbage(context.Background(), 0, false); err != nil {
			t.Fatal(err)
		}
		var left int
		if err := db.SQL().QueryRow("SELECT (SELECT count(*) FROM sessions) + (SELECT count(*) FROM grants)").
			Scan(&left); err != nil || left != 0 {
			t.Errorf("%d are left, %v", left, err)
		}
	})
}

// TestSignInBelowAPath checks that every URL in the sign-in pages contains the path of the base
// URL.
func TestSignInBelowAPath(t *testing.T) {
	t.Parallel()
	h, _ := handlerAt(t, servertest.Settings(t, "sqlite"), "https://models.example/meshyard")
	page := get(h, "/login").Body.String()
	for _, want := range []string{`action="/meshyard/login"`, `href="/meshyard/reference/assets/`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s: %s", want, page)
		}
	}
}
