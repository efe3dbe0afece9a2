// Package draining stops a server behind a load balancer without resetting a connection: clients
// are first asked to connect elsewhere, then new connections are no longer established, and only
// then the listener closes.
package draining

import (
	"context"
	"net"
	"net/http"
	"syscall"
	"time"
)

// Handler runs next and, after begun is closed, asks clients to close the connection after each
// response. Otherwise a proxy could send a request on a connection that the server is closing, and
// cannot repeat it if it is not idempotent.
func Handler(next http.Handler, begun <-chan struct{}) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-begun:
			w.Header().Set("Connection", "close")
		default:
		}
		next.ServeHTTP(w, r)
	})
}

// Listen opens a listener for StopConnecting. Go's default is Multipath TCP, for which Linux
// supports no packet filters.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	var c net.ListenConfig
	c.SetMultipathTCP(false)
	return c.Listen(ctx, "tcp", address)
}

// handshake is how long a connection may take to be established after its first packet has arrived.
const handshake = 100 * time.Millisecond

// StopConnecting makes the system drop attempts to connect to a listener of Listen, and waits until
// the connections that exist are accepted, or until ctx ends. The caller then closes the listener,
// which refuses the attempts that were dropped: clients and proxies make them again, some
// elsewhere. Without this, closing the listener resets the connections that are established and not
// yet accepted, on which a request may have been sent. It does nothing except on Linux, where some
// kernels require the capability CAP_NET_ADMIN for it.
func StopConnecting(ctx context.Context, listener net.Listener) {
	tcp, ok := listener.(syscall.Conn)
	if !ok {
		return
	}
	conn, err := tcp.SyscallConn()
	if err != nil || dropAttempts(conn) != nil {
		return
	}
	for wait := handshake; ; wait = time.Millisecond {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		if waiting, err := unaccepted(conn); err != nil || waiting == 0 {
			return
		}
	}
}
