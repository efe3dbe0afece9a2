// Package publicaddr recognizes public IP addresses. Programs that request URLs of untrusted users
// need it, so that they do not access the private network (server-side request forgery). The
// address must be checked when it is dialed, with [Control]: a host name can have another address
// at each look-up.
package publicaddr

import (
	"fmt"
	"net/netip"
	"syscall"
)

// special lists networks that are not public and that the methods of [netip.Addr] do not recognize:
// see the IANA special-purpose address registries. Those outside of assigned are not listed.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("2001::/23"),
	netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("3fff::/20"),
}

// assigned is the part of the IPv6 addresses from which the public ones are assigned. The rest has
// those that contain an IPv4 address, which may be private, and site-local ones.
var assigned = netip.MustParsePrefix("2000::/3")

// Is reports whether an address belongs to the public internet.
func Is(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if !a.IsGlobalUnicast() || a.IsPrivate() || a.Is6() && !assigned.Contains(a) {
		return false
	}
	for _, network := range special {
		if network.Contains(a) {
			return false
		}
	}
	return true
}

// Control returns a function for [net.Dialer] that refuses connections to addresses for which
// allowed returns false. It checks the resolved address of each connection, which prevents DNS
// rebinding.
func Control(allowed func(netip.Addr) bool) func(network, address string, c syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		if !allowed(to.Addr()) {
			return fmt.Errorf("%s %w", to.Addr(), ErrPrivate)
		}
		return nil
	}
}

// ErrPrivate matches the error of a refused connection.
var ErrPrivate = privateError{}

type privateError struct{}

func (privateError) Error() string { return "is not an address of the public internet" }
