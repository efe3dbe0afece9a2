// Package graphqlhttp serves a gqlgen executable schema over HTTP.
//
// It implements the GraphQL-over-HTTP specification (POST with JSON, GET for queries), and the
// GraphQL multipart request specification with one streamed file. It serves subscriptions as
// server-sent events in distinct connections mode, and over WebSocket by the protocol
// graphql-transport-ws and its predecessor. It bounds documents before validation, computes their
// cost, and bounds responses.
//
// It replaces gqlgen's own server and transports, which echo unreadable bodies in errors and logs,
// hold files in memory, and validate documents of any size in quadratic time.
package graphqlhttp

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/99designs/gqlgen/graphql/handler/extension"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/telemetry"
)

// How long an operation may run. An upload has no limit: it runs as long as its bytes arrive.
const (
	maxQueryTime    = 30 * time.Second
	maxMutationTime = 10 * time.Minute
)

// errTimeout is the cause of the context of an operation that ran too long.
var errTimeout = &apierror.Error{
	Code:    apierror.Timeout,
	Message: "the operation took too long and was stopped: request fewer fields or shorter lists",
}

// Options configure a handler.
type Options struct {
	// Schema is the schema to serve.
	Schema graphql.ExecutableSchema
	// Executor runs operations on Schema. The handler sets its query cache and adds extensions.
	Executor *executor.Executor
	// Cost returns the cost of a field; see FieldCost.
	Cost FieldCost
	// Hardened restricts the handler to registered documents, and disables GET and introspection.
	Hardened bool
	// Documents are registered: each can be requested by its text or by its ID.
	Documents []Document
	// Charge takes the cost of an operation from the caller's budget. If nil, costs are not charged.
	Charge func(r *http.Request, cost int) Budget
	// Authenticate returns the caller of a token that was sent over a WebSocket.
	Authenticate func(ctx context.Context, token string) (auth.Caller, error)
	// AllowWebSocket reports whether the page that opens a WebSocket may do so. If nil, any may.
	AllowWebSocket func(r *http.Request) bool
	// OnDeprecated is called with each deprecated root field that an operation selects, in the form
	// "Query.newest". It may be nil.
	OnDeprecated func(ctx context.Context, field, userAgent string)
	// Observe is called after each operation with its root fields, in the form "Query.things", and the
	// codes of its errors. It may be nil.
	Observe func(fields, codes []string)
	// Done is closed when the server shuts down, which ends subscriptions. nil means never.
	Done <-chan struct{}
}

type handler struct {
	Options
	websockets    *openLimit
	subscriptions *openLimit
	documents     *documents
	costs         *CostCalculator
}

// New returns a handler. It fails if a registered document is invalid or exceeds the limits.
func New(o Options) (http.Handler, error) {
	h := &handler{
		Options:       o,
		websockets:    &openLimit{noun: "WebSockets"},
		subscriptions: &openLimit{noun: "subscriptions"},
	}
	h.Executor.SetQueryCache(contextDocument{})
	if !o.Hardened {
		h.Executor.Use(extension.Introspection{})
	}
	var err error
	if h.documents, err = newDocuments(o.Schema.Schema(), o.Hardened, o.Documents); err != nil {
		return nil, err
	}
	if h.costs, err = NewCostCalculator(o.Schema.Schema(), o.Cost); err != nil {
		return nil, err
	}
	return h, nil
}

// ServeHTTP reads the request, finds and validates its document, charges its cost, and executes it.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if isWebSocket(r) {
		h.serveWebSocket(w, r)
		return
	}
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	rw := &responseWriter{ResponseWriter: w, mediaType: negotiate(r.Header.Values("Accept"))}
	header.Set("Content-Type", rw.mediaType+"; charset=utf-8")
	ctx := graphql.StartOperationTrace(r.Context())
	defer func() {
		if cause := recover(); cause != nil {
			h.writeError(ctx, rw, http.StatusInternalServerError, Recover(ctx, cause))
		}
	}()
	call, ok := h.accept(ctx, rw, r)
	if !ok {
		return
	}
	h.reportDeprecated(ctx, call.op)
	telemetry.SetOperation(ctx, operationName(call.op))
	switch kind := call.op.Operation.Operation; {
	case kind == ast.Subscription:
		h.serveSubscription(ctx, rw, r, call.op)
	case wantsEvents(r, kind):
		h.serveEvents(ctx, w, call.op)
	default:
		h.serveResult(ctx, w, r, call)
	}
}

