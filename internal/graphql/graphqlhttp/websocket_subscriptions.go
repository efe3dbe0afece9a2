package graphqlhttp

import (
	"context"
	"encoding/json"

	"github.com/99designs/gqlgen/graphql"
	"github.com/coder/websocket"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/clientip"
	"github.com/meshyard/meshyard/internal/httpserver/httpbody"
)

// messageCost is the cost of a subscribe message in addition to that of its operation.
const messageCost = 1_000

// subscribe starts a subscription. It returns a close code if the message is invalid.
func (s *webSocket) subscribe(ctx context.Context, m message) (code websocket.StatusCode, reason string) {
	params := new(graphql.RawParams)
	if m.ID == "" {
		return closeInvalidMessage, "message: id is required"
	}
	if err := httpbody.DecodeJSON("payload", m.Payload, params); err != nil {
		return closeInvalidMessage, err.Error()
	}
	if params.Query == "" && params.Extensions["persistedQuery"] == nil {
		return closeInvalidMessage, "payload: query is required"
	}
	params.Headers = s.r.Header
	ctx, cancel := context.WithCancel(graphql.StartOperationTrace(ctx))
	if !s.begin(m.ID, cancel) {
		cancel()
		return closeDuplicate, "Subscriber for " + m.ID + " already exists"
	}
	ctx = s.authenticate(ctx)
	op, release, errs := s.open(ctx, params)
	if errs != nil {
		s.fail(ctx, m.ID, op, errs)
		return 0, ""
	}
	s.operations.Go(func() {
		defer release()
		s.run(ctx, m.ID, op)
	})
	return 0, ""
}

// begin adds a subscription, unless its ID is in use.
func (s *webSocket) begin(id string, cancel context.CancelFunc) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active[id] != nil {
		return false
	}
	s.active[id] = cancel
	return true
}

// stop removes a subscription that the client ends, and cancels its context, after which nothing is
// sent for it. It returns false if there is none with this ID.
func (s *webSocket) stop(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	cancel, ok := s.active[id]
	if ok {
		delete(s.active, id)
		cancel()
	}
	return ok
}

// open validates a subscription, charges its cost and counts it as open until release is called. It
// refuses queries and mutations, which would bypass the rate limit on requests.
func (s *webSocket) open(ctx context.Context,
	params *graphql.RawParams) (op *graphql.OperationContext, release func(), errs gqlerror.List) {
	op = new(graphql.OperationContext)
	r := s.r.WithContext(ctx)
	// A message is charged before it is parsed: the rate limit counts only the request that opened the
	// WebSocket.
	if s.Charge != nil {
		if err := s.Charge(r, messageCost).Exceeded; err != nil {
			return op, nil, gqlerror.List{gqlerror.Wrap(err)}
		}
	}
	if op, errs = s.prepare(ctx, params); errs != nil {
		return op, nil, errs
	}
	if op.Operation.Operation != ast.Subscription {
		return op, nil, gqlerror.List{gqlerror.Wrap(apierror.Invalid("",
			"a WebSocket accepts subscriptions only: send queries and mutations by POST"))}
	}
	if _, _, err := s.charge(r, op); err != nil {
		return op, nil, gqlerror.List{gqlerror.Wrap(err)}
	}
	release, err := s.subscriptions.acquire(clientip.Account(r))
	if err != nil {
		return op, nil, gqlerror.List{gqlerror.Wrap(err)}
	}
	return op, release, nil
}

// run sends the events of a subscription until it ends.
func (s *webSocket) run(ctx context.Context, id string, op *graphql.OperationContext) {
	defer func() {
		if cause := recover(); cause != nil {
			s.fail(ctx, id, op, gqlerror.List{gqlerror.Wrap(Recover(ctx, cause))})
		}
	}()
	next, opCtx := s.dispatch(ctx, op)
	for response := next(opCtx); response != nil; response = next(opCtx) {
		s.send(ctx, message{ID: id, Type: "next", Payload: encode(response).bytes()})
	}
	s.finish(ctx, message{ID: id, Type: "complete"})
}

// fail ends a subscription with errors.
func (s *webSocket) fail(ctx context.Context, id string, op *graphql.OperationContext, errs gqlerror.List) {
	response := s.Executor.DispatchError(graphql.WithOperationContext(ctx, op), errs[:min(len(errs), maxErrors)])
	payload, err := json.Marshal(truncate(response.Errors))
	if err != nil {
		panic(err) // they consist of strings and numbers
	}
	s.finish(ctx, message{ID: id, Type: "error", Payload: payload})
}

// finish ends a subscription with a message, unless the client has ended it. The client may use its
// ID again as soon as it receives the message.
func (s *webSocket) finish(ctx context.Context, last message) {
	s.mu.Lock()
	if ctx.Err() == nil { // otherwise the ID may belong to another subscription by now
		defer s.active[last.ID]()
		delete(s.active, last.ID)
	}
	s.mu.Unlock()
	s.send(ctx, last)
}
