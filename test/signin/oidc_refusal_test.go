package signin_test

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/auth/oidc/oidctest"
	"github.com/meshyard/meshyard/internal/telemetry"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestOpenIDRefusals checks that each way in which an ID token or a response of the provider can be
// wrong has a log line of its own, and that a program that sent the token reads the same reason.
func TestOpenIDRefusals(t *testing.T) {
	t.Parallel()
	issuer, log := oidctest.New(t), new(servertest.LogBuffer)
	settings := servertest.Settings(t, "sqlite")
	settings.OIDCIssuer, settings.OIDCClientID, settings.OIDCClientSecret = issuer.URL, issuer.ClientID, issuer.Secret
	s := servertest.RunLogging(t, settings, telemetry.WithRequest(slog.NewJSONHandler(log, nil)))

	hour := time.Now().Add(time.Hour).Unix()
	good := issuer.Sign(oidctest.Claims{"sub": "1"})
	parts := strings.Split(good, ".")
	for token, want := range map[string]string{
		issuer.Sign(oidctest.Claims{"sub": "1",
			"iss": "https://evil.example"}): `its issuer (iss) is "https://evil.example", want "` + issuer.URL,
		issuer.Sign(oidctest.Claims{"sub": "1",
			"aud": []string{"a", "b"}}): `its audience (aud) is "a b", want the client ID "meshyard"`,
		issuer.Sign(oidctest.Claims{"sub": "1", "exp": time.Now().Add(-time.Hour).Unix()}): "it expired (exp) at ",
		issuer.Sign(oidctest.Claims{"sub": "1", "nbf": hour, "exp": hour + 60}):            "it is not valid before (nbf) ",
		oidctest.New(t).Sign(oidctest.Claims{"sub": "1", "iss": issuer.URL}):               "its signature matches no key",
		"eyJhbGciOiJub25lIn0." + parts[1] +
			".": `its signature algorithm is "none", want one of RS256`,
		"ey.ey.ey": "it is not a signed JWT",
		issuer.Sign(oidctest.Claims{"sub": "1", "iss": strings.Repeat("x", 9_000)}): `its issuer (iss) is "` +
			strings.Repeat("x", 200) + `", want`,
	} {
		r := s.Client(token).Get("/users/me").Want(t, http.StatusUnauthorized)
		if text := strings.ReplaceAll(string(r.Bytes), `\"`, `"`); !strings.Contains(text, want) {
			t.Errorf("got the response %s, want %s", text, want)
		}
		if lines := log.With(t, "error", reasonWith(t, log, "ID token rejected", want)); len(lines) != 1 {
			t.Errorf("%s: %d log lines, want one", want, len(lines))
		}
	}
	if strings.Contains(log.String(), parts[1]) {
		t.Error("the log has claims of a token")
	}

	for name, c := range map[string]struct {
		claims      oidctest.Claims
		query, line string
		want        string
	}{
		"nonce": {oidctest.Claims{"sub": "1", "nonce": "x"}, "", "OpenID sign-in rejected",
			"the nonce of the ID token is not that of this sign-in"},
		"audience": {oidctest.Claims{"sub": "1", "aud": "x"}, "", "OpenID sign-in rejected", `its audience (aud) is "x"`},
		"code": {oidctest.Claims{"sub": "1"}, "code=x", "OpenID sign-in rejected",
			`the token endpoint returned 400 Bad Request "invalid_grant"`},
		"error": {oidctest.Claims{"sub": "1"}, "error=access_denied&error_description=Ada+is+blocked&x=",
			"the OpenID provider rejected the sign-in", "access_denied"},
	} {
		issuer.SetUser(c.claims)
		b := s.Browser()
		there := b.Follow(b.Get("/login/oidc")).Want(t, http.StatusFound).Header.Get("Location")
		if c.query != "" {
			there = strings.Replace(there, "code=", c.query, 1)
		}
		b.Get(there).Want(t, http.StatusForbidden)
		if reasonWith(t, log, c.line, c.want) == "" {
			t.Errorf("%s: no line %q with %q in the log", name, c.line, c.want)
		}
	}
	if len(log.With(t, "description", "Ada is blocked")) != 1 {
		t.Error("the description of the provider's error is not in the log")
	}
}

// reasonWith returns the error of the log line with a message whose error contains a text, or "".
func reasonWith(t *testing.T, log *servertest.LogBuffer, message, text string) string {
	t.Helper()
	for _, line := range log.With(t, "msg", message) {
		if reason, _ := line["error"].(string); strings.Contains(reason, text) {
			return reason
		}
	}
	return ""
}
