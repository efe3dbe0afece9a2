package webpage

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
)

// Problem describes why a page cannot be shown.
type Problem struct {
	Status     int
	Message    string
	RetryAfter int // seconds; 0: unknown
}

// title returns the title of the error page.
func (p Problem) title() string {
	switch p.Status {
	case http.StatusForbidden:
		return "No access"
	case http.StatusTooManyRequests:
		return "Too many requests"
	case http.StatusServiceUnavailable:
		return "The server is busy"
	}
	return "Something went wrong"
}

// fail writes the response for an error: an error page to a browser, and the response of
// [Options.Fail] to a program.
func (o Options) fail(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case HasToken(r) || errors.Is(err, ErrSignInRequired):
		o.Fail(w, r, err)
	case errors.Is(err, ErrNotFound):
		o.write(w, r, http.StatusNotFound, o.newView(missingPage, nil))
	default:
		o.Refuse(w, r, o.Explain(r.Context(), err))
	}
}

// NotFound responds to a browser with the page for a path that does not exist.
func (o Options) NotFound(w http.ResponseWriter, r *http.Request) {
	visitor, r := o.Visitor(r)
	o.write(w, r, http.StatusNotFound, o.newView(missingPage, visitor))
}

// IsVisit reports whether a request comes from a person who opens a page in a browser: it has no
// access token and accepts HTML.
func IsVisit(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && !HasToken(r) && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// Refuse responds to a browser with an error page. It reads nothing from the database and the page
// runs no script, so that it works while the server is overloaded.
func (o Options) Refuse(w http.ResponseWriter, r *http.Request, p Problem) {
	v := o.newView(problemPage, nil)
	v.Title, v.Message = p.title(), p.Message
	if p.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(p.RetryAfter))
	}
	o.write(w, r, p.Status, v)
}
