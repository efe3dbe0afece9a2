package server

import (
	"context"
	"io"
	"net/http"
	"sync"

	"github.com/klauspost/compress/gzhttp"

	"github.com/meshyard/meshyard/cmd/meshyard/server/tus"
	"github.com/meshyard/meshyard/graph"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/graphql/graphqlhttp"
	"github.com/meshyard/meshyard/internal/urls"
	"github.com/meshyard/meshyard/internal/urls/signing"
	"github.com/meshyard/meshyard/internal/web/pages"
	"github.com/meshyard/meshyard/internal/web/webpage"
	"github.com/meshyard/meshyard/rest"
)

// handlers are the handlers that serve more than one route, or have options.
type handlers struct {
	graphql, rest     http.Handler
	resumable         http.Handler
	signIn, archives  http.Handler
	bytes, renditions http.Handler
	opened            http.Handler
	viewer            http.Handler
	developers        http.Handler
	openAPI, schema   http.Handler
	pages             http.Handler
	webPages          webpage.Options
}

// handlers returns the handlers of a graph. Subscriptions end with ctx.
func (a *Server) handlers(ctx context.Context, g *graph.Graph, addresses urls.Builder) (h handlers, err error) {
	charge := a.budget()
	if h.graphql, err = a.graphQL(ctx, g, charge); err != nil {
		return handlers{}, err
	}
	if h.rest, err = a.rest(g, addresses, charge); err != nil {
		return handlers{}, err
	}
	h.resumable, err = tus.Handler(tus.Options{
		Store: a.Store.Uploads, BaseURL: a.Settings.BaseURL, Limit: int64(a.Settings.UploadLimit), Shared: !a.db.OneWriter(),
	})
	if err != nil {
		return handlers{}, err
	}
	if h.webPages, err = a.webpages(g); err != nil {
		return handlers{}, err
	}
	bytes := a.blobs(addresses)
	h.bytes, h.renditions, h.opened = bytes, a.renditions(bytes), a.forPrograms(bytes, addresses)
	// Neither of these is compressed here. The pages compress their responses themselves. The length
	// of a compressed sign-in page, which contains both a secret and text from the URL, would reveal
	// the secret (BREACH attack).
	h.pages, h.signIn = webpage.Handler(h.webPages), a.signIn(addresses.Key, h.webPages)
	h.archives = &archives{server: a, webPages: h.webPages, sending: make(map[int64]bool)}
	h.viewer = compressed(a.viewer(addresses, h.webPages))
	h.developers = compressed(pages.Handler(pages.Options{
		BaseURL: a.Settings.BaseURL, Hardened: a.Settings.Hardened, SignedIn: a.signedIn,
		Guide: func() ([]byte, error) { return rest.Guide(g) },
	}))
	h.openAPI = a.document("application/json; charset=utf-8", func() ([]byte, error) {
		return rest.OpenAPI(g, a.Settings.BaseURL)
	})
	h.schema = a.document("text/plain; charset=utf-8", func() ([]byte, error) { return []byte(g.SDL()), nil })
	return h, nil
}

// charger charges the cost of an operation to the budget of the caller; see Server.budget.
type charger = func(r *http.Request, cost int) graphqlhttp.Budget

// graphQL returns the handler of the GraphQL API. Subscriptions end with ctx.
func (a *Server) graphQL(ctx context.Context, g *graph.Graph, charge charger) (http.Handler, error) {
	documents, err := Documents(a.Settings, g)
	if err != nil {
		return nil, err
	}
	queries, err := g.Handler(graphqlhttp.Options{
		Hardened: a.Settings.Hardened, Documents: documents, Charge: charge, Authenticate: a.authenticate,
		AllowWebSocket: a.allowSocket, Observe: a.metrics.Operation, Done: ctx.Done(),
	})
	if err != nil {
		return nil, err
	}
	return compressed(queries), nil
}

// rest returns the handler of the REST API.
func (a *Server) rest(g *graph.Graph, addresses urls.Builder, charge charger) (http.Handler, error) {
	api, err := rest.Handler(rest.Options{
		Graph: g, URLs: addresses, Charge: a.budgetOfREST(charge), Sunset: a.Settings.Sunset.Time,
		Observe: a.metrics.Operation,
		NoteDeprecated: func(r *http.Request, operation string) {
			caller, _ := auth.From(r.Context())
			a.Store.Activity.NoteDeprecated(caller, operation, r.UserAgent())
		},
		MayUpload: func(ctx context.Context, atLeast int64) error {
			caller, _ := auth.From(ctx)
			return a.Store.Uploads.MayUpload(ctx, caller, atLeast)
		},
		StoreForm: func(ctx context.Context, form signing.Form, atLeast int64, file io.Reader) error {
			return a.Store.Uploads.StoreStaged(ctx, form.FileID, atLeast, form.Limit, file)
		},
	})
	if err != nil {
		return nil, err
	}
	return compressed(api), nil
}

// document serves a text that does not change while the server runs. The first request generates
// it, because most servers never need it.
func (a *Server) document(contentType string, generate func() ([]byte, error)) http.Handler {
	generate = sync.OnceValues(generate)
	return compressed(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		text, err := generate()
		if err != nil {
			a.Logger.Error("cannot generate a document", "err", err)
			http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Cache-Control", "public, max-age=60")
		_, _ = w.Write(text)
	}))
}

func missing(w http.ResponseWriter) {
	rest.WriteError(w, http.StatusNotFound, "this path does not exist")
}

// compressed compresses the text responses of next. It is not used for file contents, which are
// usually compressed already or requested in ranges.
func compressed(next http.Handler) http.Handler { return gzhttp.GzipHandler(next) }
