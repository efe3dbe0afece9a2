package webpage

import (
	"errors"
	"net/http"
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
		o.write(w, r, http.StatusNotFound, o.newView(r, missingPage, nil))
	default:
		status, public := o.Explain(r.Context(), err)
		o.Refuse(w, r, status, public)
	}
}

// NotFound responds to a browser with the page for a path that does not exist.
func (o Options) NotFound(w http.ResponseWriter, r *http.Request) {
	visitor, r := o.Visitor(r)
	o.write(w, r, http.StatusNotFound, o.newView(r, missingPage, visitor))
}

// IsVisit reports whether a request comes from a person who opens a page in a browser: it has no
// access token and accepts HTML.
func IsVisit(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && !HasToken(r) && strings.Contains(r.Header.Get("Accept"), "text/html")
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
