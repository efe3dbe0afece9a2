package signin_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/models/account"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestCodeFlow runs the authorization code grant with PKCE from the sign-in to the token response
// in JSON. It checks that a code can be used once, and that a second use revokes the token.
func TestCodeFlow(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		s.User("ada")
		s.Password("ada", servertest.Password)
		c := servertest.NewOAuthClient(t, s, account.NewApplication{})
		b := s.Browser()

		to := b.Get(c.Question("scope", "read write")).Want(t, http.StatusSeeOther)
		login := b.Follow(to).Want(t, 200)
		form := login.Fields()
		form.Set("username", "Ada")
		form.Set("password", servertest.Password)
		back := b.Post("/login", form).Want(t, http.StatusSeeOther)
		page := b.Follow(back).Want(t, 200)
		text := string(page.Bytes)
		for _, want := range []string{"Slicer &amp; &lt;Co&gt;", "<strong>read</strong>", "<strong>write</strong>",
			"<strong>delete your account</strong>", "<strong>ada</strong>", "https://app.example"} {
			if !strings.Contains(text, want) {
				t.Errorf("the page of consent does not say %q: %s", want, text)
			}
		}
		policy := page.Header.Get("Content-Security-Policy")
		for _, want := range []string{"frame-ancestors 'none'", "default-src 'none'",
			"form-action 'self' https://app.example;"} {
			if !strings.Contains(policy, want) {
				t.Errorf("the policy %q lacks %q", policy, want)
			}
		}
		if strings.Contains(text, "<script") || page.Header.Get("X-Frame-Options") != "DENY" ||
			page.Header.Get("Cache-Control") != "no-store" || page.Header.Get("Referrer-Policy") != "same-origin" {
			t.Errorf("the consent page: got headers %v, want no framing, caching, scripts or referrer to other sites",
				page.Header)
		}

		response := c.Decide(b, c.Question("scope", "read write"), "allow")
		q := response.Query()
		if response.Scheme+"://"+response.Host+response.Path != servertest.Redirect || q.Get("state") != "a&b =#c" ||
			q.Get("iss") != s.URL || q.Get("code") == "" {
			t.Fatalf("after consent: got %s, want a redirect to %s with code, state and issuer", response, servertest.Redirect)
		}
		code := q.Get("code")
		c.Refused("wrong verifier", c.Exchange("", c.Grant(code, "code_verifier", strings.Repeat("x", 43))), 400,
			"invalid_grant")
		c.Refused("no verifier", c.Exchange("", c.Grant(code, "code_verifier", "")), 400, "invalid_grant")
		c.Refused("wrong redirect", c.Exchange("", c.Grant(code, "redirect_uri", servertest.Redirect+"/")), 400,
			"invalid_grant")
		c.Refused("wrong secret", c.Exchange("", c.Grant(code, "client_secret", "x")), 401, "invalid_client")
		c.Refused("no secret", c.Exchange("", c.Grant(code, "client_secret", "")), 401, "invalid_client")
		c.Refused("no such client", c.Exchange("", c.Grant(code, "client_id", "x")), 401, "invalid_client")
		c.Refused("no code", c.Exchange("", c.Grant("")), 400, "invalid_grant")
		c.Refused("a grant that is none", c.Exchange("", c.Grant(code, "grant_type", "password")), 400,
			"unsupported_grant_type")
		other := servertest.NewOAuthClient(t, s, account.NewApplication{})
		c.Refused("another client", c.Exchange("", other.Grant(code, "code_verifier", c.Verifier)), 400, "invalid_grant")

		var token struct {
			AccessToken string `json:"access_token"`
			TokenType   string `json:"token_type"`
			Scope       string
		}
		c.Exchange("text/html, application/json;q=0.9", c.Grant(code)).Want(t, 200, &token)
		if token.TokenType != "Bearer" || token.Scope != "read write" {
			t.Errorf("got %+v, want a bearer token with the scopes read and write", token)
		}
		ada := s.Client(token.AccessToken)
		ada.Thing("By the application")
		info := s.Client("").PostForm("/login/oauth/tokeninfo", [][2]string{{"access_token", token.AccessToken}}, "", "",
			nil).Want(t, 200)
		if want := `{"audience":"` + c.ID + `","user_id":"1"}`; strings.TrimSpace(string(info.Bytes)) != want {
			t.Errorf("tokeninfo returns %s, want %s", info.Bytes, want)
		}
		for _, bad := range []string{"", "x", token.AccessToken + "x"} {
			c.Refused("tokeninfo of "+bad, s.Client("").Do("POST", "/login/oauth/tokeninfo?access_token="+bad, nil), 401,
				"invalid_token")
		}

		ada.Get("/users/me").Want(t, 200)
		c.Refused("the code a second time", c.Exchange("", c.Grant(code)), 400, "invalid_grant")
		ada.Get("/users/me").Want(t, 401)
	})
}

