// Package viewer serves the page that shows a model in 3D with three.js. The page and everything it
// loads are embedded in the binary, and it requests no other host.
package viewer

import (
	"bytes"
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"strconv"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/web/assets"
	"github.com/meshyard/meshyard/internal/web/language"
	"github.com/meshyard/meshyard/internal/web/pages"
)

// State is the state of processing of a file.
type State string

// Done means that there is a URL of three.js JSON or of GLB. None means that files of this kind are
// not shown.
const (
	Waiting State = "waiting"
	Running State = "running"
	Done    State = "done"
	Failed  State = "failed"
	None    State = "none"
)

// Model is the model of the page. URLs may be empty. Those of the model and the thumbnail must be
// on this server and must not redirect to another host, because the content security policy of the
// page forbids other hosts.
type Model struct {
	Name         string // of the file
	State        State
	Progress     float64 // while running, 0 to 1
	Reason       string  // if failed: the name of the reason in the GraphQL schema, if it is known
	Error        string  // if failed: the details of the reason, as a sentence in English
	ThreejsURL   string  // loaded first, unless only the GLB has textures and it is not decimated
	GLBURL       string  // the full model, Y up
	Textured     bool    // the GLB has textures, which three.js JSON does not have
	Decimated    bool    // the three.js JSON has fewer triangles than the file
	DownloadURL  string
	ThumbnailURL string     // shown until the model is loaded, or if it cannot be shown
	Triangles    int64      // of the file
	Vertices     int64      // of the file; without triangles, the number of points
	SizeMM       [3]float64 // width, depth and height; the last is along the up axis
	ThingName    string
	ThingURL     string
}

// Options are the dependencies of Handler.
type Options struct {
	// Load returns the model of a file, or an error if the request gives no access to it. The query
	// of the request, which may contain a signature, is that of the page.
	Load func(r *http.Request, fileID int64) (Model, error)
	// Fail writes the response for an error of Load to a program.
	Fail func(w http.ResponseWriter, r *http.Request, err error)
	// Redirect redirects the browser for an error of Load if signing in resolves it, and reports
	// whether it did. It may be nil.
	Redirect func(w http.ResponseWriter, r *http.Request, err error) bool
	// Explain returns the status for an error of Load, and its public part.
	Explain func(ctx context.Context, err error) (status int, public *apierror.Error)
}

//go:embed page.html
var pageHTML string

//go:embed error.html
var errorHTML string

var (
	pageTemplate  = template.Must(template.New("page").Parse(pageHTML))
	errorTemplate = template.Must(template.New("error").Parse(errorHTML))
)

// Handler serves GET and HEAD of /view/{file_id}, the state below it, which the page polls, and
// /view/assets/. Mount it at "GET /view/" without StripPrefix. URLs in the page are relative,
// except those of the model.
func Handler(o Options) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /view/{file_id}", o.page)
	mux.HandleFunc("GET /view/{file_id}/state", o.state)
	mux.HandleFunc("GET /view/assets/{version}/{folder}/{name}", serveAsset)
	return assets.Strict(mux)
}

// pagePolicy allows scripts and styles with the nonce, and no others, not even files of this
// server, some of which are uploads. It extends to what a script with the nonce imports. The canvas
// and three.js set styles through the CSSOM, which the policy does not affect. GLTFLoader fetches
// the textures of a GLB as blobs, which only scripts of the page can create; in Safari before 17 it
// loads them as images. Pages of this server may show it in a frame, as the page of a thing does.
func pagePolicy(nonce string) string {
	return "default-src 'none'; script-src 'nonce-" + nonce + "'; style-src 'nonce-" + nonce +
		"'; img-src 'self' blob:; connect-src 'self' blob:; " +
		"worker-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
}

// page writes the page with a new nonce, so the response must not be stored. Errors are pages too.
func (o Options) page(w http.ResponseWriter, r *http.Request) {
	t := language.Of(r)
	text := r.PathValue("file_id")
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		writeError(w, r, t, http.StatusNotFound,
			language.Message{Text: fmt.Sprintf(t.Viewer.NoModel, fmt.Sprintf("%.40q", text))})
		return
	}
	m, err := o.Load(r, id)
	if err != nil {
		if o.Redirect != nil && o.Redirect(w, r, err) {
			return
		}
		status, public := o.Explain(r.Context(), err)
		writeError(w, r, t, status, t.Explain(public))
		return
	}
	nonce := rand.Text()
	var page bytes.Buffer
	if err := pageTemplate.Execute(&page, map[string]any{"Nonce": nonce, "Scheme": pages.Scheme(r), "Asset": assetAddress,
		"Model": m, "Shown": show(m, t), "Lang": t, "T": &t.Viewer}); err != nil {
		status, public := o.Explain(r.Context(), fmt.Errorf("page of a model: %w", err))
		writeError(w, r, t, status, t.Explain(public))
		return
	}
	t.SetHeader(w.Header())
	assets.WritePage(w, http.StatusOK, pagePolicy(nonce), page.Bytes())
}

// writeError writes an error page.
func writeError(w http.ResponseWriter, r *http.Request, t *language.Texts, status int, message language.Message) {
	nonce := rand.Text()
	var page bytes.Buffer
	// It fails only if the template contains a misspelt name, which a test would detect.
	_ = errorTemplate.Execute(&page, map[string]any{"Nonce": nonce, "Scheme": pages.Scheme(r), "Lang": t,
		"Title": t.Status(status), "Message": message})
	t.SetHeader(w.Header())
	assets.WritePage(w, status, pagePolicy(nonce), page.Bytes())
}

// assetAddress returns a URL relative to the page, in characters that need no escaping in HTML,
// JSON and URLs.
func assetAddress(name string) (string, error) {
	if _, ok := files()[name]; !ok {
		return "", fmt.Errorf("no asset %q", name)
	}
	return "./assets/" + version() + "/" + name, nil
}

// state writes the data of the page as JSON with an ETag, so polling costs a 304 while nothing
// changes.
func (o Options) state(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseInt(r.PathValue("file_id"), 10, 64)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	m, err := o.Load(r, id)
	if err != nil {
		o.Fail(w, r, err)
		return
	}
	t := language.Of(r)
	content, err := json.Marshal(show(m, t))
	if err != nil {
		o.Fail(w, r, fmt.Errorf("state of a model: %w", err))
		return
	}
	t.SetHeader(w.Header())
	assets.New("state.json", content).Serve(w, r, "")
}
