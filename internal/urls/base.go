package urls

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
)

type baseKey struct{}

// WithBase returns a context for a request that reached the server under another base URL than the
// default one, which URLs in its response then begin with.
func WithBase(ctx context.Context, base string) context.Context {
	return context.WithValue(ctx, baseKey{}, base)
}

// BaseOf returns the base URL that WithBase has set, or else the given one.
func BaseOf(ctx context.Context, base string) string {
	if own, ok := ctx.Value(baseKey{}).(string); ok {
		return own
	}
	return base
}

// For returns the builder of URLs in the response to a request with a context.
func (a Builder) For(ctx context.Context) Builder {
	a.Base = BaseOf(ctx, a.Base)
	return a
}

// Own returns the base URL under which a client reached a server without TLS whose base URL is not
// set. ok is false for a host that another website can choose: a name can be rebound to the address
// of the server (DNS rebinding), an IP address cannot. So the host is an IP address, localhost or a
// name of the machine.
func Own(r *http.Request, machine string) (base string, ok bool) {
	host, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		host, port = strings.TrimSuffix(strings.TrimPrefix(r.Host, "["), "]"), ""
	}
	name := strings.ToLower(host)
	if ip, err := netip.ParseAddr(host); err == nil && ip.Zone() == "" {
		name = ip.String()
	} else if machine = strings.ToLower(machine); name != "localhost" && (machine == "" || name != machine &&
		name != machine+".local") {
		return "", false
	}
	if port == "" {
		if strings.Contains(name, ":") {
			name = "[" + name + "]"
		}
		return "http://" + name, true
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", false
	}
	return "http://" + net.JoinHostPort(name, port), true
}
