package graph

import (
	"context"
	"strings"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler/transport"
	"github.com/coder/websocket"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/meshyard/meshyard/internal/auth"
)

// socket is GraphQL over WebSocket, by graphql-transport-ws, for subscriptions. Browsers can give a WebSocket no header: the token may come as
// Authorization in the payload of connection_init. Pages of any origin may connect, for no cookie is read.
func (g *Graph) socket() graphql.Transport {
	limit := int64(maxBody)
	return transport.Websocket{
		Implementation:        transport.CoderWebsocketImplementation{AcceptOptions: websocket.AcceptOptions{InsecureSkipVerify: true}},
		KeepAlivePingInterval: pingEvery,
		PingPongInterval:      pingEvery,
		InitTimeout:           10 * time.Second,
		PayloadReadLimit:      &limit,
		InitFunc: func(ctx context.Context, payload transport.InitPayload) (context.Context, *transport.InitPayload, error) {
			ctx = context.WithValue(ctx, overSocket{}, true)
			header := payload.Authorization()
			if header == "" {
				return ctx, nil, nil
			}
			scheme, token, _ := strings.Cut(header, " ")
			if !strings.EqualFold(scheme, "Bearer") {
				token = ""
			}
			caller, err := g.resolver.Store.Authenticate(ctx, strings.TrimSpace(token))
			return auth.WithCaller(ctx, caller, err), nil, nil
		},
	}
}

type overSocket struct{}

// onlySubscriptions keeps queries and mutations off WebSockets: there they would pass by the limit of requests.
type onlySubscriptions struct{}

func (onlySubscriptions) ExtensionName() string                   { return "OnlySubscriptions" }
func (onlySubscriptions) Validate(graphql.ExecutableSchema) error { return nil }
func (onlySubscriptions) InterceptOperation(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
	if ctx.Value(overSocket{}) != nil && graphql.GetOperationContext(ctx).Operation.Operation != ast.Subscription {
		e := BadInput("", "a WebSocket takes subscriptions; queries and mutations go by POST")
		return graphql.OneShot(&graphql.Response{Errors: gqlerror.List{withCode(&gqlerror.Error{}, e)}})
	}
	return next(ctx)
}
