package signin_test

import (
	"bytes"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/auth/oidc/oidctest"
	"github.com/meshyard/meshyard/models/account"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestNoSecretIsLogged checks that no token, password, code, cookie or other secret appears in a
// log or an error response, however it was sent. It is not parallel, because it replaces the
// default logger.
func TestNoSecretIsLogged(t *testing.T) {
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			logged := new(servertest.LogBuffer)
			handler := slog.NewTextHandler(logged, &slog.HandlerOptions{Level: slog.LevelDebug})
			before := slog.Default()
			slog.SetDefault(slog.New(handler))
			defer slog.SetDefault(before)
			issuer := oidctest.New(t)
			settings := servertest.Settings(t, engine)
			settings.OIDCIssuer, settings.OIDCClientID, settings.OIDCClientSecret = issuer.URL, issuer.ClientID, issuer.Secret
			s := servertest.RunLogging(t, settings, handler)

			secrets := map[string]string{"password": servertest.Password, "wrong password": "wrong horse battery",
				"client's secret there": issuer.Secret}
			refusals := new(bytes.Buffer)
			refused := func(r *servertest.Response) {
				t.Helper()
				if r.StatusCode < 400 {
					t.Errorf("%s %s: %d", r.Request.Method, r.Request.URL.Path, r.StatusCode)
				}
				refusals.Write(r.Bytes)
				_ = r.Header.Write(refusals)
			}
			b, ada := servertest.SignedIn(t, s, "ada")
			secrets["token"] = ada.Token
			refused(s.Browser().SignIn("ada", secrets["wrong password"]))
			c := servertest.NewOAuthClient(t, s, account.NewApplication{AllowsImplicit: true})
			secrets["client's secret"], secrets["verifier"] = c.Secret, c.Verifier
			base, _ := url.Parse(s.URL)
			for _, cookie := range b.Cookies(base) {
				secrets["cookie"] = cookie.Value
			}
			secrets["decision"] = b.Get(c.Question()).Fields().Get("token")
			code := c.Decide(b, c.Question(), "allow").Query().Get("code")
			secrets["code"] = code
			refused(c.Exchange("", c.Grant(code, "code_verifier", strings.Repeat("v", 43))))
			refused(c.Exchange("", c.Grant(code, "client_secret", "x")))
			text := c.Exchange("", c.Grant(code)).Want(t, 200)
			secrets["token by code"] = strings.TrimSuffix(strings.TrimPrefix(string(text.Bytes), "access_token="),
				"&token_type=Bearer")
			refused(c.Exchange("", c.Grant(code)))
			fragment, _ := url.ParseQuery(c.Decide(b, c.Question("response_type", "token"), "allow").EscapedFragment())
			secrets["token in an address"] = fragment.Get("access_token")
			s.Client("").Get("/users/me?access_token="+secrets["token in an address"]).Want(t, 200)
			s.Client("").Do("POST", "/login/oauth/tokeninfo?access_token="+secrets["token in an address"], nil).Want(t, 200)
			refused(s.Client("").Get("/users/me?access_token=" + secrets["token by code"]))
			refused(s.Client("").Do("POST", "/login/oauth/tokeninfo?access_token="+secrets["token by code"], nil))
			issuer.SetUser(oidctest.Claims{"sub": "1"})
			elsewhere := s.Browser()
			back := elsewhere.Follow(elsewhere.Get("/login/oidc")).Header.Get("Location")
			for _, name := range []string{"code", "state"} {
				u, _ := url.Parse(back)
				secrets["the provider's "+name] = u.Query().Get(name)
			}
			refused(s.Browser().Get(back))
			elsewhere.Get(back).Want(t, 303)
			secrets["ID token"] = issuer.Sign(oidctest.Claims{"sub": "1"})
			s.Client(secrets["ID token"]).Get("/users/me").Want(t, 200)
			secrets["wrong ID token"] = issuer.Sign(oidctest.Claims{"sub": "1", "aud": "x"})
			refused(s.Client(secrets["wrong ID token"]).Get("/users/me"))
			var made madeToken
			ada.Query(makeToken, servertest.Object{"input": servertest.Object{"name": "x", "scopes": []string{"READ"}}}, &made)
			secrets["made token"] = made.CreateToken.Secret

			if strings.Count(logged.String(), "path=/login/oauth/access_token") < 4 {
				t.Fatalf("the log was not captured: %s", logged)
			}
			for name, secret := range secrets {
				if len(secret) < 10 {
					t.Errorf("%s is %q", name, secret)
				}
				for _, form := range []string{secret, url.QueryEscape(secret)} {
					if strings.Contains(logged.String(), form) {
						t.Errorf("the log holds the %s", name)
					}
					if strings.Contains(refusals.String(), form) {
						t.Errorf("a refusal repeats the %s", name)
					}
				}
			}
		})
	}
}
