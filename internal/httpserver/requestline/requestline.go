// Package requestline lets a server of net/http accept paths with a percent sign that begins no
// escape, such as /search/100%/, which some clients send without escaping it. The parser of
// net/http refuses such a request before any handler runs, so the connection marks the percent sign
// and Unmark reads it as %25.
//
// A mark has the same length as the percent sign, so the server and a proxy in front of it always
// agree on where a request ends. A request line is read as it is if it does not arrive in one
// piece, or if the client pipelines requests and the line follows another request in the same
// packet.
package requestline

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
)

// mark stands for a percent sign. UTF-8 has no such byte, and clients escape bytes of other
// encodings.
const mark = '\xff'

// Serve sets what a server needs to accept the paths, and returns the listener to serve on. The
// handler must call Unmark. Connections that are not TCP connections stay as they are.
func Serve(server *http.Server, l net.Listener) net.Listener {
	server.ConnState = func(c net.Conn, state http.ConnState) {
		if c, ok := c.(*conn); ok && state == http.StateIdle {
			c.begins.Store(true)
		}
	}
	return listener{l}
}

type listener struct{ net.Listener }

// Accept implements net.Listener.
func (l listener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if of, ok := accepted.(tcpConn); ok {
		c := &conn{tcpConn: of}
		c.begins.Store(true)
		return c, err
	}
	return accepted, err
}

// tcpConn has the methods of a connection that net/http uses.
type tcpConn interface {
	net.Conn
	io.ReaderFrom
	CloseWrite() error
}

type conn struct {
	tcpConn
	begins atomic.Bool // whether the next bytes are the start of a request
}

// Read implements net.Conn.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.tcpConn.Read(p)
	if n > 0 && c.begins.CompareAndSwap(true, false) {
		markInvalid(p[:n])
	}
	return n, err
}

// markInvalid replaces percent signs that begin no escape in the path of a request line. It changes
// nothing unless b begins with a complete request line.
func markInvalid(b []byte) {
	line, _, complete := bytes.Cut(b, []byte("\n"))
	// The server may have read the first letter of the method, to learn whether the client is gone.
	method, rest, _ := bytes.Cut(line, []byte(" "))
	target, version, _ := bytes.Cut(rest, []byte(" "))
	if !complete || !isMethod(method) || !bytes.HasPrefix(target, []byte("/")) ||
		!bytes.HasPrefix(version, []byte("HTTP/1.")) {
		return
	}
	path, _, _ := bytes.Cut(target, []byte("?")) // net/http accepts any query
	if bytes.IndexByte(path, mark) >= 0 {
		return
	}
	for i, c := range path { // a part of b
		if c == '%' && !isEscape(path[i:]) {
			path[i] = mark
		}
	}
}

func isMethod(text []byte) bool {
	return bytes.IndexFunc(text, func(r rune) bool { return r < 'A' || r > 'Z' }) < 0
}

// isEscape reports whether text begins with an escaped byte.
func isEscape(text []byte) bool { return len(text) > 2 && isHex(text[1]) && isHex(text[2]) }

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// Unmark puts escapes in place of the marks in the URL of a request. A server that Serve prepared
// must call it before it uses the URL.
func Unmark(r *http.Request) {
	if strings.IndexByte(r.RequestURI, mark) < 0 {
		return
	}
	uri := strings.ReplaceAll(r.RequestURI, string([]byte{mark}), "%25")
	if u, err := url.ParseRequestURI(uri); err == nil {
		*r.URL, r.RequestURI = *u, uri // also for what logs the request
	}
}
