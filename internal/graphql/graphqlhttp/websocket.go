package graphqlhttp

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/auth/bearer"
	"github.com/meshyard/meshyard/internal/clientip"
	"github.com/meshyard/meshyard/internal/httpserver/httpbody"
)

// Subprotocols. The messages of both have the same form, and some have other types.
const (
	transportProtocol = "graphql-transport-ws"
	legacyProtocol    = "graphql-ws" // of the npm package subscriptions-transport-ws
)

// Types of messages in legacyProtocol, and those in transportProtocol that have the same meaning.
var (
	fromLegacy = map[string]string{"connection_init": "connection_init", "start": "subscribe", "stop": "complete"}
	toLegacy   = map[string]string{"next": "data"}
)

// Close codes of transportProtocol. The npm package graphql-ws connects again after 4408 and the
// codes of RFC 6455 that it expects to be temporary, such as 1001 and 1013.
const (
	closeInvalidMessage  = 4400
	closeUnauthorized    = 4401
	closeSubprotocol     = 4406
	closeInitTimeout     = 4408
	closeDuplicate       = 4409
	closeTooManyInits    = 4429
	maxCloseReason       = 123 // bytes (RFC 6455 section 5.5)
	shuttingDown         = "the server is shutting down: connect again"
	subprotocolsAccepted = "Subprotocol not acceptable: use " + transportProtocol
)

// Limits of a WebSocket.
const (
	// maxMessages is how many messages a client may send.
	maxMessages = 10_000
	// maxInitTime is how long a client may take to send connection_init.
	maxInitTime = 10 * time.Second
	// maxWriteTime is how long a client may take to receive a message.
	maxWriteTime = 30 * time.Second
)

// isWebSocket reports whether a request opens a WebSocket.
func isWebSocket(r *http.Request) bool {
	return strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
}

// serveWebSocket serves subscriptions by the protocol graphql-transport-ws:
// https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md. Browsers cannot set headers on a
// WebSocket, so the token may be sent as Authorization in the payload of connection_init. Cookies
// are not read. Browsers send no preflight request for a WebSocket either, so the origin is checked
// here.
func (h *handler) serveWebSocket(w http.ResponseWriter, r *http.Request) {
	if h.AllowWebSocket != nil && !h.AllowWebSocket(r) {
		WriteError(w, r, http.StatusForbidden,
			apierror.New(apierror.Forbidden, "pages of this origin may not open a WebSocket"))
		return
	}
	// Until the token arrives, the connection counts for the network that it comes from.
	release, err := h.websockets.acquire(clientip.Account(r))
	if err != nil {
		WriteError(w, r, http.StatusTooManyRequests, err)
		return
	}
	s := &webSocket{handler: h, r: r, token: bearer.Token(r), release: release,
		active: make(map[string]context.CancelFunc)}
	defer func() { s.release() }()
	options := &websocket.AcceptOptions{Subprotocols: []string{transportProtocol, legacyProtocol},
		InsecureSkipVerify: true}
	var acceptError error
	if s.conn, acceptError = websocket.Accept(w, r, options); acceptError != nil {
		return // Accept has responded
	}
	defer s.operations.Wait()
	defer s.conn.CloseNow()
	ctx, end := h.untilShutdown(r.Context())
	defer end()
	defer context.AfterFunc(ctx, func() { s.close(websocket.StatusGoingAway, shuttingDown) })()
	s.serve(ctx)
}

// webSocket is a connection. Only serve, and what it calls, uses its fields without a lock.
type webSocket struct {
	*handler
	r       *http.Request
	conn    *websocket.Conn
	token   string
	release func() // of the count of open WebSockets
	inited  bool

	operations sync.WaitGroup
	mu         sync.Mutex
	active     map[string]context.CancelFunc // subscriptions by ID
}

// message is a message of either side.
type message struct {
	ID      string          `json:"id,omitempty"`
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload,omitempty"`
}

// serve handles the messages of the client until one side closes the connection. Messages are read
// without ctx, because a canceled read closes the connection without a close code.
func (s *webSocket) serve(ctx context.Context) {
	switch s.conn.Subprotocol() {
	case transportProtocol, legacyProtocol:
	default:
		s.close(closeSubprotocol, subprotocolsAccepted)
		return
	}
	s.conn.SetReadLimit(maxDocumentBytes)
	timeout := time.AfterFunc(maxInitTime, func() { s.close(closeInitTimeout, "Connection initialisation timeout") })
	defer timeout.Stop()
	for range maxMessages {
		_, text, err := s.conn.Read(context.WithoutCancel(ctx))
		if err != nil {
			return
		}
		var m message
		if err := httpbody.DecodeJSON("message", text, &m); err != nil {
			s.close(closeInvalidMessage, err.Error())
			return
		}
		if s.legacy() {
			if m.Type == "connection_terminate" {
				s.close(websocket.StatusNormalClosure, "")
				return
			}
			m.Type = fromLegacy[m.Type]
		}
		if code, reason := s.handle(ctx, m); code != 0 {
			s.close(code, reason)
			return
		}
		if s.inited {
			timeout.Stop()
		}
	}
	s.close(websocket.StatusTryAgainLater, "too many messages: connect again")
}

