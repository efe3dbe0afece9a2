package oidc

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshyard/meshyard/internal/auth"
)

func source(t *testing.T, text string) map[string]any {
	t.Helper()
	var s map[string]any
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRulesIdentify(t *testing.T) {
	for name, c := range map[string]struct {
		rules   Rules
		sources []string
		want    auth.Identity
	}{
		"standard claims": {
			sources: []string{`{"preferred_username": "ada", "given_name": "Ada", "family_name": "Lovelace", "name": "A. L.", "email": "ada@id.example", "email_verified": true}`},
			want:    auth.Identity{Username: "ada", FirstName: "Ada", LastName: "Lovelace", Email: "ada@id.example"},
		},
		"name only": {sources: []string{`{"name": "Ada King Lovelace"}`},
			want: auth.Identity{FirstName: "Ada King", LastName: "Lovelace"}},
		"one word": {sources: []string{`{"name": "Ada"}`}, want: auth.Identity{FirstName: "Ada"}},
		"mapped": {rules: Rules{UsernameClaim: "uid", NameClaim: "ldap.cn"},
			sources: []string{`{"uid": "ada", "preferred_username": "x", "name": "x", "ldap": {"cn": "Ada L."}}`},
			want:    auth.Identity{Username: "ada", FirstName: "Ada", LastName: "L."}},
		"key with dots before path": {rules: Rules{UsernameClaim: "a.b"},
			sources: []string{`{"a": {"b": "path"}, "a.b": "key"}`}, want: auth.Identity{Username: "key"}},
		"wrong types": {sources: []string{`{"preferred_username": 7, "name": ["x"], "email": {}, "email_verified": true}`}},
		"UserInfo fills in": {sources: []string{`{"preferred_username": "ada"}`,
			`{"preferred_username": "eve", "email": "ada@id.example", "email_verified": true}`},
			want: auth.Identity{Username: "ada", Email: "ada@id.example"}},
		"verified by UserInfo": {sources: []string{`{"email": "ada@id.example"}`,
			`{"email": "ada@id.example", "email_verified": "true"}`}, want: auth.Identity{Email: "ada@id.example"}},
		"another address is verified": {sources: []string{`{"email": "ada@id.example"}`,
			`{"email": "eve@id.example", "email_verified": true}`}},
		"unverified": {sources: []string{`{"email": "ada@id.example", "email_verified": "false"}`}},
		"unverified, allowed": {rules: Rules{AllowUnverifiedEmail: true},
			sources: []string{`{"email": "ada@id.example"}`}, want: auth.Identity{Email: "ada@id.example"}},
		"mapped address, not verified": {rules: Rules{EmailClaim: "upn"},
			sources: []string{`{"upn": "ada@id.example", "email": "eve@id.example", "email_verified": true}`}},
		"mapped address, allowed": {rules: Rules{EmailClaim: "upn", AllowUnverifiedEmail: true},
			sources: []string{`{"upn": "ada@id.example"}`}, want: auth.Identity{Email: "ada@id.example"}},
	} {
		var said claims
		for _, text := range c.sources {
			said = append(said, source(t, text))
		}
		var got auth.Identity
		if err := c.rules.identify(said, &got); err != nil || got != c.want {
			t.Errorf("%s: %v, %s", name, err, cmp.Diff(c.want, got))
		}
	}
}

func TestRulesAdmit(t *testing.T) {
	staff, domain := Rules{AllowedGroups: []string{"staff", "lab"}}, Rules{AllowedDomains: []string{"id.example"}}
	for name, c := range map[string]struct {
		rules Rules
		text  string
		want  bool
	}{
		"no restriction":         {Rules{}, `{}`, true},
		"in a group":             {staff, `{"groups": ["x", "lab"]}`, true},
		"one group as a string":  {staff, `{"groups": "staff"}`, true},
		"in another group":       {staff, `{"groups": ["staff2", "Staff", ""]}`, false},
		"no groups":              {staff, `{}`, false},
		"groups of Zitadel":      {staff, `{"groups": {"lab": {"123": "id.example"}}}`, true},
		"groups of a wrong type": {staff, `{"groups": {"staff": true}}`, false},
		"another claim": {Rules{AllowedGroups: []string{"staff"}, GroupsClaim: "realm_access.roles"},
			`{"groups": ["staff"], "realm_access": {"roles": ["x"]}}`, false},
		"a path": {Rules{AllowedGroups: []string{"staff"}, GroupsClaim: "realm_access.roles"},
			`{"realm_access": {"roles": ["x", "staff"]}}`, true},
		"domain":               {domain, `{"email": "ada@ID.example", "email_verified": true}`, true},
		"domain not verified":  {domain, `{"email": "ada@id.example"}`, false},
		"subdomain":            {domain, `{"email": "ada@x.id.example", "email_verified": true}`, false},
		"domain as local part": {domain, `{"email": "ada@id.example@evil.example", "email_verified": true}`, false},
		"no address":           {domain, `{"email_verified": true}`, false},
		"no domain":            {domain, `{"email": "id.example", "email_verified": true}`, false},
		"domain and group": {Rules{AllowedGroups: []string{"staff"}, AllowedDomains: []string{"id.example"}},
			`{"groups": ["staff"], "email": "a@x.example", "email_verified": true}`, false},
	} {
		err := c.rules.identify(claims{source(t, c.text)}, new(auth.Identity))
		if (err == nil) != c.want || err != nil && !errors.Is(err, ErrNotAdmitted) {
			t.Errorf("%s: %v, want admitted: %t", name, err, c.want)
		}
	}
}

func TestRulesRoles(t *testing.T) {
	yes, no := true, false
	for name, c := range map[string]struct {
		rules            Rules
		text             string
		admin, moderator *bool
	}{
		"undecided":     {Rules{}, `{"groups": ["admins"]}`, nil, nil},
		"administrator": {Rules{Administrators: []string{"admins"}}, `{"groups": ["admins"]}`, &yes, nil},
		"neither": {Rules{Administrators: []string{"admins"}, Moderators: []string{"mods"}}, `{"groups": ["x"]}`,
			&no, &no},
		"no claim": {Rules{Moderators: []string{"mods"}}, `{}`, nil, &no},
		"boolean":  {Rules{RoleClaim: "is_admin", Administrators: []string{"true"}}, `{"is_admin": true}`, &yes, nil},
		"Zitadel": {Rules{RoleClaim: "urn:zitadel:iam:org:project:roles", Administrators: []string{"admin"},
			Moderators: []string{"mod"}}, `{"urn:zitadel:iam:org:project:roles": {"admin": {"123": "id.example"}, "mod": null}}`,
			&yes, &no},
		"another claim": {Rules{RoleClaim: "role", Moderators: []string{"mods"}}, `{"groups": ["mods"]}`, nil, &no},
	} {
		var got auth.Identity
		c.rules.decideRoles(claims{source(t, c.text)}, &got)
		if want := (auth.Identity{IsAdministrator: c.admin, IsModerator: c.moderator}); !cmp.Equal(got, want) {
			t.Errorf("%s: %s", name, cmp.Diff(want, got))
		}
	}
}
