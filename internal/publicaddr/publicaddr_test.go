package publicaddr

import (
	"errors"
	"net/netip"
	"testing"
)

func TestIs(t *testing.T) {
	for address, want := range map[string]bool{
		"8.8.8.8": true, "2a00:1450:4001::1": true, "::ffff:8.8.8.8": true,
		"127.0.0.1": false, "10.1.2.3": false, "172.16.0.1": false, "192.168.1.1": false, "169.254.169.254": false,
		"100.64.0.1": false,
		"0.0.0.0":    false, "0.1.2.3": false, "224.0.0.1": false, "255.255.255.255": false, "::": false, "::1": false,
		"fe80::1%eth0": false, "fd00::1": false,
		"::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false, "64:ff9b::7f00:1": false, "64:ff9b:1::a00:1": false,
		"2002:7f00:1::": false,
		"::127.0.0.1":   false, "::ffff:0:127.0.0.1": false, "fec0::1": false, "100::1": false, "5f00::1": false,
		"2001::1": false, "2001:db8::1": false, "3fff::1": false,
	} {
		if got := Is(netip.MustParseAddr(address)); got != want {
			t.Errorf("Is(%s): got %v, want %v", address, got, want)
		}
	}
}

// TestControl checks that a dialer connects only to allowed addresses that it can parse.
func TestControl(t *testing.T) {
	control := Control(Is)
	for address, want := range map[string]error{"8.8.8.8:443": nil, "[2a00:1450:4001::1]:443": nil,
		"127.0.0.1:443": ErrPrivate, "[::1]:443": ErrPrivate} {
		if err := control("tcp", address, nil); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", address, err, want)
		}
	}
	if err := control("tcp", "localhost:443", nil); err == nil {
		t.Error("an address that is not resolved is accepted")
	}
}
