// Package tus serves resumable uploads by the tus protocol 1.0.0 (https://tus.io/protocols), with
// the extensions creation, creation-with-upload, creation-defer-length, termination, expiration,
// checksum and concatenation. The ID of an upload is that of its file, which is an ordinary pending
// upload once all bytes have arrived.
//
// Package tusd implements the protocol, apart from checksums and expiration. This package adds
// these, authorization, and what connects it to models.
package tus

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tus/tusd/v2/pkg/handler"
	"github.com/tus/tusd/v2/pkg/memorylocker"
	xslog "golang.org/x/exp/slog"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/urls"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/uploads"
	"github.com/meshyard/meshyard/rest"
)

// Path is the path of the endpoint. Uploads are below it.
const Path = "/files/0/tus"

// FileIDHeader is the response header with the ID of the file.
const FileIDHeader = "Upload-File-Id"

const (
	extensions = "creation,creation-with-upload,creation-defer-length,termination,expiration,checksum,concatenation"
	// checksumMismatch is the status for a checksum that does not match (tus protocol, checksum).
	checksumMismatch = 460
	// idleTimeout is how long a request may send nothing.
	idleTimeout = time.Minute
)

// Options are the options of Handler.
type Options struct {
	Store *uploads.Store
	// BaseURL is the URL under which clients reach the server, for the URLs of uploads.
	BaseURL string
	Limit   int64 // bytes of one file
	// Shared says that other processes use the same database, so that locks must be in it.
	Shared bool
}

// Handler returns the handler of Path and what is below. The context of a request must have its
// caller.
func Handler(o Options) (http.Handler, error) {
	composer := handler.NewStoreComposer()
	s := store{o.Store}
	composer.UseCore(s)
	composer.UseTerminater(s)
	composer.UseLengthDeferrer(s)
	composer.UseConcater(s)
	if o.Shared {
		composer.UseLocker(patient{locker{o.Store}})
	} else {
		composer.UseLocker(patient{memorylocker.New()})
	}
	tus, err := handler.NewHandler(handler.Config{
		StoreComposer: composer, BasePath: Path, MaxSize: o.Limit, DisableDownload: true,
		Cors:           &handler.CorsConfig{Disable: true}, // for all routes, see server
		NetworkTimeout: idleTimeout,
		Logger:         xslog.New(quiet{}), // requests are logged by package telemetry
	})
	if err != nil {
		return nil, err
	}
	return &server{store: o.Store, base: o.BaseURL, tus: http.StripPrefix(Path, tus)}, nil
}

// Serves reports whether a request is one of the protocol. Then this package verifies its digest.
func Serves(r *http.Request) bool {
	return r.URL.Path == Path || strings.HasPrefix(r.URL.Path, Path+"/")
}

// IsPart reports whether a request adds bytes to an upload.
func IsPart(r *http.Request) bool {
	return r.Method == http.MethodPatch && strings.HasPrefix(r.URL.Path, Path+"/")
}

// server authorizes requests, and adds what tusd lacks.
type server struct {
	store *uploads.Store
	base  string
	tus   http.Handler
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost && r.Header.Get("X-HTTP-Method-Override") != "" {
		r = r.Clone(r.Context())
		r.Method = strings.ToUpper(r.Header.Get("X-HTTP-Method-Override"))
		r.Header.Del("X-HTTP-Method-Override")
	}
	w = &response{ResponseWriter: w, base: urls.BaseOf(r.Context(), s.base), options: r.Method == http.MethodOptions}
	if r.Method == http.MethodOptions {
		w.Header().Set("Tus-Checksum-Algorithm", algorithmNames)
		s.tus.ServeHTTP(w, r)
		return
	}
	if err := auth.Authorize(r.Context(), auth.Write); err != nil {
		rest.WriteFailure(w, r, err)
		return
	}
	r, err := withChecksum(r)
	if err != nil {
		rest.WriteFailure(w, r, err)
		return
	}
	if id := strings.Trim(strings.TrimPrefix(r.URL.Path, Path), "/"); id != "" {
		u, err := s.find(r.Context(), id) // before the lock, which another user must not take
		if err != nil {
			rest.WriteFailure(w, r, err)
			return
		}
		describe(w.Header(), u)
	}
	s.tus.ServeHTTP(w, r)
}

// find returns an upload of the caller.
func (s *server) find(ctx context.Context, id string) (*uploads.Resumable, error) {
	number, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return nil, &models.Error{Code: models.NotFound, Message: "upload " + strconv.Quote(id) + " does not exist"}
	}
	return s.store.Resumable(ctx, callerOf(ctx), number)
}

func callerOf(ctx context.Context) auth.Caller {
	caller, _ := auth.From(ctx)
	return caller
}

// describe sets the headers that every response about an upload has.
func describe(h http.Header, u *uploads.Resumable) {
	h.Set(FileIDHeader, strconv.FormatInt(u.FileID, 10))
	if !u.Done {
		h.Set("Upload-Expires", u.ExpiresAt.UTC().Format(http.TimeFormat))
	}
}

// response adds headers that depend on those that tusd sets.
type response struct {
	http.ResponseWriter
	base           string // URL of the server
	options, wrote bool
}

// Unwrap is for [http.ResponseController], by which tusd sets deadlines.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *response) WriteHeader(status int) {
	if !w.wrote {
		w.wrote = true
		h := w.Header()
		if w.options {
			h.Set("Tus-Extension", extensions)
		}
		h.Set("Cache-Control", "no-store")
		// The ID of a new upload is in its URL only, which has the address in the request: that of a
		// proxy may be another one.
		if location := h.Get("Location"); location != "" {
			id := location[strings.LastIndexByte(location, '/')+1:]
			h.Set(FileIDHeader, id)
			h.Set("Location", w.base+Path+"/"+id)
		}
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *response) Write(p []byte) (int, error) {
	if !w.wrote {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(p)
}

// ReadFrom hides that of the wrapped writer, which would bypass WriteHeader.
func (w *response) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{w}, r)
}

// quiet is a log handler that drops the lines of tusd: it logs each step of each request.
type quiet struct{}

func (quiet) Enabled(context.Context, xslog.Level) bool  { return false }
func (quiet) Handle(context.Context, xslog.Record) error { return nil }
func (q quiet) WithAttrs([]xslog.Attr) xslog.Handler     { return q }
func (q quiet) WithGroup(string) xslog.Handler           { return q }
