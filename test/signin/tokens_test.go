package signin_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/auth/oauth"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/models/account"
	"github.com/meshyard/meshyard/test/servertest"
)

const makeToken = `mutation ($input: CreateTokenInput!) { createToken(input: $input) { secret token { id name scopes expiresAt application { name } } } }`

type madeToken struct {
	CreateToken struct {
		Secret string
		Token  struct {
			ID, Name  string
			Scopes    []string
			ExpiresAt *time.Time
		}
	}
}

// TestTokens checks that users can create tokens with no more scopes than the token they use, can
// list them, and can revoke them with immediate effect.
func TestTokens(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		input := func(name string, expires any, scopes ...string) servertest.Object {
			return servertest.Object{"input": servertest.Object{"name": name, "scopes": scopes, "expiresAt": expires}}
		}
		var made madeToken
		soon := time.Now().Add(time.Hour).UTC().Truncate(time.Millisecond)
		ada.Query(makeToken, input("laptop", soon, "READ", "WRITE"), &made)
		if k := made.CreateToken.Token; k.Name != "laptop" || fmt.Sprint(k.Scopes) != "[READ WRITE]" || k.ExpiresAt == nil ||
			!k.ExpiresAt.Equal(soon) {
			t.Errorf("got %+v, want the token laptop to read and write until %v", k, soon)
		}
		laptop := s.Client(made.CreateToken.Secret)
		laptop.Thing("From the laptop")
		var short madeToken
		laptop.Query(makeToken, input("phone", nil, "WRITE"), &short)
		if at := short.CreateToken.Token.ExpiresAt; at == nil || !at.Equal(soon) {
			t.Errorf("a token that a token created: got expiry %v, want that of its creator, %v", at, soon)
		}
		for name, try := range map[string]struct {
			by   *servertest.Client
			in   servertest.Object
			want string
		}{
			"more than it has":     {ada, input("x", nil, "READ", "ADMIN"), "FORBIDDEN"},
			"longer than it lives": {laptop, input("x", soon.Add(time.Second), "READ"), "BAD_USER_INPUT"},
			"in the past":          {ada, input("x", time.Now().Add(-time.Second), "READ"), "BAD_USER_INPUT"},
			"for nothing":          {ada, input("x", nil), "BAD_USER_INPUT"},
			"what it lacks":        {s.Client(short.CreateToken.Secret), input("x", nil, "READ"), "FORBIDDEN"},
			"by a reader":          {s.Client(s.Token("ada", "read")), input("x", nil, "READ"), "FORBIDDEN"},
			"too long a name":      {ada, input(string(make([]rune, 201)), nil, "READ"), "BAD_USER_INPUT"},
		} {
			if code := try.by.GraphQL(makeToken, try.in).Code(); code != try.want {
				t.Errorf("%s: %q, want %s", name, code, try.want)
			}
		}

		var list struct {
			Tokens struct {
				TotalCount int
				Nodes      []struct {
					ID, Name   string
					LastUsedAt *time.Time
				}
			}
		}
		const all = `{ tokens { totalCount nodes { id name scopes createdAt lastUsedAt expiresAt revokedAt application { name } } } }`
		if err := s.Store.Activity.SaveActivity(context.Background()); err != nil {
			t.Fatal(err)
		}
		ada.Query(all, nil, &list)
		if list.Tokens.TotalCount != 4 || list.Tokens.Nodes[1].Name != "phone" || list.Tokens.Nodes[2].Name != "laptop" {
			t.Errorf("got tokens %+v of ada, want 4, with phone before laptop", list)
		}
		if at := list.Tokens.Nodes[2].LastUsedAt; at == nil || time.Since(*at).Abs() > time.Minute {
			t.Errorf("laptop: got last use %v, want within the last minute", at)
		}
		if at := list.Tokens.Nodes[0].LastUsedAt; at == nil {
			t.Error("a token that was refused something was used all the same")
		}

		revoke := func(by *servertest.Client, id string) string {
			return by.GraphQL(`mutation ($id: ID!) { revokeToken(input: {id: $id}) { token { revokedAt } } }`,
				servertest.Object{"id": id}).Code()
		}
		if code := revoke(bob, made.CreateToken.Token.ID); code != "NOT_FOUND" {
			t.Errorf("bob revokes ada's token: got %q, want NOT_FOUND", code)
		}
		laptop.Get("/users/me").Want(t, 200) // the result is cached now
		if code := revoke(ada, made.CreateToken.Token.ID); code != "" {
			t.Errorf("ada revokes her token: got %q, want no error", code)
		}
		laptop.Get("/users/me").Want(t, 401)
		if code := revoke(ada, made.CreateToken.Token.ID); code != "" {
			t.Errorf("ada revokes it again: got %q, want no error", code)
		}
		ada.Query(all, nil, &list)
		if list.Tokens.TotalCount != 3 {
			t.Errorf("after one was revoked: got tokens %+v, want 3", list)
		}
	})
}

