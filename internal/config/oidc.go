package config

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
)

// checkOIDC returns an error that names the first invalid setting of OpenID Connect.
func (s *Settings) checkOIDC() error {
	if (s.OIDCIssuer == "") != (s.OIDCClientID == "") || s.OIDCIssuer == "" && s.OIDCClientSecret != "" {
		return fmt.Errorf("--oidc-issuer and --oidc-client-id: must be set together")
	}
	if s.OIDCIssuer == "" {
		// Settings that have a default are not among these.
		set := map[string]bool{
			"--oidc-allowed-groups": len(s.OIDCAllowedGroups) > 0, "--oidc-allowed-domains": len(s.OIDCAllowedDomains) > 0,
			"--oidc-administrators": len(s.OIDCAdministrators) > 0, "--oidc-moderators": len(s.OIDCModerators) > 0,
			"--oidc-role-claim": s.OIDCRoleClaim != "", "--oidc-name-claim": s.OIDCNameClaim != "",
			"--oidc-allow-unverified-email": s.OIDCAllowUnverifiedEmail,
		}
		for _, flag := range slices.Sorted(maps.Keys(set)) {
			if set[flag] {
				return fmt.Errorf("%s: requires --oidc-issuer", flag)
			}
		}
		return nil
	}
	if s.OIDCRoleClaim != "" && len(s.OIDCAdministrators) == 0 && len(s.OIDCModerators) == 0 {
		return errors.New("--oidc-role-claim: requires --oidc-administrators or --oidc-moderators")
	}
	issuer, err := url.Parse(s.OIDCIssuer)
	if err != nil || issuer.Host == "" || issuer.Scheme != "https" &&
		(issuer.Scheme != "http" || !net.ParseIP(issuer.Hostname()).IsLoopback() && issuer.Hostname() != "localhost") {
		return fmt.Errorf("--oidc-issuer %q: must be https://HOST, perhaps with a path", s.OIDCIssuer)
	}
	if s.OIDCEmailClaim != "" && s.OIDCEmailClaim != "email" && !s.OIDCAllowUnverifiedEmail {
		return fmt.Errorf("--oidc-email-claim %s: requires --oidc-allow-unverified-email, because email_verified does not apply to that claim", s.OIDCEmailClaim)
	}
	for _, list := range [][]string{s.OIDCScopes, s.OIDCAllowedGroups, s.OIDCAllowedDomains, s.OIDCAdministrators,
		s.OIDCModerators} {
		for i := range list {
			list[i] = strings.TrimSpace(list[i])
		}
	}
	for _, domain := range s.OIDCAllowedDomains {
		if domain == "" || strings.ContainsAny(domain, "@ *") {
			return fmt.Errorf("--oidc-allowed-domains %q: must be a domain such as example.org", domain)
		}
	}
	return nil
}