// TestLegacyCodeFlow runs the authorization code grant as old clients do: without PKCE,
// scope and grant_type, and with parameters in unusual places. The response is form-encoded.
func TestLegacyCodeFlow(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		b, _ := servertest.SignedIn(t, s, "ada")
		c := servertest.NewOAuthClient(t, s, account.NewApplication{})
		old := c.Question("code_challenge", "", "code_challenge_method", "", "scope", "", "redirect_uri", "",
			"response_type", "")
		text := regexp.MustCompile(`^access_token=(meshyard_\w{49})&token_type=Bearer$`)
		body := func(contentType, text string) *servertest.Response {
			r := s.Client("").Request("POST", "/login/oauth/access_token", text)
			r.Header.Del("Content-Type")
			if contentType != "" {
				r.Header.Set("Content-Type", contentType)
			}
			return s.Client("").Send(r)
		}
		form := func(v [][2]string) string {
			return url.Values{v[0][0]: {v[0][1]}, v[1][0]: {v[1][1]}, v[2][0]: {v[2][1]}}.Encode()
		}
		inJSON := func(v [][2]string) string {
			return fmt.Sprintf(`{%q: %q, %q: %q, %q: %q}`, v[0][0], v[0][1], v[1][0], v[1][1], v[2][0], v[2][1])
		}
		for name, send := range map[string]func(v [][2]string) *servertest.Response{
			"form without a type": func(v [][2]string) *servertest.Response { return body("", form(v)) },
			"form as text":        func(v [][2]string) *servertest.Response { return body("text/plain;charset=UTF-8", form(v)) },
			"form as JSON":        func(v [][2]string) *servertest.Response { return body("application/json", form(v)) },
			"JSON without a type": func(v [][2]string) *servertest.Response { return body("", inJSON(v)) },
			"JSON as a form": func(v [][2]string) *servertest.Response {
				return body("application/x-www-form-urlencoded",
					inJSON(v))
			},
			"JSON with a mark": func(v [][2]string) *servertest.Response { return body("application/json", "\ufeff"+inJSON(v)) },
			"query and an empty {}": func(v [][2]string) *servertest.Response {
				return s.Client("").Do("POST", "/login/oauth/access_token?"+form(v), "{}")
			},
			"query and null": func(v [][2]string) *servertest.Response {
				return s.Client("").Do("POST", "/login/oauth/access_token?"+form(v), "null")
			},
			"form and other basic credentials": func(v [][2]string) *servertest.Response {
				r := s.Client("").Request("POST", "/login/oauth/access_token", form(v))
				r.SetBasicAuth("proxy", "x")
				return s.Client("").Send(r)
			},
			"query": func(v [][2]string) *servertest.Response {
				return s.Client("").
					Do("POST", "/login/oauth/access_token?client_id="+v[0][1]+"&client_secret="+v[1][1]+"&code="+v[2][1], nil)
			},
			"urlencoded": func(v [][2]string) *servertest.Response {
				return c.Exchange("*/*", url.Values{v[0][0]: {v[0][1]}, v[1][0]: {v[1][1]}, v[2][0]: {v[2][1]}})
			},
			"multipart": func(v [][2]string) *servertest.Response {
				return s.Client("").PostForm("/login/oauth/access_token/", v, "", "", nil)
			},
			"JSON": func(v [][2]string) *servertest.Response {
				r := s.Client("").Request("POST", "/login/oauth/access_token", servertest.Object{v[0][0]: v[0][1], v[1][0]: v[1][1],
					v[2][0]: v[2][1], "redirect_uri": nil})
				r.Header.Set("Content-Type", "application/json; charset=utf-8")
				return s.Client("").Send(r)
			},
			"basic": func(v [][2]string) *servertest.Response {
				r := s.Client("").Request("POST", "/login/oauth/access_token?code="+v[2][1], nil)
				r.SetBasicAuth(v[0][1], v[1][1])
				return s.Client("").Send(r)
			},
		} {
			code := c.Decide(b, old, "allow").Query().Get("code")
			r := send([][2]string{{"client_id", c.ID}, {"client_secret", c.Secret}, {"code", code}})
			found := text.FindSubmatch(r.Bytes)
			if r.StatusCode != 200 || found == nil {
				t.Errorf("%s: %d %s", name, r.StatusCode, r.Bytes)
				continue
			}
			s.Client(string(found[1])).Thing("By a legacy client")
			info := s.Client("").Request("POST", "/login/oauth/tokeninfo", servertest.Object{"access_token": string(found[1])})
			info.Header.Set("Content-Type", "application/json")
			if r := s.Client("").Send(info).Want(t, 200); !strings.Contains(string(r.Bytes), `"audience":"`+c.ID+`"`) {
				t.Errorf("%s: tokeninfo of a JSON body: got %s, want the audience %s", name, r.Bytes, c.ID)
			}
		}
		// Some programs take everything behind "code=" in the URL for the code.
		_, behind, _ := strings.Cut(c.Decide(b, old, "allow").String(), "code=")
		if r := c.Exchange("*/*", url.Values{"client_id": {c.ID}, "client_secret": {c.Secret},
			"code": {behind}}); r.StatusCode != 200 || !strings.Contains(behind, "&") {
			t.Errorf("the code %s with other parameters behind it: got %d %s, want 200", behind, r.StatusCode, r.Bytes)
		}
		for _, bad := range []string{`{`, `[]`, `"x"`, `{"code":{}}`, `{"code":["x"]}`, `{"code":true}`, `{"code":"x"} x`} {
			r := s.Client("").Request("POST", "/login/oauth/access_token", bad)
			r.Header.Set("Content-Type", "application/json")
			c.Refused("the body "+bad, s.Client("").Send(r), 400, "invalid_request")
		}
		// An attacker who removes the code challenge from the authorization request is detected.
		code := c.Decide(b, old, "allow").Query().Get("code")
		c.Refused("a verifier without a challenge", c.Exchange("", c.Grant(code)), 400, "invalid_grant")
		c.Refused("secret twice", c.Exchange("", url.Values{"client_id": {c.ID}, "client_secret": {c.Secret, "x"}}), 400,
			"invalid_request")
	})
}