// call is a request whose operation may be executed.
type call struct {
	op        *graphql.OperationContext
	cost      int
	budget    Budget
	byID      bool // the request has the ID of a document instead of its text
	wantsCost bool // the response must report the cost
}

// accept reads the request, prepares its operation and charges its cost. If the operation must not
// be executed, it writes the response and ok is false.
func (h *handler) accept(ctx context.Context, w *responseWriter, r *http.Request) (c call, ok bool) {
	params, status, err := readRequest(r, !h.Hardened)
	if err != nil {
		switch status {
		case http.StatusMethodNotAllowed:
			w.Header().Set("Allow", "GET, HEAD, POST")
			if h.Hardened {
				w.Header().Set("Allow", http.MethodPost)
			}
		case http.StatusUnauthorized:
			w.Header().Set("WWW-Authenticate", "Bearer")
		}
		h.writeError(ctx, w, status, err)
		return call{}, false
	}
	c.byID = params.Query == ""
	c.wantsCost, _ = params.Extensions["cost"].(bool)
	op, errs := h.prepare(ctx, params)
	if errs != nil {
		h.writeErrors(ctx, w, r, op, errs)
		return call{}, false
	}
	if r.Method != http.MethodPost && op.Operation.Operation == ast.Mutation {
		w.Header().Set("Allow", http.MethodPost)
		h.writeError(ctx, w, http.StatusMethodNotAllowed, apierror.Invalid("", "mutations must be sent by POST"))
		return call{}, false
	}
	c.op = op
	c.cost, c.budget, err = h.charge(r, op)
	switch {
	case c.budget.Exceeded != nil:
		h.writeError(ctx, w, http.StatusTooManyRequests, err)
		return call{}, false
	case err != nil:
		h.writeErrors(ctx, w, r, op, gqlerror.List{gqlerror.Wrap(err)})
		return call{}, false
	}
	return c, true
}

// serveResult executes a query or mutation and writes its response.
func (h *handler) serveResult(ctx context.Context, w http.ResponseWriter, r *http.Request, c call) {
	done := h.execute(ctx, c.op, isMultipart(r))
	h.observe(c.op, done.codes)
	body := done.body
	if c.wantsCost && !body.empty() {
		report := map[string]any{"requested": c.cost, "limit": MaxCost}
		if h.Charge != nil {
			report["remaining"] = c.budget.Remaining
		}
		body = body.withExtensions(map[string]any{"cost": report})
	}
	if done.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(done.retryAfter))
	}
	if r.Method != http.MethodPost && len(done.codes) == 0 && !body.empty() {
		writeCacheable(w, r, body, isPublic(r, c.byID))
		return
	}
	if done.status != http.StatusOK {
		w.WriteHeader(done.status)
	}
	_, _ = body.WriteTo(w) // an error means that the client has disconnected
}

