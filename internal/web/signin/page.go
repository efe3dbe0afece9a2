package signin

import (
	"bytes"
	"crypto/rand"
	"embed"
	"html/template"
	"net/http"
	"strconv"
	"strings"

	"github.com/meshyard/meshyard/internal/outage"
	"github.com/meshyard/meshyard/internal/web/language"
	"github.com/meshyard/meshyard/internal/web/pages"
)

//go:embed pages/*.html
var pageFiles embed.FS

// templates are the pages by name, each with the layout.
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
	"link":      parsePage("link"),
}

func parsePage(name string) *template.Template {
	return template.Must(template.New(name).Funcs(template.FuncMap{"fill": language.Fill}).
		ParseFS(pageFiles, "pages/layout.html", "pages/"+name+".html"))
}

// A view is the data of the templates.
type view struct {
	Lang     *language.Texts
	Base     string // the path of the base URL, the prefix of each path of this server
	Nonce    string
	Site     string // name of the site
	Look     Look
	Scheme   string           // color scheme chosen in the gallery; "" for that of the system
	Message  language.Message // error message; may be empty
	Notice   string           // message about a finished action; may be empty
	Username string           // the signed-in user, or the username that was entered
	SignedIn bool
	Provider bool   // users can sign in with the operator's OpenID provider
	Next     string // the path to continue at after signing in

	Request *authorizationRequest
	// Token is the CSRF token of the form. On a page that a link opens it is the secret of the link.
	Token  string
	Code   string // an authorization code for the user to copy
	Tokens *tokenPage

	SendsMail, Registration bool
	Action                  string // the path to which the form is submitted
	Email                   string
	Fixed                   bool // the e-mail address cannot be changed here
	Confirmed               bool // the e-mail address is confirmed
}

// T returns the texts of the pages of this package.
func (v view) T() *language.SignIn { return &v.Lang.SignIn }

// At returns the URL of a path of this server.
func (v view) At(path string) string { return v.Base + path }

// About returns the attributes that connect an input with the texts about it: its rule, whose ID
// may be empty, and the error message if that is about this input, which then has the focus.
func (v view) About(field, rule string) template.HTMLAttr {
	if v.Message.Text != "" && v.Message.Field == field {
		return template.HTMLAttr(`aria-describedby="` + strings.TrimSpace("fault "+rule) + `" aria-invalid="true" autofocus`)
	}
	if rule != "" {
		return template.HTMLAttr(`aria-describedby="` + rule + `"`)
	}
	return ""
}

// texts returns the texts in the language of the visitor.
func texts(r *http.Request) *language.SignIn { return &language.Of(r).SignIn }

// Look is the appearance of the pages that the operator chose.
type Look struct {
	Logo         string       // path of the logo; "" for the default
	Accent, Text template.CSS // color of buttons and links, and of text on it; "" for the default
}

// Asset returns the path of a file of package pages.
func (v view) Asset(name string) (string, error) { return pages.AssetPath(v.Base, name) }

// show writes a page. forms contains the additional sources that its forms may lead to, for the
// content security policy.
func (s *site) show(w http.ResponseWriter, r *http.Request, name string, status int, v view, forms string) {
	v.Lang = language.Of(r)
	v.Base, v.Nonce, v.Provider, v.SendsMail, v.Registration = s.base, rand.Text(), s.Provider != nil, s.SendsMail,
		s.Registration
	if v.Site = s.SiteName; v.Site == "" {
		v.Site = "Meshyard"
	}
	v.Look, v.Scheme = s.Look, pages.Scheme(r)
	var page bytes.Buffer
	// It fails only if a template contains a misspelt name, which a test would detect.
	if err := templates[name].ExecuteTemplate(&page, "layout.html", v); err != nil {
		http.Error(w, v.Lang.SignIn.PageFailed, http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Security-Policy",
		"default-src 'none'; style-src 'nonce-"+v.Nonce+"'; img-src 'self'; base-uri 'none'; form-action 'self'"+forms+"; frame-ancestors 'none'")
	h.Set("Content-Type", "text/html; charset=utf-8")
	v.Lang.SetHeader(h)
	w.WriteHeader(status)
	_, _ = page.WriteTo(w) // an error means that the client has disconnected
}

// refuse shows a page with an error message.
func (s *site) refuse(w http.ResponseWriter, r *http.Request, status int, message string) {
	s.show(w, r, "refused", status, view{Message: language.Message{Text: message}}, "")
}

// fail shows a page about an error of the store or of another package.
func (s *site) fail(w http.ResponseWriter, r *http.Request, err error) {
	status, message := s.explain(r, err)
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", strconv.Itoa(int(outage.RetryAfter.Seconds())))
	}
	s.show(w, r, "refused", status, view{Message: message}, "")
}

// explain returns the status for an error and the message in the language of the visitor.
func (s *site) explain(r *http.Request, err error) (status int, message language.Message) {
	status, public := s.Explain(r.Context(), err)
	return status, language.Of(r).Explain(public)
}