// TestOutOfBandFlow checks the grant of an application that cannot receive redirects and registers
// urn:ietf:wg:oauth:2.0:oob: its user copies the code from a page.
func TestOutOfBandFlow(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		b, _ := servertest.SignedIn(t, s, "ada")
		const oob = "urn:ietf:wg:oauth:2.0:oob"
		c := servertest.NewOAuthClient(t, s, account.NewApplication{RedirectURIs: []string{oob}, AllowsImplicit: true})
		question := c.Question("redirect_uri", oob)
		decide := func(decision string) *servertest.Response {
			page := b.Get(question).Want(t, 200)
			if policy := page.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "form-action 'self';") {
				t.Errorf("got policy %q, want forms to this server only", policy)
			}
			form := page.Fields()
			form.Set("decision", decision)
			r := b.Post("/login/oauth/authorize", form).Want(t, 200)
			if r.Header.Get("Location") != "" || r.Header.Get("Cache-Control") != "no-store" ||
				strings.Contains(string(r.Bytes), "<script") {
				t.Errorf("the page with the code: got headers %v, want no redirect, caching or scripts", r.Header)
			}
			return r
		}
		found := regexp.MustCompile(`<input id="code" value="(\w{43})" readonly`).
			FindStringSubmatch(string(decide("allow").Bytes))
		if found == nil {
			t.Fatal("the page shows no code")
		}
		c.Refused("another redirect", c.Exchange("", c.Grant(found[1])), 400, "invalid_grant")
		c.Exchange("", c.Grant(found[1], "redirect_uri", oob)).Want(t, 200)
		if r := decide("deny"); strings.Contains(string(r.Bytes), `id="code"`) ||
			!strings.Contains(string(r.Bytes), "did not give access to Slicer &amp; &lt;Co&gt;") {
			t.Errorf("after a denial: got %s, want a page without a code", r.Bytes)
		}
		if r := b.Get(c.Question("redirect_uri", oob, "response_type", "token")).
			Want(t, 400); !strings.Contains(string(r.Bytes), "only a code can be shown") {
			t.Errorf("a token out of band: got %s, want that only a code can be shown", r.Bytes)
		}
		b.Get(servertest.NewOAuthClient(t, s, account.NewApplication{}).Question("redirect_uri", oob)).Want(t, 400)
	})
}

