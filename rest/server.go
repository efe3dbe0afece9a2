// Package rest serves the REST API of legacy clients. A table (routes.go) maps each route to a
// stored GraphQL document (folder operations), which runs in process on the same schema that
// GraphQL clients use. Package wire has the structs of requests and responses. The OpenAPI
// description and the migration guide are generated from the same table.
//
// The package contains no business rules. It must not query the database or import package models;
// a test in package archtest enforces this.
package rest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/meshyard/meshyard/graph"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/graphql/graphqlhttp"
	"github.com/meshyard/meshyard/internal/httpserver/httpbody"
	"github.com/meshyard/meshyard/internal/telemetry"
	"github.com/meshyard/meshyard/internal/urls"
	"github.com/meshyard/meshyard/internal/urls/signing"
)

// Options are the dependencies and settings of the REST layer. Graph, MayUpload and StoreForm are
// required; the other functions may be nil.
type Options struct {
	Graph *graph.Graph
	URLs  urls.Builder
	// Charge subtracts the cost of an operation from the caller's budget. If nil, costs are not
	// charged.
	Charge func(r *http.Request, cost int) graphqlhttp.Budget
	// Sunset is the date on which deprecated operations are removed. Zero means that no date is set.
	Sunset time.Time
	// NoteDeprecated records that the caller used a deprecated operation.
	NoteDeprecated func(r *http.Request, operation string)
	// Observe is called after each operation with its root field, in the form "Query.things", and the
	// codes of its errors.
	Observe func(fields, codes []string)
	// MayUpload returns an error if the server would reject a file of at least the given number of
	// bytes from the caller.
	MayUpload func(ctx context.Context, atLeast int64) error
	// StoreForm stores the file of a staged upload whose signed form was already verified. The file
	// has at least the given number of bytes.
	StoreForm func(ctx context.Context, form signing.Form, atLeast int64, file io.Reader) error
}

type server struct {
	Options
	executor *executor.Executor
	schema   *ast.Schema
	costs    *graphqlhttp.CostCalculator
}

// check returns an error if a required option is missing, and replaces NoteDeprecated by a function
// that does nothing if it is nil.
func (o *Options) check() error {
	if o.NoteDeprecated == nil {
		o.NoteDeprecated = func(*http.Request, string) {}
	}
	switch {
	case o.Graph == nil:
		return errors.New("rest: Options.Graph is required")
	case o.MayUpload == nil:
		return errors.New("rest: Options.MayUpload is required")
	case o.StoreForm == nil:
		return errors.New("rest: Options.StoreForm is required")
	}
	return nil
}

// Handler returns the handler of all documented paths. It returns an error if a required option is
// missing, or if the routes, the stored documents and the schema do not match.
func Handler(o Options) (http.Handler, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	s := &server{Options: o, schema: o.Graph.Schema()}
	document, operations, err := loadOperations(s.schema)
	if err != nil {
		return nil, err
	}
	if s.costs, err = o.Graph.Costs(); err != nil {
		return nil, err
	}
	s.executor = o.Graph.Executor(graphqlhttp.SingleDocument{Document: document})

	mux := http.NewServeMux()
	mountAll(mux, func(r route) http.Handler { return s.serve(r, operations[r.operation]) }, http.HandlerFunc(s.storeForm))
	mux.Handle("/", notFound(mux))
	return mux, nil
}

// mountAll registers handlers for all paths of the REST API.
func mountAll(mux *http.ServeMux, serve func(route) http.Handler, storeForm http.Handler) {
	for _, r := range routes {
		mount(mux, r.method+" "+r.path, serve(r))
	}
	for _, u := range unservedOperations {
		mount(mux, u.method+" "+u.path, u)
	}
	mount(mux, "POST /upload_file_storage", storeForm)
}

// mount registers a handler for a path with and without a trailing slash. A redirect between the
// two would turn a POST into a GET.
func mount(mux *http.ServeMux, pattern string, h http.Handler) {
	mux.Handle(pattern, h)
	mux.Handle(pattern+"/{$}", h)
}

// setRoute reports the route of a request, which is the same with and without a trailing slash.
func setRoute(r *http.Request) {
	telemetry.SetRoute(r.Context(), strings.TrimSuffix(r.Pattern, "/{$}"))
}

// IsPath reports whether the path of u is one of the REST API, whatever the method.
func IsPath(u *url.URL) bool { return len(allowedMethods(paths(), &http.Request{URL: u})) > 0 }

