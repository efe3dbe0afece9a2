package graphqlhttp

import (
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/99designs/gqlgen/graphql/handler/transport"
)

// maxMessages is how many messages, including pings, a client may send over one WebSocket. At one
// every 15 seconds it lasts a day and a half.
const maxMessages = 10_000

// maxWriteTime is how long a client may take to receive a message.
const maxWriteTime = 30 * time.Second

// closeTooManyRequests is the close code for a WebSocket that is over a limit: 4000 plus the HTTP
// status, as graphql-transport-ws forms its codes.
const closeTooManyRequests = 4429

// limitedUpgrader accepts a WebSocket and limits what its client may send and how slowly it may
// receive.
type limitedUpgrader struct {
	transport.WebsocketImplementation
	conn *limitedConn
}

// Accept upgrades a request to a WebSocket.
func (u *limitedUpgrader) Accept(w http.ResponseWriter, r *http.Request, options transport.WebsocketAcceptOptions) (transport.WebsocketConn, error) {
	conn, err := u.WebsocketImplementation.Accept(w, r, options)
	if err != nil {
		return nil, err
	}
	u.conn = &limitedConn{WebsocketConn: conn, ended: r.Context().Done()}
	return u.conn, nil
}

// close closes the connection, which the transport leaves open after an invalid connection_init.
func (u *limitedUpgrader) close() {
	if u.conn != nil {
		_ = u.conn.Close()
	}
}

type limitedConn struct {
	transport.WebsocketConn
	ended    <-chan struct{} // closed when the server shuts down
	messages int
}

// NextReader returns the next message, and closes the connection after maxMessages.
func (s *limitedConn) NextReader() (int, io.Reader, error) {
	if s.messages++; s.messages > maxMessages {
		_ = s.WriteClose(closeTooManyRequests, "too many messages: connect again")
		return 0, nil, errors.New("too many messages")
	}
	return s.WebsocketConn.NextReader()
}

// WriteJSON sends a message, and closes the connection if the client does not receive it in time.
// It sends nothing once the server shuts down, because subscriptions end then: a client that
// receives their "complete" before the connection closes does not subscribe again.
func (s *limitedConn) WriteJSON(v any) error {
	select {
	case <-s.ended:
		return nil
	default:
	}
	defer time.AfterFunc(maxWriteTime, func() { _ = s.Close() }).Stop()
	return s.WebsocketConn.WriteJSON(v)
}

// SetReadLimit sets the maximum size of a message in bytes.
func (s *limitedConn) SetReadLimit(limit int64) {
	if c, ok := s.WebsocketConn.(transport.WebsocketReadLimiter); ok {
		c.SetReadLimit(limit)
	}
}

// SetReadDeadline sets when the connection is closed unless the client sends something.
func (s *limitedConn) SetReadDeadline(at time.Time) error {
	if c, ok := s.WebsocketConn.(transport.WebsocketReadDeadliner); ok {
		return c.SetReadDeadline(at)
	}
	return nil
}