func TestImplicitFlow(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		b, _ := servertest.SignedIn(t, s, "ada")
		c := servertest.NewOAuthClient(t, s, account.NewApplication{AllowsImplicit: true})
		question := c.Question("response_type", "token", "code_challenge", "", "code_challenge_method", "", "scope", "")
		to := c.Decide(b, question, "allow")
		want := regexp.MustCompile(
			`^https://app\.example/cb#access_token=(meshyard_\w{49})&token_type=Bearer&state=a%26b\+%3D%23c$`)
		found := want.FindStringSubmatch(to.String())
		if found == nil {
			t.Fatalf("after consent: got %s, want a token in the fragment", to)
		}
		s.Client(found[1]).Thing("By a legacy client")
		// Some programs take everything behind "access_token=" in the URL for the token.
		_, behind, _ := strings.Cut(to.String(), "access_token=")
		s.Client(behind).Get("/users/me").Want(t, 200)
		s.Client("").PostForm("/login/oauth/tokeninfo", [][2]string{{"access_token", behind}}, "", "", nil).Want(t, 200)
		denied := c.Decide(b, question, "deny")
		if f, _ := url.ParseQuery(denied.EscapedFragment()); denied.RawQuery != "" || f.Get("error") != "access_denied" ||
			f.Get("state") != "a&b =#c" {
			t.Errorf("after a denial: got %s, want access_denied and the state in the fragment", denied)
		}
		strict := servertest.NewOAuthClient(t, s, account.NewApplication{})
		to, _ = url.Parse(b.Get(strict.Question("response_type", "token")).Want(t, 303).Header.Get("Location"))
		if f, _ := url.ParseQuery(to.EscapedFragment()); f.Get("error") != "unauthorized_client" {
			t.Errorf("an application without the implicit grant: got %s, want unauthorized_client", to)
		}
	})
}

// TestInvalidAuthorizationRequests checks that an invalid authorization request is reported to the
// user if the redirect URI is not valid, and otherwise to the application.
func TestInvalidAuthorizationRequests(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		b, _ := servertest.SignedIn(t, s, "ada")
		c := servertest.NewOAuthClient(t, s,
			account.NewApplication{RedirectURIs: []string{servertest.Redirect, "http://127.0.0.1/cb"}})
		for name, question := range map[string]string{
			"no client": c.Question("client_id", ""), "unknown client": c.Question("client_id", "x"),
			"wrong redirect":     c.Question("redirect_uri", servertest.Redirect+"/x"),
			"no redirect of two": c.Question("redirect_uri", ""),
			"another host":       c.Question("redirect_uri", "https://app.example.evil.example/cb"),
			"client twice":       c.Question() + "&client_id=x", "redirect twice": c.Question() +
				"&redirect_uri=https://evil.example",
			"other path on this machine": c.Question("redirect_uri", "http://127.0.0.1:5000/x"),
			"NUL":                        c.Question("client_id", "a\x00b"),
		} {
			if r := b.Get(question); r.StatusCode != 400 || r.Header.Get("Location") != "" ||
				!strings.Contains(string(r.Bytes), "Request failed") {
				t.Errorf("%s: got %d, redirect %q, %s, want a page with status 400", name, r.StatusCode, r.Header.Get("Location"),
					r.Bytes)
			}
		}
		for name, try := range map[string]struct{ question, want string }{
			"another response type":     {c.Question("response_type", "id_token"), "unsupported_response_type"},
			"scope":                     {c.Question("scope", "everything"), "invalid_scope"},
			"scope admin":               {c.Question("scope", "read admin"), "invalid_scope"},
			"plain":                     {c.Question("code_challenge_method", "plain"), "invalid_request"},
			"method left out":           {c.Question("code_challenge_method", ""), "invalid_request"},
			"challenge left out":        {c.Question("code_challenge", ""), "invalid_request"},
			"challenge of another form": {c.Question("code_challenge", "x"), "invalid_request"},
			"state twice":               {c.Question() + "&state=x", "invalid_request"},
			"scope twice":               {c.Question() + "&scope=write", "invalid_request"},
		} {
			r := b.Get(try.question).Want(t, http.StatusSeeOther)
			to, _ := url.Parse(r.Header.Get("Location"))
			if !strings.HasPrefix(to.String(), servertest.Redirect+"?") || to.Query().Get("error") != try.want || to.Query().
				Get("state") != "a&b =#c" || to.Query().Get("iss") != s.URL {
				t.Errorf("%s: %s, want %s", name, to, try.want)
			}
		}
		long := b.Get(c.Question("state", strings.Repeat("x", 2_001))).Want(t, http.StatusSeeOther)
		if to, _ := url.Parse(long.Header.Get("Location")); to.Query().Get("error") != "invalid_request" {
			t.Errorf("a state of 2,001 bytes: %.200s, want invalid_request", to)
		}
		to := c.Decide(b, c.Question("redirect_uri", "http://127.0.0.1:51234/cb"), "allow")
		if to.Host != "127.0.0.1:51234" {
			t.Errorf("got redirect %s, want the requested port of 127.0.0.1", to)
		}
		c.Exchange("", c.Grant(to.Query().Get("code"), "redirect_uri", "http://127.0.0.1:51234/cb")).Want(t, 200)
		if to := c.Decide(b, c.Question(), "deny"); to.Query().Get("error") != "access_denied" || to.Query().
			Get("code") != "" {
			t.Errorf("after a denial: got %s, want access_denied and no code", to)
		}
	})
}

