package config

import (
	"fmt"
	"net/netip"
	"strings"
)

// Networks are IP networks.
type Networks []netip.Prefix

// UnmarshalText parses networks in CIDR notation and single addresses, separated by commas.
func (n *Networks) UnmarshalText(text []byte) error {
	*n = nil
	for part := range strings.SplitSeq(string(text), ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		network, err := netip.ParsePrefix(part)
		if single, singleErr := netip.ParseAddr(part); singleErr == nil {
			network, err = netip.PrefixFrom(single, single.BitLen()), nil
		}
		if err != nil || network.Addr().Is4In6() || network.Addr().Zone() != "" {
			return fmt.Errorf("network %q: must be in CIDR notation, such as 192.168.1.0/24 or fd00::/8", part)
		}
		*n = append(*n, network.Masked())
	}
	return nil
}
