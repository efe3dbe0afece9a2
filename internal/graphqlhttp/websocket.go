package graphqlhttp

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler/transport"
	"github.com/coder/websocket"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/bearer"
	"github.com/meshyard/meshyard/internal/clientip"
)

// messageCost is the cost of a WebSocket message in addition to that of its operation.
const messageCost = 1_000

// isWebSocket reports whether a request opens a WebSocket.
func isWebSocket(r *http.Request) bool {
	return strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
}

// serveWebSocket serves subscriptions by the graphql-transport-ws protocol. Browsers cannot set
// headers on a WebSocket, so the token may be sent as Authorization in the payload of
// connection_init. Cookies are not read. Browsers send no preflight request for a WebSocket either,
// so the origin is checked here.
func (h *handler) serveWebSocket(w http.ResponseWriter, r *http.Request) {
	if h.AllowWebSocket != nil && !h.AllowWebSocket(r) {
		WriteError(w, r, http.StatusForbidden, apierror.New(apierror.Forbidden, "pages of this origin may not open a WebSocket"))
		return
	}
	// Until the token arrives, the connection counts for the network that it comes from.
	release, err := h.websockets.acquire(clientip.Account(r))
	if err != nil {
		WriteError(w, r, http.StatusTooManyRequests, err)
		return
	}
	defer func() { release() }()
	ctx, end := h.untilShutdown(r.Context())
	defer end()
	r = r.WithContext(ctx)
	limit := int64(maxDocumentBytes)
	upgrader := &limitedUpgrader{WebsocketImplementation: transport.CoderWebsocketImplementation{AcceptOptions: websocket.AcceptOptions{InsecureSkipVerify: true}}}
	defer upgrader.close()
	ws := transport.Websocket{
		Implementation:        upgrader,
		KeepAlivePingInterval: pingInterval,
		PingPongInterval:      pingInterval, // two missed pongs close the connection
		InitTimeout:           10 * time.Second,
		PayloadReadLimit:      &limit,
		InitFunc: func(ctx context.Context, payload transport.InitPayload) (context.Context, *transport.InitPayload, error) {
			header := payload.Authorization()
			if header == "" {
				return ctx, nil, nil
			}
			scheme, token, _ := strings.Cut(header, " ")
			if !strings.EqualFold(scheme, "Bearer") {
				token = ""
			}
			ctx = h.authenticate(context.WithValue(ctx, tokenKey{}, strings.TrimSpace(token)))
			if caller, _ := auth.From(ctx); caller.Known() {
				releaseCaller, err := h.websockets.acquire(clientip.Account(r.WithContext(ctx)))
				if err != nil {
					return transport.WithWebsocketCloseCode(transport.AppendCloseReason(ctx, err.Message), closeTooManyRequests), nil, err
				}
				release()
				release = releaseCaller
			}
			return ctx, nil, nil
		},
	}
	if token := bearer.Token(r); token != "" {
		r = r.WithContext(context.WithValue(r.Context(), tokenKey{}, token))
	}
	ws.Do(w, r, websocketExecutor{h, r})
}

// tokenKey is the context key of the token of a WebSocket.
type tokenKey struct{}

// authenticate sets the caller of the WebSocket's token in the context. It runs for each operation,
// because a WebSocket may stay open after its token expires.
func (h *handler) authenticate(ctx context.Context) context.Context {
	token, ok := ctx.Value(tokenKey{}).(string)
	if !ok {
		return ctx
	}
	caller, err := h.Authenticate(ctx, token)
	return auth.WithCaller(ctx, caller, err)
}

// websocketExecutor executes subscriptions under the same limits as other requests. It refuses
// queries and mutations, which would bypass the rate limit on requests.
type websocketExecutor struct {
	*handler
	r *http.Request
}

// CreateOperationContext validates a subscription and charges its cost.
func (e websocketExecutor) CreateOperationContext(ctx context.Context, params *graphql.RawParams) (*graphql.OperationContext, gqlerror.List) {
	ctx = e.authenticate(ctx)
	if err := e.chargeMessage(ctx); err != nil {
		return new(graphql.OperationContext), e.presentAll(ctx, new(graphql.OperationContext), gqlerror.List{gqlerror.Wrap(err)})
	}
	op, errs := e.prepare(ctx, params)
	if errs != nil {
		return op, e.presentAll(ctx, op, errs)
	}
	if op.Operation.Operation != ast.Subscription {
		return op, e.presentAll(ctx, op, gqlerror.List{gqlerror.Wrap(apierror.Invalid("", "a WebSocket accepts subscriptions only: send queries and mutations by POST"))})
	}
	if _, _, err := e.charge(ctx, e.r.WithContext(ctx), op); err != nil {
		return op, e.presentAll(ctx, op, gqlerror.List{gqlerror.Wrap(err)})
	}
	return op, nil
}

// chargeMessage charges for a message before it is parsed: the rate limit counts only the request
// that opened the WebSocket.
func (e websocketExecutor) chargeMessage(ctx context.Context) error {
	if e.Charge == nil {
		return nil
	}
	return e.Charge(e.r.WithContext(ctx), messageCost).Exceeded
}

// presentAll returns errors in their final form, since the transport sends them unchanged.
func (e websocketExecutor) presentAll(ctx context.Context, op *graphql.OperationContext, errs gqlerror.List) gqlerror.List {
	response := e.Executor.DispatchError(graphql.WithOperationContext(ctx, op), errs[:min(len(errs), maxErrors)])
	return truncate(response.Errors)
}

// DispatchOperation starts a subscription, which counts as open until its context ends.
func (e websocketExecutor) DispatchOperation(ctx context.Context, op *graphql.OperationContext) (graphql.ResponseHandler, context.Context) {
	ctx = e.authenticate(ctx)
	release, err := e.subscriptions.acquire(clientip.Account(e.r.WithContext(ctx)))
	if err != nil {
		return graphql.OneShot(&graphql.Response{Errors: e.presentAll(ctx, op, gqlerror.List{gqlerror.Wrap(err)})}), ctx
	}
	context.AfterFunc(ctx, release)
	return e.dispatch(ctx, op)
}

// DispatchError presents errors.
func (e websocketExecutor) DispatchError(ctx context.Context, errs gqlerror.List) *graphql.Response {
	return e.Executor.DispatchError(ctx, errs)
}