// TestForgedConsent checks that a consent decision is accepted only from the page that was
// shown, in the same session, for the same authorization request, and from the same site.
func TestForgedConsent(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		b, _ := servertest.SignedIn(t, s, "ada")
		eve, _ := servertest.SignedIn(t, s, "eve")
		c := servertest.NewOAuthClient(t, s, account.NewApplication{})
		form := func(of *servertest.Browser) url.Values {
			f := of.Get(c.Question()).Want(t, 200).Fields()
			f.Set("decision", "allow")
			return f
		}
		with := func(f url.Values, name, value string) url.Values { f.Set(name, value); return f }
		for name, f := range map[string]url.Values{
			"more scopes": with(form(b), "scope", "read write"), "another state": with(form(b), "state", "x"),
			"another challenge": with(form(b), "code_challenge", strings.Repeat("x", 43)),
			"no token":          with(form(b), "token", ""), "the token of another session": with(form(b), "token", form(eve).
						Get("token")),
		} {
			if r := b.Post("/login/oauth/authorize", f); r.StatusCode != 403 || r.Header.Get("Location") != "" {
				t.Errorf("%s: got %d, redirect %q, want 403 without a redirect", name, r.StatusCode, r.Header.Get("Location"))
			}
		}
		for _, path := range []string{"/login/oauth/authorize", "/login", "/logout"} {
			for _, site := range []string{"cross-site", "same-site", ""} {
				if r := b.PostFrom(site, path, form(b)); r.StatusCode != 403 {
					t.Errorf("%s from a page of another site (%q): got %d, want 403", path, site, r.StatusCode)
				}
			}
		}
		f := form(b)
		b.Post("/logout", nil).Want(t, 303)
		if r := b.Post("/login/oauth/authorize", f).Want(t, 303); !strings.HasPrefix(r.Header.Get("Location"),
			s.URL+"/login?next=") {
			t.Errorf("a decision without a session: got redirect %s, want the sign-in page", r.Header.Get("Location"))
		}
	})
}

// TestPublicClients checks that a public client must use PKCE and cannot get a token of its own.
func TestPublicClients(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		b, _ := servertest.SignedIn(t, s, "ada")
		c := servertest.NewOAuthClient(t, s, account.NewApplication{IsPublic: true})
		r := b.Get(c.Question("code_challenge", "", "code_challenge_method", "")).Want(t, 303)
		if to, _ := url.Parse(r.Header.Get("Location")); to.Query().Get("error") != "invalid_request" {
			t.Errorf("without PKCE: got %s, want invalid_request", to)
		}
		code := c.Decide(b, c.Question(), "allow").Query().Get("code")
		c.Refused("without the redirect", c.Exchange("", c.Grant(code, "redirect_uri", "")), 400, "invalid_grant")
		c.Refused("with a secret", c.Exchange("", c.Grant(code, "client_secret", "x")), 401, "invalid_client")
		c.Exchange("", c.Grant(code)).Want(t, 200)
		c.Refused("a token of its own", c.Exchange("", url.Values{"grant_type": {"client_credentials"}, "client_id": {c.ID}}),
			400, "unauthorized_client")
	})
}