// legacy reports whether the client uses legacyProtocol.
func (s *webSocket) legacy() bool { return s.conn.Subprotocol() == legacyProtocol }

// handle handles one message. It returns a close code if the connection must be closed.
func (s *webSocket) handle(ctx context.Context, m message) (code websocket.StatusCode, reason string) {
	switch m.Type {
	case "ping":
		s.send(ctx, message{Type: "pong", Payload: m.Payload})
	case "pong":
	case "connection_init":
		if s.inited {
			return closeTooManyInits, "Too many initialisation requests"
		}
		return s.init(ctx, m.Payload)
	case "subscribe":
		if !s.inited {
			return closeUnauthorized, "Unauthorized"
		}
		return s.subscribe(ctx, m)
	case "complete":
		if s.stop(m.ID) && s.legacy() {
			s.send(ctx, message{ID: m.ID, Type: "complete"})
		}
	default:
		return closeInvalidMessage, "message: unknown type"
	}
	return 0, ""
}

// init takes the token and acknowledges the connection. A token that is not valid is reported by
// each operation.
func (s *webSocket) init(ctx context.Context, payload json.RawMessage) (code websocket.StatusCode, reason string) {
	fields := make(map[string]any)
	if len(payload) > 0 {
		if err := httpbody.DecodeJSON("payload", payload, &fields); err != nil {
			return closeInvalidMessage, err.Error()
		}
	}
	if header := cmp.Or(text(fields["Authorization"]), text(fields["authorization"])); header != "" {
		scheme, token, _ := strings.Cut(header, " ")
		if !strings.EqualFold(scheme, "Bearer") {
			token = "not a bearer token"
		}
		s.token = strings.TrimSpace(token)
		ctx := s.authenticate(ctx)
		if caller, _ := auth.From(ctx); caller.Known() {
			release, err := s.websockets.acquire(clientip.Account(s.r.WithContext(ctx)))
			if err != nil {
				return websocket.StatusTryAgainLater, err.Message
			}
			s.release()
			s.release = release
		}
	}
	s.inited = true
	s.send(ctx, message{Type: "connection_ack"})
	if s.legacy() {
		s.send(ctx, message{Type: "ka"}) // some clients wait for it
	}
	go s.keepAlive(ctx)
	return 0, ""
}

// authenticate sets the caller of the token in the context. It runs for each operation, because a
// WebSocket may stay open after its token expires.
func (s *webSocket) authenticate(ctx context.Context) context.Context {
	if s.token == "" {
		return ctx
	}
	caller, err := s.Authenticate(ctx, s.token)
	return auth.WithCaller(ctx, caller, err)
}

// keepAlive sends pings, which also keep proxies from closing the connection, and closes it if the
// client does not answer one before the next is due. These pings are control frames of WebSocket,
// which programs in browsers do not see.
func (s *webSocket) keepAlive(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pingInterval):
		}
		if s.legacy() {
			s.send(ctx, message{Type: "ka"})
		}
		waiting, cancel := context.WithTimeout(context.WithoutCancel(ctx), pingInterval)
		err := s.conn.Ping(waiting)
		if err != nil && waiting.Err() != nil { // otherwise a message delays the ping
			_ = s.conn.CloseNow()
		}
		cancel()
	}
}

// send sends a message, unless ctx has ended: then the client has ended the subscription, or the
// server is shutting down. If a client received "complete" during a shutdown, it would not
// subscribe again.
func (s *webSocket) send(ctx context.Context, m message) {
	if ctx.Err() != nil {
		return
	}
	if s.legacy() {
		m.Type = cmp.Or(toLegacy[m.Type], m.Type)
	}
	text, err := json.Marshal(m)
	if err != nil {
		panic(err) // the payload is valid JSON
	}
	// Write closes the connection when its context ends, which must not happen when only the
	// subscription ends.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxWriteTime)
	defer cancel()
	_ = s.conn.Write(ctx, websocket.MessageText, text) // an error means that the connection is closed
}

// close closes the connection with a code and as much of the reason as fits.
func (s *webSocket) close(code websocket.StatusCode, reason string) {
	if len(reason) > maxCloseReason {
		end := maxCloseReason
		for !utf8.RuneStart(reason[end]) {
			end--
		}
		reason = reason[:end]
	}
	_ = s.conn.Close(code, reason) // an error means that the client has closed it
}
