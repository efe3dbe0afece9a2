package httptimeout

import (
	"net"
	"sync/atomic"
	"time"
)

const (
	// lingerIdle is how long a client may send nothing while a connection lingers.
	lingerIdle = 5 * time.Second
	// lingerTime is how long a connection lingers at most.
	lingerTime = 30 * time.Second
	// lingerBytes is how many bytes are discarded at most. A client that sends hundreds of MB gets an
	// error.
	lingerBytes = 32 << 20
)

// Linger wraps a listener so that its TCP connections discard what a client still sends of a
// request body that was refused, up to a limit, as nginx does. Many clients read a response only
// after they have sent the whole body. If the connection closed before, they would get an error
// instead of the response.
func Linger(listener net.Listener) net.Listener { return lingeringListener{listener} }

type lingeringListener struct{ net.Listener }

// Accept implements net.Listener.
func (l lingeringListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if tcp, ok := conn.(*net.TCPConn); ok {
		return &lingeringConn{TCPConn: tcp}, err
	}
	return conn, err
}

// lingeringConn is a connection that discards input before it closes, if the server has closed its
// own side before. A net/http server does this if it has not read a request body.
type lingeringConn struct {
	*net.TCPConn
	half atomic.Bool
}

// CloseWrite closes the side of the server.
func (c *lingeringConn) CloseWrite() error {
	c.half.Store(true)
	return c.TCPConn.CloseWrite()
}

// Close implements net.Conn.
func (c *lingeringConn) Close() error {
	if !c.half.CompareAndSwap(true, false) {
		return c.TCPConn.Close()
	}
	go func() {
		defer c.TCPConn.Close()
		end := time.Now().Add(lingerTime)
		block := make([]byte, 4<<10) // small, because many connections can linger
		for left := lingerBytes; left > 0; {
			next := time.Now().Add(lingerIdle)
			if next.After(end) {
				next = end
			}
			if c.SetReadDeadline(next) != nil {
				return
			}
			n, err := c.Read(block)
			if err != nil {
				return
			}
			left -= n
		}
	}()
	return nil
}