// TestTokensOfApplications checks that a token that was issued to an application is listed as such,
// cannot create tokens, and can revoke only itself.
func TestTokensOfApplications(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		b, ada := servertest.SignedIn(t, s, "ada")
		c := servertest.NewOAuthClient(t, s, account.NewApplication{Name: "Slicer"})
		var token struct {
			AccessToken string `json:"access_token"`
		}
		code := c.Decide(b, c.Question("scope", "read write"), "allow").Query().Get("code")
		c.Exchange("application/json", c.Grant(code)).Want(t, 200, &token)
		slicer := s.Client(token.AccessToken)
		var list struct {
			Tokens struct {
				Nodes []struct {
					ID, Name    string
					Application *struct{ Name, ClientID string }
				}
			}
		}
		ada.Query(`{ tokens { nodes { id name application { name clientId } } } }`, nil, &list)
		if n := list.Tokens.Nodes; len(n) != 2 || n[0].Application == nil || n[0].Application.ClientID != c.ID ||
			n[1].Application != nil {
			t.Fatalf("got tokens %+v of ada, want one of the application and one of her own", n)
		}
		if code := slicer.GraphQL(makeToken,
			servertest.Object{"input": servertest.Object{"name": "x", "scopes": []string{"READ"}}}).Code(); code != "FORBIDDEN" {
			t.Errorf("an application creates a token: got %q, want FORBIDDEN", code)
		}
		revoke := func(by *servertest.Client, id string) string {
			return by.GraphQL(`mutation ($id: ID!) { revokeToken(input: {id: $id}) { token { id } } }`,
				servertest.Object{"id": id}).Code()
		}
		if code := revoke(slicer, list.Tokens.Nodes[1].ID); code != "FORBIDDEN" {
			t.Errorf("an application revokes another token of ada: got %q, want FORBIDDEN", code)
		}
		if code := revoke(slicer, list.Tokens.Nodes[0].ID); code != "" {
			t.Errorf("an application revokes its own token: got %q, want no error", code)
		}
		slicer.Get("/users/me").Want(t, 401)
	})
}

// TestApplications checks that administrators can register and delete applications.
func TestApplications(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		admin, ada := s.Administrator(), s.User("ada")
		const create = `mutation ($input: CreateApplicationInput!) { createApplication(input: $input) { clientSecret application { clientId name redirectUris isPublic allowsImplicit } } }`
		var made struct {
			CreateApplication struct {
				ClientSecret *string
				Application  struct{ ClientID string }
			}
		}
		admin.Query(create, servertest.Object{"input": servertest.Object{"name": "Slicer",
			"redirectUris": []string{servertest.Redirect}}}, &made)
		c := &servertest.OAuthClient{T: t, S: s, ID: made.CreateApplication.Application.ClientID,
			Secret: *made.CreateApplication.ClientSecret}
		for name, in := range map[string]servertest.Object{
			"http":                {"name": "x", "redirectUris": []string{"http://app.example/"}},
			"a fragment":          {"name": "x", "redirectUris": []string{servertest.Redirect + "#x"}},
			"no name":             {"name": " ", "redirectUris": []string{}},
			"public, and nowhere": {"name": "x", "redirectUris": []string{}, "isPublic": true},
			"control":             {"name": "a\nb", "redirectUris": []string{}},
			"many":                {"name": "x", "redirectUris": make([]string, 21)},
		} {
			if code := admin.GraphQL(create, servertest.Object{"input": in}).Code(); code != "BAD_USER_INPUT" {
				t.Errorf("%s: %q", name, code)
			}
		}
		var list struct {
			Applications []struct{ Name, ClientID string }
		}
		admin.Query(`{ applications { name clientId redirectUris isPublic allowsImplicit createdAt } }`, nil, &list)
		if len(list.Applications) != 1 || list.Applications[0].ClientID != c.ID {
			t.Errorf("got applications %+v, want %s only", list, c.ID)
		}
		for _, document := range []string{`{ applications { name } }`,
			`mutation { createApplication(input: {name: "x", redirectUris: []}) { clientSecret } }`,
			fmt.Sprintf(`mutation { deleteApplication(input: {clientId: %q}) { deletedClientId } }`, c.ID)} {
			if code := ada.GraphQL(document, nil).Code(); code != "FORBIDDEN" {
				t.Errorf("%s by ada: got %q, want FORBIDDEN", document, code)
			}
		}
		remove := func() string {
			return admin.GraphQL(fmt.Sprintf(`mutation { deleteApplication(input: {clientId: %q}) { deletedClientId } }`, c.ID),
				nil).Code()
		}
		if code := remove(); code != "" {
			t.Errorf("remove: got %q, want no error", code)
		}
		if code := remove(); code != "NOT_FOUND" {
			t.Errorf("remove again: got %q, want NOT_FOUND", code)
		}
		c.Refused("a forgotten application", c.Exchange("", c.Grant("x")), 401, "invalid_client")
	})
}

