package webpage

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/meshyard/meshyard/internal/apierror"
)

// fail writes the response for an error: an error page to a browser, and the response of
// [Options.Fail] to a program.
func (o Options) fail(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case HasToken(r) || errors.Is(err, ErrSignInRequired):
		o.Fail(w, r, err)
	case errors.Is(err, ErrNotFound):
		o = o.at(r)
		o.write(w, r, http.StatusNotFound, o.newView(r, missingPage, nil))
	default:
		status, public := o.Explain(r.Context(), err)
		o.Refuse(w, r, status, public)
	}
}

// NotFound responds to a browser with the page for a path that does not exist.
func (o Options) NotFound(w http.ResponseWriter, r *http.Request) {
	visitor, r, _ := o.Visitor(r) // the path does not exist for anyone
	o = o.at(r)
	o.write(w, r, http.StatusNotFound, o.newView(r, missingPage, visitor))
}

// IsVisit reports whether a request comes from a person who opens a page in a browser: it has no
// access token and accepts HTML.
func IsVisit(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && !HasToken(r) &&
		strings.Contains(r.Header.Get("Accept"), "text/html")
}

// SearchURL returns the path and query of the search page for a person who opens the search of the
// REST API in a browser, /search or /search/TERM. ok is false for other requests.
func SearchURL(r *http.Request) (search string, ok bool) {
	path := strings.TrimSuffix(r.URL.Path, "/")
	term, hasTerm := strings.CutPrefix(path, "/search/")
	isSearch := path == "/search" || hasTerm && !strings.Contains(term, "/")
	if !isSearch || !IsVisit(r) { // the path is checked first, because every request comes here
		return "", false
	}
	query := r.URL.Query()
	if hasTerm {
		query.Set("q", strings.ReplaceAll(term, "+", " ")) // as in the REST API
	}
	u := url.URL{Path: "/explore", RawQuery: query.Encode()}
	return u.String(), true
}

// Refuse responds to a browser with an error page. It reads nothing from the database and the page
// runs no script, so that it works while the server is overloaded.
func (o Options) Refuse(w http.ResponseWriter, r *http.Request, status int, e *apierror.Error) {
	v := o.newView(r, problemPage, nil)
	v.Title, v.Message = v.Lang.Status(status), v.Lang.Explain(e)
	if seconds := int(e.RetryAfter.Seconds()); seconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(seconds))
	}
	o.write(w, r, status, v)
}
