package server

import (
	"mime"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/auth/bearer"
	"github.com/meshyard/meshyard/internal/telemetry"
	"github.com/meshyard/meshyard/internal/urls"
	"github.com/meshyard/meshyard/internal/web/webpage"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/rest"
)

const (
	archivePath = "/login/archive"
	// maxArchives is the maximum number of archives that a server sends at a time. Each takes a
	// temporary file with the rows, and memory for its list of contents.
	maxArchives = 8
)

// archives sends users the archives of their accounts.
type archives struct {
	server   *Server
	webPages webpage.Options

	mu      sync.Mutex
	sending map[int64]bool // by user
}

func (a *archives) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	caller, err := a.caller(r)
	switch {
	case err != nil:
		a.fail(w, r, err)
		return
	case !caller.Known() && webpage.IsVisit(r):
		// Not to the archive itself, which would leave the browser on the sign-in page.
		http.Redirect(w, r, urls.BaseOf(r.Context(),
			a.server.Settings.BaseURL)+"/login?"+url.Values{"next": {"/settings"}}.Encode(), http.StatusSeeOther)
		return
	case bearer.Token(r) == "" && !a.server.fromOwnPage(r):
		http.Redirect(w, r, urls.BaseOf(r.Context(), a.server.Settings.BaseURL)+"/settings", http.StatusSeeOther)
		return
	}
	if err := a.begin(caller.UserID); err != nil {
		a.fail(w, r, err)
		return
	}
	defer a.end(caller.UserID)
	ctx := auth.WithCaller(r.Context(), caller, nil)
	archive, err := a.server.Store.Archive.UserArchive(ctx, caller)
	if err != nil {
		a.fail(w, r, err)
		return
	}
	defer archive.Close()
	h := w.Header()
	h.Set("Content-Type", "application/zip")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": archive.Username +
		".zip"}))
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(http.StatusOK) // the log would have no status for HEAD
	if r.Method == http.MethodHead {
		return
	}
	m, err := archive.Write(ctx, w)
	if err != nil {
		if ctx.Err() == nil {
			a.server.Logger.ErrorContext(ctx, "an archive of a user was cut off", "error", err.Error())
		}
		panic(http.ErrAbortHandler) // closes the connection, so that the client notices
	}
	if len(m.Missing) > 0 {
		a.server.Logger.ErrorContext(ctx, "contents of an archive of a user are missing from the bucket or damaged", "sha256",
			m.Missing)
	}
}

// caller returns the user of the token or, without a token, of the session. The cookie suffices for
// the session, because the request changes nothing.
func (a *archives) caller(r *http.Request) (auth.Caller, error) {
	if bearer.Token(r) != "" {
		caller, _ := auth.From(r.Context())
		return caller, auth.Authorize(r.Context(), auth.Read)
	}
	who, ok, err := a.server.session(r)
	if err != nil {
		return auth.Caller{}, err
	}
	if !ok && !webpage.IsVisit(r) {
		return auth.Caller{}, &models.Error{Code: models.Unauthenticated,
			Message: "an access token or signing in is required"}
	}
	telemetry.SetCaller(r.Context(), who.UserID, 0)
	return who.Caller, nil
}

// begin counts an archive that is about to be sent to a user. It returns an error if there are too
// many.
func (a *archives) begin(user int64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.sending[user]:
		return &models.Error{
			Code: models.RateLimited, Field: "archive", Limit: 1, RetryAfter: time.Minute,
			Message: "your archive is already being downloaded: wait until that has finished, or cancel it",
		}
	case len(a.sending) >= maxArchives:
		return &models.Error{
			Code: apierror.Unavailable, Field: "archive", Limit: maxArchives, RetryAfter: time.Minute,
			Message: "other users are downloading their archives: try again in a few minutes",
		}
	}
	a.sending[user] = true
	return nil
}

func (a *archives) end(user int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.sending, user)
}

// fail writes the response for an error: a page to a browser, and JSON to a program.
func (a *archives) fail(w http.ResponseWriter, r *http.Request, err error) {
	if !webpage.IsVisit(r) {
		rest.WriteFailure(w, r, err)
		return
	}
	status, public := explain(r.Context(), err)
	a.webPages.Refuse(w, r, status, public)
}