// TestTokenCaps checks that a user has at most 100 valid personal tokens, and that the last 50
// tokens of an application for each user are valid.
func TestTokenCaps(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob") // each has one token already
		ctx := context.Background()
		input := servertest.Object{"input": servertest.Object{"name": "x", "scopes": []string{"READ"}}}
		for range 98 {
			s.Token("ada", auth.Read)
		}
		var group sync.WaitGroup
		var made atomic.Int32
		for range 4 { // only one more is allowed
			group.Go(func() {
				if result := ada.GraphQL(makeToken, input); result.Code() == "" {
					made.Add(1)
				} else if e := result.Errors[0]; e.Extensions.Code != "CONFLICT" || e.Extensions.Limit != 100 {
					t.Errorf("token 101: got %+v, want CONFLICT with the limit 100", e)
				}
			})
		}
		group.Wait()
		if made.Load() != 1 {
			t.Errorf("%d tokens were made beside 99, want 1", made.Load())
		}
		bob.Query(makeToken, input, new(any))
		var list struct {
			Tokens struct{ Nodes []struct{ ID string } }
		}
		ada.Query(`{ tokens(first: 1) { nodes { id } } }`, nil, &list)
		ada.Query(`mutation ($id: ID!) { revokeToken(input: {id: $id}) { token { id } } }`,
			servertest.Object{"id": list.Tokens.Nodes[0].ID}, new(any))
		ada.Query(makeToken, input, new(any))

		_, a, err := s.Store.Account.Admin().
			RegisterApplication(ctx, account.NewApplication{Name: "Slicer", RedirectURIs: []string{servertest.Redirect}})
		if err != nil {
			t.Fatal(err)
		}
		issue := map[string]func() (*oauth.Token, error){
			"of a user": func() (*oauth.Token, error) {
				return s.Store.Account.AuthorizeImplicitly(ctx, oauth.Grant{Application: &oauth.Application{ID: a.ID}, UserID: 1,
					Scopes: auth.Scopes{auth.Read}})
			},
			"of its own": func() (*oauth.Token, error) {
				return s.Store.Account.IssueOwn(ctx, &oauth.Application{ID: a.ID, Name: "Slicer"})
			},
		}
		for name, issue := range issue {
			var tokens []string
			for range 52 {
				token, err := issue()
				if err != nil {
					t.Fatal(err)
				}
				tokens = append(tokens, token.Text)
			}
			for i, want := range map[int]int{0: 401, 1: 401, 2: 200, 51: 200} {
				if got := s.Client(tokens[i]).Get("/users/ada").StatusCode; got != want {
					t.Errorf("token %d %s: %d, want %d", i, name, got, want)
				}
			}
		}
		ada.Get("/users/me").Want(t, 200)
	})
}

// TestRateLimitIsByUser checks that the requests of a user are counted together, whatever tokens
// they use.
func TestRateLimitIsByUser(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		second := s.Client(s.Token("ada", auth.Read))
		for i, want := range []int{200, 200, 200, 429} {
			by := []*servertest.Client{ada, second}[i%2]
			by.Get("/users/ada").Want(t, want)
		}
		bob.Get("/users/ada").Want(t, 200)
	}, func(c *config.Settings) { c.RateLimit = 3 })
}

// TestWriteOnlyTokenReadsNoLists checks that a token with only the scope write cannot read the
// catalogue through the payloads of mutations.
func TestWriteOnlyTokenReadsNoLists(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		s.User("ada")
		writer, both := s.Client(s.Token("ada", auth.Write)), s.Client(s.Token("ada", auth.Read, auth.Write))
		const create = `mutation { createThing(input: {name: "x", category: "Art", license: CC}) { thing { id name creator { username } %s } } }`
		for _, list := range []string{`category { things { nodes { id } } }`, `category { children { name } }`,
			`...F } } } fragment F on Thing { likers { nodes { id`, `creator { ... on User { things { totalCount } } }`} {
			if code := writer.GraphQL(fmt.Sprintf(create, list), nil).Code(); code != "FORBIDDEN" {
				t.Errorf("%s by a token that only writes: %q, want FORBIDDEN", list, code)
			}
			if result := both.GraphQL(fmt.Sprintf(create, list), nil); result.Code() != "" {
				t.Errorf("%s by a token that can read: got %+v, want no error", list, result.Errors)
			}
		}
		writer.Query(fmt.Sprintf(create, "category { name } tags { name } files { id }"), nil, new(any))
		writer.Thing("By REST")
	})
}
