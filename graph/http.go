package graph

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/99designs/gqlgen/graphql/handler/extension"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/clientip"
	"github.com/meshyard/meshyard/internal/coalesce"
	"github.com/meshyard/meshyard/models"
)

// How long an operation may run. One that takes a file runs as long as the file comes.
const (
	maxQueryTime    = 30 * time.Second
	maxMutationTime = 10 * time.Minute
)

// errTookLong ends an operation that runs longer.
var errTookLong = &models.Error{Code: models.TooLarge, Message: "the operation took too long, and was ended: ask for less at a time"}

// Options say how GraphQL is answered over HTTP.
type Options struct {
	// Hardened runs registered documents only, takes no GET and tells nothing of the schema.
	Hardened bool
	// Documents are registered: each runs by its text or by its ID.
	Documents []Document
	// Spend takes a cost from what the caller may still run. nil: it is not counted, and no budget is told.
	Spend func(r *http.Request, cost int) Budget
	// Authenticate finds out who calls by a token that came over a WebSocket, as that of a request was found out. nil: the store's own tokens are known alone.
	Authenticate func(ctx context.Context, token string) (auth.Caller, error)
	// AllowSocket tells whether the page that asks for a WebSocket may have one. nil: any may.
	AllowSocket func(r *http.Request) bool
	// Ends is closed when the server is to end: subscriptions, which could go on for long, end then. nil: never.
	Ends <-chan struct{}
}

// overHTTP is GraphQL over HTTP, as its specification says: POST with JSON or, for a file, as a multipart request, and GET for queries. It
// takes the place of gqlgen's server and transports, which repeat a body that they cannot read in the error and the log, hold files in
// memory, and validate documents of any size.
type overHTTP struct {
	Options
	exec           *executor.Executor
	sockets        *places
	subscriptions  *places
	documents      *documents
	costing        *costing
	queries        coalesce.Group[[]byte]
	noteDeprecated func(context.Context, *graphql.OperationContext)
}

// Handler answers GraphQL over HTTP. It fails where a registered document does not fit the schema or the limits.
func (g *Graph) Handler(o Options) (http.Handler, error) {
	t := &overHTTP{Options: o, exec: g.Executor(found{}), noteDeprecated: g.noteDeprecated, sockets: &places{what: "WebSockets"}, subscriptions: &places{what: "subscriptions"}}
	if o.Authenticate == nil {
		t.Authenticate = g.resolver.Store.Authenticate
	}
	if !o.Hardened {
		t.exec.Use(extension.Introspection{})
	}
	t.exec.Use(boundedAnswer{})
	var err error
	if t.documents, err = newDocuments(g.Schema(), o.Hardened, o.Documents); err != nil {
		return nil, err
	}
	if t.costing, err = newCosting(g.schema); err != nil {
		return nil, err
	}
	return t, nil
}

func (t *overHTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if wantsSocket(r) {
		t.socket(w, r)
		return
	}
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	answer := &answer{ResponseWriter: w, mediaType: answerType(r.Header.Values("Accept"))}
	h.Set("Content-Type", answer.mediaType+"; charset=utf-8")
	ctx := graphql.StartOperationTrace(r.Context())
	defer func() {
		if cause := recover(); cause != nil {
			t.refuse(ctx, answer, http.StatusInternalServerError, Recover(ctx, cause))
		}
	}()
	params, status, err := readRequest(r, !t.Hardened)
	if err != nil {
		switch status {
		case http.StatusMethodNotAllowed:
			h.Set("Allow", http.MethodPost)
		case http.StatusUnauthorized:
			h.Set("WWW-Authenticate", "Bearer")
		}
		t.refuse(ctx, answer, status, err)
		return
	}
	op, errs := t.understand(ctx, params)
	if errs != nil {
		t.reject(ctx, answer, op, errs)
		return
	}
	if r.Method != http.MethodPost && op.Operation.Operation != ast.Query {
		h.Set("Allow", http.MethodPost)
		t.refuse(ctx, answer, http.StatusMethodNotAllowed, BadInput("", "a mutation is sent by POST"))
		return
	}
	cost, budget, err := t.admit(ctx, r, op)
	switch {
	case budget.Spent != nil:
		h.Set("Retry-After", strconv.Itoa(int(budget.Wait.Seconds())))
		t.refuse(ctx, answer, http.StatusTooManyRequests, err)
		return
	case err != nil:
		t.reject(ctx, answer, op, gqlerror.List{gqlerror.Wrap(err)})
		return
	}
	t.noteDeprecated(ctx, op)
	switch subscription := op.Operation.Operation == ast.Subscription; {
	case subscription && wantsEvents(r):
		giveBack, err := t.subscriptions.take(clientip.Account(r))
		if err != nil {
			t.refuse(ctx, answer, http.StatusTooManyRequests, err)
			return
		}
		defer giveBack()
		ctx, end := t.untilTheEnd(ctx)
		defer end()
		t.stream(ctx, w, params, op)
		return
	case wantsEvents(r):
		t.stream(ctx, w, params, op)
		return
	case subscription:
		t.refuse(ctx, answer, http.StatusNotAcceptable, BadInput("", "a subscription is answered by server-sent events, for who accepts text/event-stream, and over WebSocket"))
		return
	}
	body, err := t.answer(ctx, params, op, streams(r))
	if err != nil {
		t.reject(ctx, answer, op, gqlerror.List{gqlerror.Wrap(err)})
		return
	}
	if asked, _ := params.Extensions["cost"].(bool); asked && len(body) > 0 {
		told := map[string]any{"requested": cost, "limit": maxCost}
		if t.Spend != nil {
			told["remaining"] = budget.Remaining
		}
		body = withExtensions(body, map[string]any{"cost": told})
	}
	_, _ = w.Write(body) // a client that is gone reads no error
}

