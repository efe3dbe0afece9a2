package clientip

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestResolve(t *testing.T) {
	var trusted Proxies
	if err := trusted.UnmarshalText([]byte("10.0.0.0/8, 192.0.2.7,fd00::/8")); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		from      string
		forwarded []string
		want      string
	}{
		"untrusted proxy":         {"203.0.113.9:4711", []string{"198.51.100.1"}, "203.0.113.9"},
		"a proxy":                 {"10.1.2.3:80", []string{"198.51.100.1"}, "198.51.100.1"},
		"a single one":            {"192.0.2.7:80", []string{"198.51.100.1"}, "198.51.100.1"},
		"beside a single one":     {"192.0.2.8:80", []string{"198.51.100.1"}, "192.0.2.8"},
		"what the client wrote":   {"10.1.2.3:80", []string{"127.0.0.1, 203.0.113.200, 198.51.100.1"}, "198.51.100.1"},
		"two proxies":             {"10.1.2.3:80", []string{"8.8.8.8, 198.51.100.1, 10.9.9.9"}, "198.51.100.1"},
		"two lines":               {"10.1.2.3:80", []string{"8.8.8.8", "198.51.100.1 ,10.9.9.9"}, "198.51.100.1"},
		"a line of its own":       {"10.1.2.3:80", []string{"198.51.100.1", "10.9.9.9"}, "198.51.100.1"},
		"proxies alone":           {"10.1.2.3:80", []string{"10.8.8.8, 10.9.9.9"}, "10.8.8.8"},
		"no header":               {"10.1.2.3:80", nil, "10.1.2.3"},
		"an empty header":         {"10.1.2.3:80", []string{""}, "10.1.2.3"},
		"a proxy that hides":      {"10.1.2.3:80", []string{"198.51.100.1, unknown"}, "10.1.2.3"},
		"a second one that hides": {"10.1.2.3:80", []string{"198.51.100.1, unknown, 10.9.9.9"}, "10.9.9.9"},
		"ports":                   {"10.1.2.3:80", []string{"198.51.100.1:1234"}, "198.51.100.1"},
		"IPv6":                    {"[fd00::1]:80", []string{"[2001:db8::7]:99, [fd00::2]"}, "2001:db8::7"},
		"IPv4 as IPv6":            {"[::ffff:10.1.2.3]:80", []string{"::ffff:198.51.100.1"}, "198.51.100.1"},
		"no address":              {"@", []string{"198.51.100.1"}, ""},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = c.from
		r.Header["X-Forwarded-For"] = c.forwarded
		r.Header.Set("Forwarded", "for=192.0.2.60")
		r.Header.Set("X-Real-Ip", "192.0.2.60")
		var got string
		trusted.Resolve(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = Address(r) })).ServeHTTP(nil, r)
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if r.RemoteAddr != c.from {
			t.Errorf("%s: the request of the server was changed", name)
		}
	}
}

func TestNetwork(t *testing.T) {
	for from, want := range map[string]string{
		"203.0.113.9:1": "203.0.113.9", "[::ffff:203.0.113.9]:1": "203.0.113.9",
		"[2001:db8:1:2:3:4:5:6]:1": "2001:db8:1:2::/64",
		"[2001:db8:1:2:ffff::1]:1": "2001:db8:1:2::/64", "[fe80::1%eth0]:1": "fe80::/64",
		"2001:db8:1:2::9": "2001:db8:1:2::/64", "": "",
	} {
		if got := Network(&http.Request{RemoteAddr: from}); got != want {
			t.Errorf("%s is counted as %q, want %q", from, got, want)
		}
	}
}

func TestProxiesAreChecked(t *testing.T) {
	for _, text := range []string{"10.0.0.0/33", "example.org", "10.0.0.0/8;192.0.2.7", "::ffff:10.0.0.0/104", "0.0.0.0/0",
		"::/0", "10.0.0.0/8,x"} {
		var p Proxies
		if err := p.UnmarshalText([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), `network "`) {
			t.Errorf("%s is taken: %v, %v", text, p, err)
		}
	}
	var p Proxies
	if err := p.UnmarshalText(nil); err != nil || p != nil {
		t.Errorf("none: %v, %v", p, err)
	}
}
