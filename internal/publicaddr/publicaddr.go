// Package publicaddr recognizes addresses of the public internet, for programs that follow URLs of
// others and must not reach their own network.
package publicaddr

import (
	"fmt"
	"net/netip"
	"syscall"
)

// special are networks that are not global and that [netip.Addr] does not recognize: see the IANA
// special-purpose address registries.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("64:ff9b::/96"),
	netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("2002::/16"),
}

// Is reports whether an address is one of the public internet.
func Is(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if !a.IsGlobalUnicast() || a.IsPrivate() {
		return false
	}
	for _, network := range special {
		if network.Contains(a) {
			return false
		}
	}
	return true
}

// Control returns a function for [net.Dialer] that refuses connections to addresses that allowed
// rejects. It checks the address that is dialed, so a name cannot change its address in between.
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

// ErrPrivate matches the error of a connection that was refused.
var ErrPrivate = privateError{}

type privateError struct{}

func (privateError) Error() string { return "is not an address of the public internet" }
