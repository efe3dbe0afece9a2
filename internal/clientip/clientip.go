// Package clientip determines the IP address of the client of a request behind trusted proxies, and
// the network by which requests without a token are counted. X-Forwarded-For is ignored unless the
// request comes from a trusted proxy, because any client can set it.
package clientip

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/meshyard/meshyard/internal/auth"
)

// Proxies are the networks of trusted proxies.
type Proxies []netip.Prefix

// UnmarshalText parses networks and addresses separated by commas: 10.0.0.0/8,192.0.2.7.
func (p *Proxies) UnmarshalText(text []byte) error {
	*p = nil
	for part := range strings.SplitSeq(string(text), ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		network, err := netip.ParsePrefix(part)
		if single, singleErr := netip.ParseAddr(part); singleErr == nil {
			network, err = netip.PrefixFrom(single, single.BitLen()), nil
		}
		switch {
		case err != nil || network.Addr().Is4In6() || network.Addr().Zone() != "":
			return fmt.Errorf("network %q: must be one such as 10.0.0.0/8 or fd00::/8, or an address", part)
		case network.Bits() == 0:
			return fmt.Errorf("network %q: must not contain every address, because any client could then forge its address",
				part)
		}
		*p = append(*p, network.Masked())
	}
	return nil
}

// Resolve wraps next so that RemoteAddr of a request from a trusted proxy is the client: the last
// address in X-Forwarded-For that is not a trusted proxy. It ignores earlier addresses and other
// headers, because a client can forge them.
func (p Proxies) Resolve(next http.Handler) http.Handler {
	if len(p) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if from, ok := remote(r); ok && p.holds(from) {
			past := *r
			past.RemoteAddr = p.beyond(from, r.Header.Values("X-Forwarded-For")).String()
			r = &past
		}
		next.ServeHTTP(w, r)
	})
}

// beyond returns the address of the client. It goes through the forwarded addresses from the last
// one backwards as long as they are those of trusted proxies.
func (p Proxies) beyond(from netip.Addr, forwarded []string) netip.Addr {
	for _, line := range slices.Backward(forwarded) {
		for rest, more := line, true; more; {
			var part string
			comma := strings.LastIndexByte(rest, ',')
			part, rest, more = rest[comma+1:], rest[:max(comma, 0)], comma >= 0
			at, ok := parse(strings.TrimSpace(part))
			if !ok {
				return from // the proxy does not know the client, or hides it
			}
			if from = at; !p.holds(at) {
				return at
			}
		}
	}
	return from
}

func (p Proxies) holds(a netip.Addr) bool {
	return slices.ContainsFunc(p, func(network netip.Prefix) bool { return network.Contains(a) })
}

// Address returns the IP address of a request, or "" if it has none, as in tests and on Unix
// sockets.
func Address(r *http.Request) string {
	a, ok := remote(r)
	if !ok {
		return ""
	}
	return a.String()
}

// Network returns the key under which requests without a token are counted: the IPv4 address, or
// the first 64 bits of the IPv6 address, because one customer of a provider usually gets a /64
// network.
func Network(r *http.Request) string {
	a, ok := remote(r)
	if !ok {
		return ""
	}
	if a.Is4() {
		return a.String()
	}
	return netip.PrefixFrom(a, 64).Masked().String()
}

// Account returns the key under which a request is counted: the user or the application of its
// token or, without a valid token, its network.
func Account(r *http.Request) string {
	if account := auth.Account(r.Context()); account != "" {
		return account
	}
	return Network(r)
}

func remote(r *http.Request) (netip.Addr, bool) { return parse(r.RemoteAddr) }

// parse parses an address with or without a port. It maps IPv4-in-IPv6 addresses to IPv4.
func parse(text string) (netip.Addr, bool) {
	a, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"))
	if err != nil {
		withPort, portErr := netip.ParseAddrPort(text)
		if a, err = withPort.Addr(), portErr; err != nil {
			return netip.Addr{}, false
		}
	}
	return a.Unmap().WithZone(""), true
}