// paths matches all paths of the REST API.
var paths = sync.OnceValue(func() *http.ServeMux {
	mux := http.NewServeMux()
	mountAll(mux, func(route) http.Handler { return http.NotFoundHandler() }, http.NotFoundHandler())
	return mux
})

// allowedMethods returns the methods for which mux has a route at the path of r.
func allowedMethods(mux *http.ServeMux, r *http.Request) (allowed []string) {
	for _, method := range []string{get, post, patch, del} {
		probe := &http.Request{Method: method, Host: r.Host, URL: r.URL}
		if _, pattern := mux.Handler(probe); pattern != "/" && pattern != "" {
			allowed = append(allowed, method)
		}
	}
	return allowed
}

// notFound returns the handler for requests that match no route of mux. It responds in the
// documented error format: 405 with Allow if the path exists for another method, else 404.
func notFound(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if u := canonicalURL(r.URL); u != nil {
			canonical := r.Clone(r.Context())
			canonical.URL = u
			mux.ServeHTTP(w, canonical)
			return
		}
		if allowed := allowedMethods(mux, r); len(allowed) > 0 {
			w.Header().Set("Allow", strings.Join(allowed, ", "))
			WriteError(w, http.StatusMethodNotAllowed, r.Method+" is not allowed for this path")
			return
		}
		WriteError(w, http.StatusNotFound, "this path does not exist")
	})
}

// canonicalURL returns a URL with the documented form of its path, or nil if the path has that form
// already. Some clients write words in upper case, such as /THINGS or /Users, or send the optional
// segment {$all} of collections as an early version of the documentation had it. Words with capital
// letters in the documentation are case-sensitive.
func canonicalURL(u *url.URL) *url.URL {
	escaped := u.EscapedPath()
	var segments []string
	for segment := range strings.SplitSeq(escaped, "/") {
		if strings.EqualFold(segment, "%7B$all%7D") {
			continue
		}
		if lower := strings.ToLower(segment); lowerWords()[lower] {
			segment = lower
		}
		segments = append(segments, segment)
	}
	canonical := *u
	canonical.RawPath = strings.Join(segments, "/")
	if path, err := url.PathUnescape(canonical.RawPath); err == nil && canonical.RawPath != escaped {
		canonical.Path = path
		return &canonical
	}
	return nil
}

// lowerWords returns the literal words of the paths of the REST API that are in lower case.
var lowerWords = sync.OnceValue(func() map[string]bool {
	words := make(map[string]bool)
	for _, r := range routes {
		for segment := range strings.SplitSeq(r.path, "/") {
			if segment == strings.ToLower(segment) && !strings.HasPrefix(segment, "{") {
				words[segment] = true
			}
		}
	}
	return words
})

// at returns the server whose URLs begin with the base URL that a request has used.
func (s *server) at(ctx context.Context) *server {
	own := s.URLs.For(ctx)
	if own.Base == s.URLs.Base {
		return s
	}
	other := *s
	other.URLs = own
	return &other
}

// serve returns the handler that runs a route's operation.
func (s *server) serve(rt route, op *operation) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := s.at(r.Context())
		setRoute(r)
		telemetry.SetOperation(r.Context(), rt.operation)
		rt.deprecated.announce(w.Header(), s.URLs.Base, rt.operation, s.Sunset)
		if op.mutates() {
			w.Header().Set("Cache-Control", "no-store")
		}
		if r.Method == http.MethodHead && op.mutates() {
			// The mux also routes HEAD requests to GET handlers. A HEAD must not perform the change that GET
			// performs.
			w.Header().Set("Allow", rt.method)
			WriteError(w, http.StatusMethodNotAllowed, "HEAD is not allowed for this path")
			return
		}
		if err := auth.Authorize(r.Context(), op.scope); err != nil {
			if !s.respondAnonymously(rt, op, w, r) {
				WriteFailure(w, r, err) // before the body is read
			}
			return
		}
		if takesFile(op) {
			if err := s.MayUpload(r.Context(), httpbody.FileAtLeast(r)); err != nil {
				WriteFailure(w, r, err)
				return
			}
		}
		if rt.deprecated != nil {
			s.NoteDeprecated(r, rt.operation)
		}
		if op.mutates() || rt.method == post { // the response depends on the body: no ETag
			s.respond(rt, op, w, r)
			return
		}
		buffered := newBufferedResponse()
		s.respond(rt, op, buffered, r)
		buffered.send(w, r)
		buffered.free()
	})
}

