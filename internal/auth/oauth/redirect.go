package oauth

import (
	"fmt"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

var (
	// The characters that a content security policy can contain. Others in a redirect URI could
	// inject directives.
	plainHost     = regexp.MustCompile(`^[A-Za-z0-9.-]+$`)
	privateScheme = regexp.MustCompile(`^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+$`)
)

const maxRedirect = 1_000

// OutOfBand is the redirect URI of programs without one: a page shows the code, and the user copies
// it.
const OutOfBand = "urn:ietf:wg:oauth:2.0:oob"

// CheckRedirect returns an error if an application cannot register the redirect URI. It must be
// https, http on a loopback address (RFC 8252, section 7.3), a private-use scheme that is a
// reversed domain name (section 7.1), or OutOfBand.
func CheckRedirect(address string) error {
	if address == OutOfBand {
		return nil
	}
	u, err := url.Parse(address)
	switch {
	case err != nil || len(address) > maxRedirect ||
		strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r > '~' }):
		return fmt.Errorf("redirect %.100q: must be an absolute URI of at most %d characters", address, maxRedirect)
	case strings.Contains(address, "#"):
		return fmt.Errorf("redirect %.100q: must not contain a fragment", address)
	case u.User != nil:
		return fmt.Errorf("redirect %.100q: must not contain a user name", address)
	case (u.Scheme == "https" || u.Scheme == "http" && loopback(u)) && host(u):
		return nil
	case u.Scheme == "http":
		return fmt.Errorf("redirect %.100q: http is allowed for 127.0.0.1, [::1] and localhost only; use https", address)
	case privateScheme.MatchString(u.Scheme):
		return nil
	}
	return fmt.Errorf("redirect %.100q: must be https://…, http://127.0.0.1/…, a reversed domain name as the scheme, such as org.example.app:/…, or "+OutOfBand, address)
}

// host reports whether host and port consist of plain characters.
func host(u *url.URL) bool {
	return plainHost.MatchString(u.Hostname()) || net.ParseIP(u.Hostname()) != nil && !strings.Contains(u.Hostname(), "%")
}

func loopback(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// AllowsRedirect reports whether the application registered the redirect URI. The comparison is
// exact, except for the port of a loopback address, which programs choose at run time.
func (a *Application) AllowsRedirect(address string) bool {
	return slices.ContainsFunc(a.Redirects, func(registered string) bool {
		return registered == address || withoutPort(registered) != "" && withoutPort(registered) == withoutPort(address)
	})
}

// withoutPort returns a loopback URI without its port, and "" for others.
func withoutPort(address string) string {
	u, err := url.Parse(address)
	if err != nil || CheckRedirect(address) != nil || u.Scheme != "http" || !loopback(u) {
		return ""
	}
	rest, _ := strings.CutPrefix(address, "http://"+u.Host)
	return "http://" + u.Hostname() + rest
}

// Origin returns the source expression of a redirect URI for a content security policy.
func Origin(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	if u.Scheme == "https" || u.Scheme == "http" {
		return u.Scheme + "://" + u.Host
	}
	return u.Scheme + ":"
}

// TrimParameters returns a code or a token without the URL parameters that follow it. Some legacy
// programs take everything behind "code=" or "access_token=" in the URL of a response.
func TrimParameters(text string) string {
	value, _, _ := strings.Cut(text, "&")
	return value
}

// ResponseURI returns the redirect URI with the response parameters in the given order: in its
// query, or in its fragment if they include a token.
func ResponseURI(redirect string, inFragment bool, parameters ...[2]string) string {
	var b strings.Builder
	b.WriteString(redirect)
	sign := "?"
	switch {
	case inFragment:
		sign = "#"
	case strings.Contains(redirect, "?"):
		sign = "&"
	}
	for _, p := range parameters {
		if p[1] == "" {
			continue
		}
		b.WriteString(sign + p[0] + "=" + url.QueryEscape(p[1]))
		sign = "&"
	}
	return b.String()
}
