package oidc

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/meshyard/meshyard/internal/auth"
)

// ErrNotAdmitted reports that the provider has authenticated a user, but Rules do not admit them.
var ErrNotAdmitted = errors.New("the account at the OpenID provider is not allowed to use this server")

// Rules define which claims describe a user, and what the claims decide. A claim is named by a key
// of the ID token, or by a path of keys separated by dots, such as realm_access.roles.
type Rules struct {
	UsernameClaim string // default: preferred_username
	NameClaim     string // of the display name; default: given_name and family_name, or else name
	EmailClaim    string // default: email

	// AllowUnverifiedEmail accepts e-mail addresses without email_verified. If it is false, only the
	// claim email can be accepted, because email_verified refers to no other claim.
	AllowUnverifiedEmail bool

	GroupsClaim    string   // default: groups
	AllowedGroups  []string // empty: all
	AllowedDomains []string // of the e-mail address; empty: all

	// RoleClaim is the claim whose values decide the roles: a user has the role administrator or
	// moderator if the claim contains one of the values in Administrators or Moderators. If the list
	// of a role is empty, the provider does not decide that role. Default: GroupsClaim.
	RoleClaim      string
	Administrators []string
	Moderators     []string
}

func (r Rules) usernameClaim() string { return cmp.Or(r.UsernameClaim, "preferred_username") }
func (r Rules) emailClaim() string    { return cmp.Or(r.EmailClaim, "email") }
func (r Rules) groupsClaim() string   { return cmp.Or(r.GroupsClaim, "groups") }
func (r Rules) roleClaim() string     { return cmp.Or(r.RoleClaim, r.groupsClaim()) }

// lacking reports whether a claim that the rules use is missing.
func (r Rules) lacking(c claims) bool {
	names := []string{r.usernameClaim(), r.emailClaim()}
	switch {
	case r.NameClaim != "":
		names = append(names, r.NameClaim)
	case c.value("given_name") == nil && c.value("family_name") == nil:
		names = append(names, "name")
	}
	if !r.AllowUnverifiedEmail {
		names = append(names, "email_verified")
	}
	if len(r.AllowedGroups) > 0 {
		names = append(names, r.groupsClaim())
	}
	if len(r.Administrators)+len(r.Moderators) > 0 {
		names = append(names, r.roleClaim())
	}
	return slices.ContainsFunc(names, func(name string) bool { return c.value(name) == nil })
}

// identify sets the fields of id that describe the user, except roles, from the claims. It returns
// ErrNotAdmitted if the rules do not admit the user.
func (r Rules) identify(c claims, id *auth.Identity) error {
	id.Username = c.text(r.usernameClaim())
	switch {
	case r.NameClaim != "":
		id.FirstName, id.LastName = splitName(c.text(r.NameClaim))
	case c.text("given_name") == "" && c.text("family_name") == "":
		id.FirstName, id.LastName = splitName(c.text("name"))
	default:
		id.FirstName, id.LastName = c.text("given_name"), c.text("family_name")
	}
	id.Email = r.email(c)
	if len(r.AllowedGroups) > 0 && !intersect(r.AllowedGroups, c.texts(r.groupsClaim())) {
		return fmt.Errorf("%w: the claim %s has none of the allowed groups", ErrNotAdmitted, r.groupsClaim())
	}
	if len(r.AllowedDomains) > 0 {
		_, domain, _ := cutLast(id.Email, "@")
		if !slices.ContainsFunc(r.AllowedDomains, func(allowed string) bool {
			return domain != "" &&
				strings.EqualFold(domain, allowed)
		}) {
			return fmt.Errorf("%w: the claim %s has no verified address of an allowed domain", ErrNotAdmitted, r.emailClaim())
		}
	}
	return nil
}

// decideRoles sets the roles in id from the claims.
func (r Rules) decideRoles(c claims, id *auth.Identity) {
	has := c.texts(r.roleClaim())
	decide := func(values []string) *bool {
		if len(values) == 0 {
			return nil
		}
		given := intersect(values, has)
		return &given
	}
	id.IsAdministrator, id.IsModerator = decide(r.Administrators), decide(r.Moderators)
}

// email returns the e-mail address, or "" if there is none that can be trusted.
func (r Rules) email(c claims) string {
	address := c.text(r.emailClaim())
	if address == "" || r.AllowUnverifiedEmail {
		return address
	}
	for _, source := range c {
		// If a source has another address, its email_verified does not apply to this one.
		if email, told := source["email"]; r.emailClaim() == "email" && (!told || email == address) &&
			isTrue(source["email_verified"]) {
			return address
		}
	}
	return ""
}

// claims are the sources of claims in order of precedence: the ID token, then UserInfo.
type claims []map[string]any

// value returns a claim, or nil if no source has it.
func (c claims) value(name string) any {
	for _, source := range c {
		if v := lookup(source, name); v != nil {
			return v
		}
	}
	return nil
}

// lookup returns the value of a key. If there is no such key, it treats the name as a path of keys
// separated by dots.
func lookup(object map[string]any, name string) any {
	if v, ok := object[name]; ok {
		return v
	}
	first, rest, isPath := strings.Cut(name, ".")
	if !isPath {
		return nil
	}
	inner, _ := object[first].(map[string]any)
	return lookup(inner, rest)
}

// text returns a claim that is a string, or "".
func (c claims) text(name string) string {
	s, _ := c.value(name).(string)
	return strings.TrimSpace(s)
}

// texts returns the values of a claim as strings. The claim is a list of strings, one string, a
// boolean, which becomes "true" or "false", or an object whose keys are the values if theirs are
// objects, too. The last is how Zitadel writes roles: {"admin": {"ORGANIZATION-ID": "DOMAIN"}}.
func (c claims) texts(name string) []string {
	switch v := c.value(name).(type) {
	case string:
		return []string{v}
	case bool:
		return []string{fmt.Sprint(v)}
	case []any:
		var list []string
		for _, one := range v {
			if s, ok := one.(string); ok {
				list = append(list, s)
			}
		}
		return list
	case map[string]any:
		var list []string
		for key, granted := range v {
			if _, ok := granted.(map[string]any); ok {
				list = append(list, key)
			}
		}
		return list
	}
	return nil
}

// isTrue reports whether the value of a claim is true. Some providers write booleans as strings.
func isTrue(v any) bool { return v == true || v == "true" }

func intersect(a, b []string) bool {
	return slices.ContainsFunc(a, func(one string) bool { return slices.Contains(b, one) })
}

// splitName splits a display name at its last space.
func splitName(name string) (first, last string) {
	first, last, ok := cutLast(name, " ")
	if !ok {
		return name, ""
	}
	return strings.TrimSpace(first), last
}

func cutLast(s, separator string) (before, after string, found bool) {
	if i := strings.LastIndex(s, separator); i >= 0 {
		return s[:i], s[i+len(separator):], true
	}
	return s, "", false
}