// respond runs a route's operation and writes the response.
func (s *server) respond(rt route, op *operation, w http.ResponseWriter, r *http.Request) {
	variables, err := s.variables(op, r)
	if err != nil {
		WriteFailure(w, r, err)
		return
	}
	response := s.run(r, op, variables, s.charge)
	s.observe(op, response)
	if badCursor(response.Errors) {
		// No value of page or after is an error; see pageNumbers. The request is already charged.
		delete(variables, "after")
		if page, _ := pageNumbers(r.URL.Query()); page > 1 {
			variables["after"] = pageCursor(page)
		}
		response = s.run(r, op, variables, free)
	}
	if len(response.Errors) > 0 {
		for _, e := range response.Errors {
			op.nameFields(e)
		}
		writeErrors(w, response.Errors)
		return
	}
	if err := rt.responder.write(s, w, r, response.Data); err != nil {
		WriteFailure(w, r, err)
	}
}

// respondAnonymously responds to a request without a token if the server and the operation permit
// that and the requested object is public, if the rate limit of the client's network is exceeded,
// or if the server fails. Otherwise it writes nothing and returns false.
func (s *server) respondAnonymously(rt route, op *operation, w http.ResponseWriter, r *http.Request) bool {
	caller, err := auth.From(r.Context())
	if rt.responder.anonymous == nil || err != nil || caller.Known() {
		return false
	}
	variables, err := s.variables(op, r)
	if err != nil {
		return false
	}
	response := s.run(r, op, variables, s.charge)
	if len(response.Errors) > 0 {
		_, status := graphqlhttp.MostSevere(response.Errors)
		respond := status == http.StatusTooManyRequests || status >= http.StatusInternalServerError
		if respond {
			writeErrors(w, response.Errors)
		}
		return respond
	}
	return rt.responder.anonymous(w, response.Data) == nil
}

// observe reports an executed operation and its error codes to Observe.
func (s *server) observe(op *operation, response *graphql.Response) {
	if s.Observe == nil {
		return
	}
	var codes []string
	for _, e := range response.Errors {
		code, _ := e.Extensions["code"].(string)
		codes = append(codes, code)
	}
	s.Observe([]string{op.field.ObjectDefinition.Name + "." + op.field.Name}, codes)
}

// badCursor reports whether an operation failed because of its cursor.
func badCursor(errs gqlerror.List) bool {
	return slices.ContainsFunc(errs, func(e *gqlerror.Error) bool { return e.Extensions["field"] == "after" })
}

// run charges a stored operation and executes it in process.
func (s *server) run(r *http.Request, op *operation, variables map[string]any,
	charge func(*http.Request, *graphql.OperationContext) error) *graphql.Response {
	ctx := graphql.StartOperationTrace(r.Context())
	oc, errs := s.executor.CreateOperationContext(ctx, &graphql.RawParams{OperationName: op.Name, Variables: variables})
	if errs != nil {
		return s.executor.DispatchError(graphql.WithOperationContext(ctx, oc), errs)
	}
	if err := charge(r, oc); err != nil {
		return s.executor.DispatchError(graphql.WithOperationContext(ctx, oc), gqlerror.List{gqlerror.Wrap(err)})
	}
	ctx, cancel := graphqlhttp.WithTimeout(ctx, oc)
	defer cancel()
	next, ctx := s.executor.DispatchOperation(ctx, oc)
	if response := next(ctx); response != nil {
		return response
	}
	// The executor returns no response if the client disconnected or the timeout expired.
	return s.executor.DispatchError(graphql.WithOperationContext(context.WithoutCancel(ctx), oc),
		gqlerror.List{gqlerror.Wrap(context.Cause(ctx))})
}

// charge subtracts the cost of an operation from the caller's budget, as GraphQL requests do. It
// sets no limit per operation: the documents are the server's own, and a page has at most 100
// entries. Each request is charged once.
func (s *server) charge(r *http.Request, oc *graphql.OperationContext) error {
	if s.Charge == nil {
		return nil
	}
	return s.Charge(r, s.costs.Of(oc)).Exceeded
}

// free charges nothing.
func free(*http.Request, *graphql.OperationContext) error { return nil }
