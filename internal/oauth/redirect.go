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
	// What a content security policy can name: anything else in an address could write policy of its own.
	plainHost     = regexp.MustCompile(`^[A-Za-z0-9.-]+$`)
	privateScheme = regexp.MustCompile(`^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+$`)
)

const maxRedirect = 1_000

// OutOfBand is the redirect URI of programs that cannot be redirected to: the code is shown on a page,
// and the user copies it.
const OutOfBand = "urn:ietf:wg:oauth:2.0:oob"

// CheckRedirect returns what is wrong with a redirect URI that an application wants to register. It
// must be https, http on the application's own machine (RFC 8252 section 7.3), a private scheme that
// is a reversed domain name (section 7.1), or OutOfBand.
func CheckRedirect(address string) error {
	if address == OutOfBand {
		return nil
	}
	u, err := url.Parse(address)
	switch {
	case err != nil || len(address) > maxRedirect || strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r > '~' }):
		return fmt.Errorf("redirect %.100q: want an absolute address of at most %d characters", address, maxRedirect)
	case strings.Contains(address, "#"):
		return fmt.Errorf("redirect %.100q: must hold no fragment", address)
	case u.User != nil:
		return fmt.Errorf("redirect %.100q: must hold no user", address)
	case (u.Scheme == "https" || u.Scheme == "http" && loopback(u)) && host(u):
		return nil
	case u.Scheme == "http":
		return fmt.Errorf("redirect %.100q: http is for 127.0.0.1, [::1] and localhost alone; want https", address)
	case privateScheme.MatchString(u.Scheme):
		return nil
	}
	return fmt.Errorf("redirect %.100q: want https://…, http://127.0.0.1/…, a reversed domain name as the scheme, such as org.example.app:/…, or "+OutOfBand, address)
}

// host tells whether the host and the port are plain ones.
func host(u *url.URL) bool {
	return plainHost.MatchString(u.Hostname()) || net.ParseIP(u.Hostname()) != nil && !strings.Contains(u.Hostname(), "%")
}

func loopback(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// AllowsRedirect tells whether an address is one that the application registered, letter by letter; on its own machine the port is free, because a program
// there takes the one it gets.
func (a *Application) AllowsRedirect(address string) bool {
	return slices.ContainsFunc(a.Redirects, func(registered string) bool {
		return registered == address || withoutPort(registered) != "" && withoutPort(registered) == withoutPort(address)
	})
}

// withoutPort is an address on the program's own machine less its port; empty for any other.
func withoutPort(address string) string {
	u, err := url.Parse(address)
	if err != nil || CheckRedirect(address) != nil || u.Scheme != "http" || !loopback(u) {
		return ""
	}
	rest, _ := strings.CutPrefix(address, "http://"+u.Host)
	return "http://" + u.Hostname() + rest
}

// Origin is what a content security policy calls the place of a redirect address.
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

// Answer is a redirect address with the parameters of an answer: in its query, or in its fragment where a token is among them. They stay in the order given.
func Answer(redirect string, inFragment bool, parameters ...[2]string) string {
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
