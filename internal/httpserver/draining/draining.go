// Package draining shuts down a server behind a load balancer without resetting connections: first
// it asks clients to connect elsewhere, then it stops establishing new connections, and only then
// the listener is closed.
package draining

import (
	"context"
	"net"
	"net/http"
	"syscall"
	"time"
)

// Announce asks the client of a response to close the connection afterwards if begun is closed.
// Otherwise a proxy could send a request on a connection that the server is closing, and the proxy
// cannot retry a request that is not idempotent.
func Announce(h http.Header, begun <-chan struct{}) {
	select {
	case <-begun:
		h.Set("Connection", "close")
	default:
	}
}

// Listen opens a listener that StopConnecting supports. It does not use Multipath TCP, Go's
// default, because Linux supports no packet filters for it.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	var c net.ListenConfig
	c.SetMultipathTCP(false)
	return c.Listen(ctx, "tcp", address)
}

// handshake is how long it may take until a connection is established after its first packet has
// arrived.
const handshake = 100 * time.Millisecond

// StopConnecting makes the operating system drop the first packet (SYN) of new connections to a
// listener that Listen opened. It then waits until the established connections are accepted, or
// until ctx is done. The caller closes the listener next. From then on new connections are refused:
// clients and proxies retry those whose packets were dropped, or connect to another server. Without
// this, closing the listener would reset connections that are established but not yet accepted, on
// which a request may have been sent. StopConnecting does nothing except on Linux, where some
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
