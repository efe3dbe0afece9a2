package graph

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

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/clientip"
	"github.com/meshyard/meshyard/internal/courtesy"
	"github.com/meshyard/meshyard/models"
)

// perMessage is what a message over WebSocket costs besides its operation.
const perMessage = 1_000

// wantsSocket tells whether a request asks for a WebSocket.
func wantsSocket(r *http.Request) bool {
	return strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
}

// socket is GraphQL over WebSocket, by graphql-transport-ws, for subscriptions. Browsers can give a WebSocket no header: the token may come as
// Authorization in the payload of connection_init. No cookie is read, and browsers ask nobody whether a page may connect: so the page of an origin that may
// not call is refused here.
func (t *overHTTP) socket(w http.ResponseWriter, r *http.Request) {
	if t.AllowSocket != nil && !t.AllowSocket(r) {
		WriteError(w, r, http.StatusForbidden, &models.Error{Code: models.Forbidden, Message: "pages of this origin may not call this server"})
		return
	}
	// A page can send no header, so until its token is there it is its address that takes a place.
	giveBack, err := t.sockets.take(clientip.Account(r))
	if err != nil {
		WriteError(w, r, http.StatusTooManyRequests, err)
		return
	}
	defer func() { giveBack() }()
	ctx, end := t.untilTheEnd(r.Context())
	defer end()
	r = r.WithContext(ctx)
	courtesy.Leave(r.Context())
	limit := int64(maxDocument)
	bounded := &boundedSockets{WebsocketImplementation: transport.CoderWebsocketImplementation{AcceptOptions: websocket.AcceptOptions{InsecureSkipVerify: true}}}
	defer bounded.end()
	socket := transport.Websocket{
		Implementation:        bounded,
		KeepAlivePingInterval: pingEvery,
		PingPongInterval:      pingEvery, // who does not answer within two of them is gone
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
			ctx = t.identified(context.WithValue(ctx, tokenKey{}, strings.TrimSpace(token)))
			if caller(ctx).Known() {
				others, refused := t.sockets.take(clientip.Account(r.WithContext(ctx)))
				if refused != nil {
					return transport.WithWebsocketCloseCode(transport.AppendCloseReason(ctx, refused.Message), tooManyRequests), nil, refused
				}
				giveBack()
				giveBack = others
			}
			return ctx, nil, nil
		},
	}
	if token := auth.Presented(r); token != "" {
		r = r.WithContext(context.WithValue(r.Context(), tokenKey{}, token))
	}
	socket.Do(w, r, socketExecutor{t, r})
}

// tokenKey is of the token that a WebSocket was opened with.
type tokenKey struct{}

// identified finds out who calls, anew for each operation: a socket may be open for longer than its token is good.
func (t *overHTTP) identified(ctx context.Context) context.Context {
	token, ok := ctx.Value(tokenKey{}).(string)
	if !ok {
		return ctx
	}
	caller, err := t.Authenticate(ctx, token)
	return auth.WithCaller(ctx, caller, err)
}

// socketExecutor runs what comes over a WebSocket under the limits of all else. Queries and mutations are refused: there they would pass by the limit of requests.
type socketExecutor struct {
	*overHTTP
	r *http.Request
}

func (e socketExecutor) CreateOperationContext(ctx context.Context, params *graphql.RawParams) (*graphql.OperationContext, gqlerror.List) {
	ctx = e.identified(ctx)
	if err := e.charge(ctx); err != nil {
		return new(graphql.OperationContext), e.told(ctx, gqlerror.List{gqlerror.Wrap(err)})
	}
	op, errs := e.understand(ctx, params)
	if errs != nil {
		return op, e.told(ctx, errs)
	}
	if op.Operation.Operation != ast.Subscription {
		return op, e.told(ctx, gqlerror.List{gqlerror.Wrap(BadInput("", "a WebSocket takes subscriptions; queries and mutations go by POST"))})
	}
	if _, _, err := e.admit(ctx, e.r.WithContext(ctx), op); err != nil {
		return op, e.told(ctx, gqlerror.List{gqlerror.Wrap(err)})
	}
	return op, nil
}

// charge takes what a message costs before it is looked at: the limit of requests knows only of the one that opened the socket.
func (e socketExecutor) charge(ctx context.Context) error {
	if e.Spend == nil {
		return nil
	}
	return e.Spend(e.r.WithContext(ctx), perMessage).Spent
}

// told are errors as clients see them: the transport sends them as they are.
func (e socketExecutor) told(ctx context.Context, errs gqlerror.List) gqlerror.List {
	response := e.exec.DispatchError(graphql.WithOperationContext(ctx, new(graphql.OperationContext)), errs[:min(len(errs), maxErrors)])
	return shorten(response.Errors)
}

// DispatchOperation begins a subscription, which holds a place until the transport ends its context.
func (e socketExecutor) DispatchOperation(ctx context.Context, op *graphql.OperationContext) (graphql.ResponseHandler, context.Context) {
	ctx = e.identified(ctx)
	giveBack, err := e.subscriptions.take(clientip.Account(e.r.WithContext(ctx)))
	if err != nil {
		return graphql.OneShot(&graphql.Response{Errors: e.told(ctx, gqlerror.List{gqlerror.Wrap(err)})}), ctx
	}
	context.AfterFunc(ctx, giveBack)
	return e.dispatch(ctx, op)
}

func (e socketExecutor) DispatchError(ctx context.Context, errs gqlerror.List) *graphql.Response {
	return e.exec.DispatchError(ctx, errs)
}
