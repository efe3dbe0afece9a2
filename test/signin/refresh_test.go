package signin_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/meshyard/meshyard/models/account"
	"github.com/meshyard/meshyard/test/servertest"
)

// issued is a response of the token endpoint.
type issued struct {
	AccessToken  string `json:"access_token"`
	RefreshToken string `json:"refresh_token"`
	ExpiresIn    int    `json:"expires_in"`
	Scope        string
}

// TestRefreshTokens checks that tokens of applications that use PKCE expire and can be refreshed. A
// refresh token can be used once; a second use ends the sign-in.
func TestRefreshTokens(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		c, other := servertest.NewOAuthClient(t, s, account.NewApplication{}),
			servertest.NewOAuthClient(t, s, account.NewApplication{})
		b, _ := servertest.SignedIn(t, s, "ada")
		signIn := func() (first issued, code string) {
			code = c.Decide(b, c.Question(), "allow").Query().Get("code")
			c.Exchange("application/json", c.Grant(code)).Want(t, 200, &first)
			return first, code
		}
		works := func(token string) bool { return s.Client(token).Get("/users/me").StatusCode == http.StatusOK }

		first, _ := signIn()
		if first.RefreshToken == "" || first.ExpiresIn < 3500 || first.ExpiresIn > 3600 || !works(first.AccessToken) {
			t.Fatalf("the first token is %+v", first)
		}
		c.Refused("another application", other.Refresh(first.RefreshToken), 400, "invalid_grant")
		c.Refused("unknown", c.Refresh("x"), 400, "invalid_grant")
		c.Refused("none", c.Refresh(""), 400, "invalid_grant")
		c.Refused("an access token", c.Refresh(first.AccessToken), 400, "invalid_grant")
		var second issued
		c.Refresh(first.RefreshToken).Want(t, 200, &second)
		if second.Scope != "read" || second.RefreshToken == first.RefreshToken || !works(second.AccessToken) ||
			works(first.AccessToken) {
			t.Errorf("the second token is %+v; it works: %v, the first one works: %v", second, works(second.AccessToken),
				works(first.AccessToken))
		}
		c.Refused("used before", c.Refresh(first.RefreshToken), 400, "invalid_grant")
		c.Refused("after the end", c.Refresh(second.RefreshToken), 400, "invalid_grant")
		if works(second.AccessToken) {
			t.Error("a sign-in goes on after its refresh token was used twice")
		}

		// Of several concurrent uses one succeeds, and the others end the sign-in.
		third, _ := signIn()
		var group sync.WaitGroup
		var mu sync.Mutex
		var tokens []issued
		for range 4 {
			group.Go(func() {
				if r := c.Refresh(third.RefreshToken); r.StatusCode == http.StatusOK {
					var token issued
					r.Want(t, 200, &token)
					mu.Lock()
					defer mu.Unlock()
					tokens = append(tokens, token)
				}
			})
		}
		group.Wait()
		if len(tokens) != 1 || works(tokens[0].AccessToken) {
			t.Errorf("%d of 4 uses at once succeeded", len(tokens))
		}

		// A code that is used twice must have leaked, so its second use ends the sign-in, even after a
		// refresh.
		third, code := signIn()
		c.Refresh(third.RefreshToken).Want(t, 200, &second)
		c.Refused("a code used twice", c.Exchange("", c.Grant(code)), 400, "invalid_grant")
		if works(second.AccessToken) || c.Refresh(second.RefreshToken).StatusCode == http.StatusOK {
			t.Error("a sign-in goes on after its code was used twice")
		}

		// Revoking the access token ends the sign-in.
		third, _ = signIn()
		result, err := servertest.OpenDB(t, s).SQL().
			Exec("UPDATE tokens SET revoked_at = created_at WHERE revoked_at IS NULL AND application_id IS NOT NULL")
		if err != nil {
			t.Fatal(err)
		}
		revoke, _ := result.RowsAffected()
		if revoke == 0 || c.Refresh(third.RefreshToken).StatusCode == http.StatusOK {
			t.Errorf("%d tokens were revoked, and the refresh token works", revoke)
		}

		// An application that does not use PKCE gets a token that does not expire, as before.
		code = c.Decide(b, c.Question("code_challenge", "", "code_challenge_method", ""), "allow").Query().Get("code")
		old := string(c.Exchange("", c.Grant(code, "code_verifier", "")).Want(t, 200).Bytes)
		if strings.Contains(old, "expires") || strings.Contains(old, "refresh") {
			t.Errorf("the response to a legacy client is %s", old)
		}
	})
}
