package signin

import (
	"bytes"
	"crypto/rand"
	"embed"
	"html/template"
	"net/http"
	"strconv"

	"github.com/meshyard/meshyard/internal/outage"
	"github.com/meshyard/meshyard/internal/pages"
)

//go:embed pages/*.html
var pageFiles embed.FS

// Each page fills the place that the layout leaves for it.
var templates = map[string]*template.Template{
	"sign-in": parsePage("sign-in"),
	"consent": parsePage("consent"),
	"code":    parsePage("code"),
	"tokens":  parsePage("tokens"),
	"refused": parsePage("refused"),

	"sign-up":   parsePage("sign-up"),
	"register":  parsePage("register"),
	"forgotten": parsePage("forgotten"),
	"reset":     parsePage("reset"),
	"confirm":   parsePage("confirm"),
	"account":   parsePage("account"),
	"sent":      parsePage("sent"),
}

func parsePage(name string) *template.Template {
	return template.Must(template.ParseFS(pageFiles, "pages/layout.html", "pages/"+name+".html"))
}

// A view is what the templates see.
type view struct {
	Base     string // before each path of this server
	Nonce    string
	Site     string // its name
	Message  string // what went wrong; empty: nothing
	Notice   string // what was done; empty: nothing
	Username string // who is signed in, or tries to
	SignedIn bool
	Provider bool   // people may sign in through the operator's OpenID provider
	Next     string // where to go on to

	Question *question
	// Token binds a form to the session, and a decision to the question. On the page that a link opens
	// it is the secret of the link.
	Token  string
	Code   string // an authorization code to copy
	Tokens *tokenPage

	SendsMail, Registration bool
	Action                  string // the path that a form leads to
	Email                   string
	Fixed                   bool // the e-mail address cannot be changed here
	Confirmed               bool // the e-mail address is
}

// Asset is the address of a file of the pages.
func (v view) Asset(name string) (string, error) { return pages.AssetAddress(v.Base, name) }

// show writes a page. forms is where its forms may lead to, beside this server.
func (s *site) show(w http.ResponseWriter, name string, status int, v view, forms string) {
	v.Base, v.Nonce, v.Provider, v.SendsMail, v.Registration = s.base, rand.Text(), s.Provider != nil, s.SendsMail, s.Registration
	if v.Site = s.SiteName; v.Site == "" {
		v.Site = "Meshyard"
	}
	var page bytes.Buffer
	// only a name misspelt in a template, which a test would find
	if err := templates[name].ExecuteTemplate(&page, "layout.html", v); err != nil {
		http.Error(w, "The page could not be written.", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'nonce-"+v.Nonce+"'; img-src 'self'; base-uri 'none'; form-action 'self'"+forms+"; frame-ancestors 'none'")
	h.Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = page.WriteTo(w) // an error means that the browser has gone
}

// refuse shows why it does not go on.
func (s *site) refuse(w http.ResponseWriter, _ *http.Request, status int, message string) {
	s.show(w, "refused", status, view{Message: message}, "")
}

// fail shows an error that came from below.
func (s *site) fail(w http.ResponseWriter, r *http.Request, err error) {
	status, message := s.Explain(r.Context(), err)
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", strconv.Itoa(int(outage.RetryAfter.Seconds())))
	}
	s.refuse(w, r, status, message)
}
