// Package viewer serves the page that shows a model in three dimensions, drawn by three.js. The page and all it loads come from inside the
// binary, and it asks no host but the server itself.
package viewer

import (
	"bytes"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"strconv"

	"github.com/meshyard/meshyard/internal/assets"
)

// State is how far the work is that makes a file fit to be shown.
type State string

// The states. Done says that there is an address of three.js JSON or of GLB, None that files of this kind are not shown.
const (
	Waiting State = "waiting"
	Running State = "running"
	Done    State = "done"
	Failed  State = "failed"
	None    State = "none"
)

// Model is what the page shows. Addresses may be empty where there is nothing. Those of the model and the thumbnail must be on the server
// itself and answered there: the page's policy lets no other host in, be it by a redirect.
type Model struct {
	Name         string // of the file
	State        State
	Progress     float64 // while running, 0 to 1
	Error        string  // when failed: why, in a sentence for the reader
	ThreejsURL   string  // shown first
	GLBURL       string  // all of the model, Y up
	Decimated    bool    // the three.js JSON has fewer triangles than the file
	DownloadURL  string
	ThumbnailURL string     // shown until the model is, and where it cannot be
	Triangles    int64      // of the file
	Vertices     int64      // of the file; where there are no triangles, these are the points that are shown
	SizeMM       [3]float64 // width, depth and height: the last is along the axis that points up
	ThingName    string
	ThingURL     string
}

// Options says where the page's models come from.
type Options struct {
	// Load gives the model of a file to whoever may have it by such a request: its query, which may hold a signature, is that of the page.
	Load func(r *http.Request, fileID int64) (Model, error)
	// Fail answers with an error of Load.
	Fail func(w http.ResponseWriter, r *http.Request, err error)
}

//go:embed page.html
var pageHTML string

var pageTemplate = template.Must(template.New("page").Parse(pageHTML))

// Handler answers GET and HEAD of /view/{file_id}, of the state below it that the page asks for while the model is made, and of
// /view/assets/. Mount it at "GET /view/" without StripPrefix. Addresses in the page are relative to its own, but for those of the model.
func Handler(o Options) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /view/{file_id}", o.page)
	mux.HandleFunc("GET /view/{file_id}/state", o.state)
	mux.HandleFunc("GET /view/assets/{version}/{folder}/{name}", serveAsset)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setHeaders(w.Header())
		mux.ServeHTTP(w, r)
	})
}

// setHeaders gives every answer, refusals too, the strictest policy; the page alone widens it.
func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// pagePolicy runs and wears what has the nonce and nothing else, not even other files of this server: some of those are uploads. What a script
// with the nonce imports has it too. Canvases and three.js style through the CSSOM, which the policy does not reach.
func pagePolicy(nonce string) string {
	return "default-src 'none'; script-src 'nonce-" + nonce + "'; style-src 'nonce-" + nonce + "'; img-src 'self'; connect-src 'self'; " +
		"worker-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

// load answers itself where there is no model to give.
func (o Options) load(w http.ResponseWriter, r *http.Request) (Model, bool) {
	id, err := strconv.ParseInt(r.PathValue("file_id"), 10, 64)
	if err != nil {
		http.NotFound(w, r)
		return Model{}, false
	}
	m, err := o.Load(r, id)
	if err != nil {
		o.Fail(w, r, err)
		return Model{}, false
	}
	return m, true
}

// page writes the page with a fresh nonce, which is why it may not be stored.
func (o Options) page(w http.ResponseWriter, r *http.Request) {
	m, ok := o.load(w, r)
	if !ok {
		return
	}
	nonce := rand.Text()
	var page bytes.Buffer
	if err := pageTemplate.Execute(&page, map[string]any{"Nonce": nonce, "Asset": assetAddress, "Model": m, "Shown": show(m)}); err != nil {
		o.Fail(w, r, fmt.Errorf("page of a model: %w", err))
		return
	}
	w.Header().Set("Content-Security-Policy", pagePolicy(nonce))
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = page.WriteTo(w) // an error means that the browser has gone
}

// assetAddress is relative to the page, and made of characters that mean the same in HTML, JSON and addresses.
func assetAddress(name string) (string, error) {
	if _, ok := files[name]; !ok {
		return "", fmt.Errorf("no asset %q", name)
	}
	return "./assets/" + version + "/" + name, nil
}

// state answers with what the page shows, in JSON, under an ETag: while nothing changes, asking again costs a 304.
func (o Options) state(w http.ResponseWriter, r *http.Request) {
	m, ok := o.load(w, r)
	if !ok {
		return
	}
	content, err := json.Marshal(show(m))
	if err != nil {
		o.Fail(w, r, fmt.Errorf("state of a model: %w", err))
		return
	}
	assets.New("state.json", content).Serve(w, r, "")
}
