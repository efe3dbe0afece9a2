package graph

import (
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/99designs/gqlgen/graphql/handler/transport"
)

// maxMessages is how many messages a client may send over one WebSocket, pings among them. One a quarter of a minute lasts for a day and a half.
const maxMessages = 10_000

// maxWrite is how long a client may take to receive a message.
const maxWrite = 30 * time.Second

// tooManyRequests is the code that ends a WebSocket which is over a limit, as those of graphql-transport-ws are made from the status of HTTP.
const tooManyRequests = 4429

// boundedSockets makes a WebSocket that ends where its client sends messages without end, or takes none.
type boundedSockets struct {
	transport.WebsocketImplementation
	made *boundedSocket
}

// Accept makes the WebSocket of a request.
func (b *boundedSockets) Accept(w http.ResponseWriter, r *http.Request, options transport.WebsocketAcceptOptions) (transport.WebsocketConn, error) {
	conn, err := b.WebsocketImplementation.Accept(w, r, options)
	if err != nil {
		return nil, err
	}
	b.made = &boundedSocket{WebsocketConn: conn}
	return b.made, nil
}

// end closes the connection: where connection_init is not what it should be, the transport leaves it open.
func (b *boundedSockets) end() {
	if b.made != nil {
		_ = b.made.Close()
	}
}

type boundedSocket struct {
	transport.WebsocketConn
	messages int
}

// NextReader reads a message. The transport asks for one at a time.
func (s *boundedSocket) NextReader() (int, io.Reader, error) {
	if s.messages++; s.messages > maxMessages {
		_ = s.WriteClose(tooManyRequests, "too many messages: connect again")
		return 0, nil, errors.New("too many messages")
	}
	return s.WebsocketConn.NextReader()
}

// WriteJSON sends a message, or ends the connection of a client that does not take it.
func (s *boundedSocket) WriteJSON(v any) error {
	defer time.AfterFunc(maxWrite, func() { _ = s.Close() }).Stop()
	return s.WebsocketConn.WriteJSON(v)
}

// SetReadLimit bounds a message, in bytes.
func (s *boundedSocket) SetReadLimit(limit int64) {
	if c, ok := s.WebsocketConn.(transport.WebsocketReadLimiter); ok {
		c.SetReadLimit(limit)
	}
}

// SetReadDeadline ends the connection of a client that sends nothing until then.
func (s *boundedSocket) SetReadDeadline(at time.Time) error {
	if c, ok := s.WebsocketConn.(transport.WebsocketReadDeadliner); ok {
		return c.SetReadDeadline(at)
	}
	return nil
}