// untilShutdown returns a context that also ends with the server.
func (h *handler) untilShutdown(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-h.Done:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// charge computes the cost of an operation and takes it from the caller's budget. It returns an
// error if the cost exceeds MaxCost or what is left.
func (h *handler) charge(r *http.Request, op *graphql.OperationContext) (cost int, budget Budget, err error) {
	if cost = h.costs.Of(op); cost > MaxCost {
		where := ""
		if path := h.costs.Heaviest(op); path != "" {
			where = ", above all in " + path
		}
		err := apierror.New(apierror.TooLarge,
			"the operation costs %d, and the limit is %d: request fewer fields or shorter lists%s", cost, MaxCost, where)
		err.Limit = MaxCost
		return cost, budget, err
	}
	if h.Charge != nil {
		if budget = h.Charge(r, cost); budget.Exceeded != nil {
			return cost, budget, budget.Exceeded
		}
	}
	return cost, budget, nil
}

// prepare finds and validates the document and makes an operation of it. If it returns errors,
// nothing was executed.
func (h *handler) prepare(ctx context.Context, params *graphql.RawParams) (*graphql.OperationContext, gqlerror.List) {
	document, errs := h.documents.find(params)
	if errs != nil {
		return new(graphql.OperationContext), errs
	}
	if document.Operations.ForName(params.OperationName) == nil {
		err := apierror.Invalid("operationName", "operationName: the document has no operation %.100q", params.OperationName)
		if params.OperationName == "" {
			err.Message = fmt.Sprintf("operationName: is required, because the document has %d operations",
				len(document.Operations))
		}
		return new(graphql.OperationContext), gqlerror.List{gqlerror.Wrap(err)}
	}
	params.ReadTime = graphql.TraceTiming{Start: graphql.Now(), End: graphql.Now()}
	op, errs := h.Executor.CreateOperationContext(context.WithValue(ctx, contextDocument{}, document), params)
	if errs == nil {
		errs = checkConditions(op)
	}
	if errs == nil && op.Operation.Operation == ast.Subscription {
		errs = checkStreams(op)
	}
	return op, errs
}

// checkStreams returns ValidationFailed if a subscription does not select exactly one stream. The
// validation rule compares names without aliases, and cannot know what a directive excludes.
func checkStreams(op *graphql.OperationContext) gqlerror.List {
	if n := len(selectedRoots(op)); n != 1 {
		err := gqlerror.Errorf("a subscription must select exactly one field (got %d)", n)
		err.Rule = "SingleFieldSubscriptions" // see PresentError
		errcode.Set(err, errcode.ValidationFailed)
		return gqlerror.List{err}
	}
	return nil
}

// execute runs an operation within the time limit of its kind. The body of the result is empty if
// the client has disconnected.
func (h *handler) execute(ctx context.Context, op *graphql.OperationContext, upload bool) result {
	switch {
	case op.Operation.Operation == ast.Query:
		return h.run(ctx, op, maxQueryTime)
	case upload:
		return h.run(ctx, op, 0)
	default:
		return h.run(ctx, op, maxMutationTime)
	}
}

// run executes an operation within the limit, or without one if limit is 0.
func (h *handler) run(ctx context.Context, op *graphql.OperationContext, limit time.Duration) result {
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, errTimeout)
		defer cancel()
	}
	next, opCtx := h.dispatch(ctx, op)
	response := next(opCtx)
	switch {
	case response == nil && context.Cause(ctx) == error(errTimeout):
		response = &graphql.Response{Data: []byte("null"), Errors: h.present(ctx, op, errTimeout)}
	case response == nil:
		return result{}
	}
	return newResult(response)
}

// dispatch starts an operation whose responses are limited in size.
func (h *handler) dispatch(ctx context.Context,
	op *graphql.OperationContext) (graphql.ResponseHandler, context.Context) {
	next, opCtx := h.Executor.DispatchOperation(ctx, op)
	return func(ctx context.Context) *graphql.Response {
		response := next(ctx)
		// ResponseLimit bounds queries and mutations, but not the events of subscriptions.
		if response != nil && len(response.Data) > maxResponseData {
			response = &graphql.Response{Data: []byte("null"), Errors: h.present(ctx, op, errResponseTooLarge)}
		}
		return response
	}, opCtx
}

func (h *handler) present(ctx context.Context, op *graphql.OperationContext, err error) gqlerror.List {
	return h.Executor.DispatchError(graphql.WithOperationContext(ctx, op), gqlerror.List{gqlerror.Wrap(err)}).Errors
}

// writeError responds to a request that is not a well-formed GraphQL request, or whose caller is
// not known or must wait.
func (h *handler) writeError(ctx context.Context, w *responseWriter, status int, err error) {
	errs := h.present(ctx, new(graphql.OperationContext), err)
	if seconds, ok := errs[0].Extensions["retryAfter"].(int); ok {
		w.Header().Set("Retry-After", strconv.Itoa(seconds))
	}
	w.WriteHeader(status)
	w.write(&graphql.Response{Errors: errs})
}

// writeErrors responds to a request whose operation cannot be executed. Clients that accept only
// application/json expect status 200. Clients of server-sent events expect an event.
func (h *handler) writeErrors(ctx context.Context, w *responseWriter, r *http.Request, op *graphql.OperationContext,
	errs gqlerror.List) {
	response := h.Executor.DispatchError(graphql.WithOperationContext(ctx, op), errs[:min(len(errs), maxErrors)])
	if wantsErrorEvents(r) {
		s := openEvents(w.ResponseWriter)
		s.next(encode(response))
		s.complete()
		return
	}
	if w.mediaType == graphQLResponseType {
		w.WriteHeader(http.StatusBadRequest)
	}
	w.write(response)
}

// observe reports an operation that was executed.
func (h *handler) observe(op *graphql.OperationContext, codes []string) {
	if h.Observe != nil {
		h.Observe(rootFields(op), codes)
	}
}

// WithTimeout returns a context for an operation that is executed outside this handler, with the
// same time limit for queries. Mutations may wait for uploads and have none.
func WithTimeout(ctx context.Context, op *graphql.OperationContext) (context.Context, context.CancelFunc) {
	if op.Operation.Operation != ast.Query {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, maxQueryTime, errTimeout)
}
