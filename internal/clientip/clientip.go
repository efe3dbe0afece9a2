// Package clientip tells where a request comes from, as far as addresses tell: past the proxies that the operator trusts, and nobody else's word.
package clientip

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/meshyard/meshyard/internal/auth"
)

// Proxies are the networks whose word on where a request comes from is believed.
type Proxies []netip.Prefix

// UnmarshalText reads networks and addresses, separated by commas: 10.0.0.0/8,192.0.2.7.
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
			return fmt.Errorf("network %q: want one such as 10.0.0.0/8 or fd00::/8, or an address", part)
		case network.Bits() == 0:
			return fmt.Errorf("network %q: holds every address, and so anybody could say that he is somebody else", part)
		}
		*p = append(*p, network.Masked())
	}
	return nil
}

// Resolve makes each request one that comes from its client: where a trusted proxy sent it, the last address in X-Forwarded-For that is no trusted proxy's.
// What stands before that may have been written by anybody, so it is not read, and neither is any other header.
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

// beyond follows the addresses that proxies wrote, from the last one back, as long as those who wrote them are trusted.
func (p Proxies) beyond(from netip.Addr, forwarded []string) netip.Addr {
	for _, line := range slices.Backward(forwarded) {
		for rest, more := line, true; more; {
			var part string
			comma := strings.LastIndexByte(rest, ',')
			part, rest, more = rest[comma+1:], rest[:max(comma, 0)], comma >= 0
			at, ok := parse(strings.TrimSpace(part))
			if !ok {
				return from // it does not know, or hides, whom it speaks for
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

// Address is where a request comes from, "" where that has no address, such as a test's or a socket's of this machine.
func Address(r *http.Request) string {
	a, ok := remote(r)
	if !ok {
		return ""
	}
	return a.String()
}

// Network is by what a client without a token is counted: his address or, of IPv6, the 64 bits that one customer has.
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

// Account returns whom a request is counted for: the user or the application of its token or, without
// a valid one, the network that it comes from.
func Account(r *http.Request) string {
	caller, _ := auth.From(r.Context())
	if account := caller.Account(); account != "" {
		return account
	}
	return Network(r)
}

func remote(r *http.Request) (netip.Addr, bool) { return parse(r.RemoteAddr) }

// parse reads an address, with or without a port. An IPv4 address has one form only.
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