// untilTheEnd gives a context that ends with the server.
func (t *overHTTP) untilTheEnd(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancel(ctx)
	go func() {
		select {
		case <-t.Ends:
			end()
		case <-ctx.Done():
		}
	}()
	return ctx, end
}

// admit finds what an operation costs, and takes that from what the caller may still run. The error says that it is too much, or more than is left.
func (t *overHTTP) admit(ctx context.Context, r *http.Request, op *graphql.OperationContext) (cost int, budget Budget, err error) {
	if cost = t.costing.of(ctx, op); cost > maxCost {
		return cost, budget, &models.Error{
			Code: models.BadInput, Limit: maxCost,
			Message: "the operation costs " + strconv.Itoa(cost) + ", and at most " + strconv.Itoa(maxCost) + " is taken: ask for fewer fields, or shorter lists",
		}
	}
	if t.Spend != nil {
		if budget = t.Spend(r, cost); budget.Spent != nil {
			return cost, budget, budget.Spent
		}
	}
	return cost, budget, nil
}

// understand makes an operation of what was asked. Where it gives errors, nothing was run.
func (t *overHTTP) understand(ctx context.Context, params *graphql.RawParams) (*graphql.OperationContext, gqlerror.List) {
	document, errs := t.documents.find(params)
	if errs != nil {
		return new(graphql.OperationContext), errs
	}
	params.ReadTime = graphql.TraceTiming{Start: graphql.Now(), End: graphql.Now()}
	return t.exec.CreateOperationContext(context.WithValue(ctx, found{}, document), params)
}

// answer runs an operation and gives its answer. A query that the same caller asks twice at the same time is run once.
func (t *overHTTP) answer(ctx context.Context, params *graphql.RawParams, op *graphql.OperationContext, streams bool) ([]byte, error) {
	switch {
	case op.Operation.Operation == ast.Query:
		return t.queries.Do(ctx, queryKey(ctx, params), func(ctx context.Context) []byte { return t.run(ctx, op, maxQueryTime) })
	case streams:
		return t.run(ctx, op, 0), nil
	default:
		return t.run(ctx, op, maxMutationTime), nil
	}
}

// run runs an operation for so long, or without end where that is 0. The answer is empty where the client is gone.
func (t *overHTTP) run(ctx context.Context, op *graphql.OperationContext, long time.Duration) []byte {
	if long > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, long, errTookLong)
		defer cancel()
	}
	next, within := t.dispatch(ctx, op)
	response := next(within)
	switch {
	case response == nil && context.Cause(ctx) == error(errTookLong):
		response = &graphql.Response{Data: []byte("null"), Errors: t.present(ctx, op, errTookLong)}
	case response == nil:
		return nil
	}
	return encode(response)
}

// dispatch begins an operation. Each of its responses is bounded.
func (t *overHTTP) dispatch(ctx context.Context, op *graphql.OperationContext) (graphql.ResponseHandler, context.Context) {
	size := new(answerSize)
	next, within := t.exec.DispatchOperation(context.WithValue(ctx, boundedAnswer{}, size), op)
	return func(ctx context.Context) *graphql.Response {
		*size = answerSize{}
		response := next(ctx)
		if size.over || response != nil && len(response.Data) > maxAnswer { // events of subscriptions are told whole
			response = &graphql.Response{Data: []byte("null"), Errors: t.present(ctx, op, errAnswerTooLarge)}
		}
		return response
	}, within
}

func (t *overHTTP) present(ctx context.Context, op *graphql.OperationContext, err error) gqlerror.List {
	return t.exec.DispatchError(graphql.WithOperationContext(ctx, op), gqlerror.List{gqlerror.Wrap(err)}).Errors
}

// refuse answers a request that is no request of GraphQL, with a status that says so.
func (t *overHTTP) refuse(ctx context.Context, a *answer, status int, err error) {
	a.WriteHeader(status)
	a.write(&graphql.Response{Errors: t.present(ctx, new(graphql.OperationContext), err)})
}

// reject answers a request whose operation cannot be run: no data is there. Clients of old take that as a success of HTTP.
func (t *overHTTP) reject(ctx context.Context, a *answer, op *graphql.OperationContext, errs gqlerror.List) {
	response := t.exec.DispatchError(graphql.WithOperationContext(ctx, op), errs[:min(len(errs), maxErrors)])
	if a.mediaType == graphQLResponse {
		a.WriteHeader(http.StatusBadRequest)
	}
	a.write(response)
}

// queryKey names what is asked, and by whom: the same that is asked by the same caller at the same time is answered by one run.
func queryKey(ctx context.Context, params *graphql.RawParams) string {
	variables, _ := json.Marshal(params.Variables) // it came as JSON
	return caller(ctx).Key() + " " + params.OperationName + " " + string(variables) + " " + params.Query
}
