package server

import (
	"net/http"
	"strings"

	"github.com/meshyard/meshyard/internal/blobs"
	"github.com/meshyard/meshyard/internal/httpserver/draining"
	"github.com/meshyard/meshyard/internal/httpserver/requestline"
	"github.com/meshyard/meshyard/internal/telemetry"
	"github.com/meshyard/meshyard/internal/urls"
	"github.com/meshyard/meshyard/internal/web/language"
	"github.com/meshyard/meshyard/internal/web/webpage"
	"github.com/meshyard/meshyard/rest"
)

// dispatcher sends each request to the pages of the gallery, to the downloads or to the table of
// routes. A ServeMux alone cannot: the pages are at paths such as /thing:42 and /NAME, which its
// patterns cannot express.
type dispatcher struct {
	routes *http.ServeMux
	// The pages, the headers of downloads, and the page for unknown paths share one limit.
	pages, downloadHeaders, notFound http.Handler
	downloads                        http.Handler
	webPages                         webpage.Options
	addresses                        urls.Builder
	draining                         <-chan struct{} // closed when the server begins to shut down
}

func (d *dispatcher) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	draining.Announce(w.Header(), d.draining)
	requestline.Unmark(r)
	r = rest.OneTerm(withOneSlash(withOpened(r, d.addresses)))
	if search, ok := webpage.SearchURL(r); ok {
		w.Header().Set("Vary", "Accept")
		http.Redirect(w, r, urls.BaseOf(r.Context(), d.webPages.BaseURL)+search, http.StatusFound)
		return
	}
	if r.Method == http.MethodPost { // it may cause a mail
		r = r.WithContext(language.WithRequest(r.Context(), r))
	}
	d.choose(r).ServeHTTP(w, r)
	// The REST API, which serves / and /api/, names its own routes.
	if r.Pattern != "" && r.Pattern != "/" && r.Pattern != "/api/" {
		telemetry.SetRoute(r.Context(), r.Pattern)
	}
}

// choose returns the handler of a request.
func (d *dispatcher) choose(r *http.Request) http.Handler {
	isDownload := strings.HasPrefix(r.URL.Path, blobs.DownloadPrefix)
	switch {
	case isDownload && r.Method == http.MethodHead: // so cheap that all IDs could be tried
		return d.downloadHeaders
	case isDownload:
		return d.downloads
	case routable(r.URL) && d.webPages.Serves(r):
		return d.pages
	}
	if unknown := d.unknown(r); unknown != nil {
		return unknown
	}
	return d.routes
}

// unknown decides what a request for an unknown path gets. It returns nil if a route serves the
// request: also a program gets its errors, 404 or 405, from the REST API, whose route is /.
func (d *dispatcher) unknown(r *http.Request) http.Handler {
	visit := webpage.IsVisit(r)
	switch {
	case visit && (!routable(r.URL) || d.isUnknown(r)):
		return d.notFound
	case !routable(r.URL): // a ServeMux would redirect it
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { missing(w) })
	}
	return nil
}

// isUnknown reports whether no route and no path of the REST API matches a routable request.
func (d *dispatcher) isUnknown(r *http.Request) bool {
	_, pattern := d.routes.Handler(r)
	return pattern == "/" && !rest.IsPath(r.URL)
}