// TestApplicationTokens checks that an application's own token can read public data and acts for no
// user.
func TestApplicationTokens(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		shown, draft := ada.Thing("Shown"), ada.Thing("Draft")
		file := ada.Upload("a.stl", servertest.Mesh(t, "hschendel_simple_bin.stl"))
		ada.Finalize("thing", shown, file).Want(t, 200)
		ada.Publish(shown).Want(t, 200)
		c := servertest.NewOAuthClient(t, s, account.NewApplication{})
		ask := url.Values{"grant_type": {"client_credentials"}, "client_id": {c.ID}, "client_secret": {c.Secret}}
		var token struct {
			AccessToken string `json:"access_token"`
			Scope       string
			ExpiresIn   int `json:"expires_in"`
		}
		c.Exchange("application/json", ask).Want(t, 200, &token)
		if token.Scope != "read" || token.ExpiresIn < 3600 {
			t.Errorf("%+v", token)
		}
		own := s.Client(token.AccessToken)
		own.Get("/things/"+servertest.ID(shown)).Want(t, 200)
		own.Get("/search/shown").Want(t, 200)
		own.Get("/users/ada").Want(t, 200)
		for _, path := range []string{"/groups", "/printers/0/brands", "/printers/0/models", "/programs/0/all",
			"/users/ada/groups"} {
			own.Get(path).Want(t, 200)
			ada.Get(path).Want(t, 200)
			s.Client("").Get(path).Want(t, 401)
		}
		own.Get("/files/"+servertest.ID(file)+"/download").Want(t, 302)
		for _, path := range []string{"/things/" + servertest.ID(draft), "/users/me", "/users/me/downloads",
			"/users/ada/downloads"} {
			own.Get(path).Want(t, 403)
		}
		own.Do("POST", "/things/", servertest.Object{"name": "x", "license": "cc", "category": "Art"}).Want(t, 403)
		own.Do("POST", "/things/"+servertest.ID(shown)+"/likes", nil).Want(t, 403)
		for _, document := range []string{`{ me { id } }`, `{ tokens { nodes { id } } }`, `{ applications { name } }`,
			`mutation { createToken(input: {name: "x", scopes: [READ]}) { secret } }`} {
			if code := own.GraphQL(document, nil).Code(); code != "FORBIDDEN" {
				t.Errorf("%s: %q, want FORBIDDEN", document, code)
			}
		}
		info := s.Client("").Do("POST", "/login/oauth/tokeninfo?access_token="+token.AccessToken, nil).Want(t, 200)
		if want := `{"audience":"` + c.ID + `","user_id":""}`; strings.TrimSpace(string(info.Bytes)) != want {
			t.Errorf("tokeninfo returns %s, want %s", info.Bytes, want)
		}
		ask.Set("scope", "write")
		c.Refused("more than reading", c.Exchange("", ask), 400, "invalid_scope")

		// Deleting an application immediately revokes its tokens.
		if err := s.Store.Account.Admin().DeleteApplication(context.Background(), c.ID); err != nil {
			t.Fatal(err)
		}
		own.Get("/users/ada").Want(t, 401)
	})
}

func TestServerMetadata(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		var said struct {
			Issuer, Token_endpoint string
			Methods                []string `json:"code_challenge_methods_supported"`
		}
		s.Client("").Get("/.well-known/oauth-authorization-server").Want(t, 200, &said)
		if said.Issuer != s.URL || said.Token_endpoint != s.URL+"/login/oauth/access_token" || len(said.Methods) != 1 ||
			said.Methods[0] != "S256" {
			t.Errorf("%+v", said)
		}
		for _, path := range []string{"/login/nothing", "/login/oauth", "/login/oidc"} {
			s.Client("").Get(path).Want(t, 404)
		}
	})
}
