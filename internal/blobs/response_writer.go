package blobs

import (
	"io"
	"maps"
	"net/http"
)

// responseWriter is the writer that Serve writes to. It forwards success, and replaces the body of
// an error by one that fail writes.
type responseWriter struct {
	http.ResponseWriter
	before http.Header // the headers before describe
	fail   func(w http.ResponseWriter, status int, message string)

	begun, failed bool
}

func (a *responseWriter) WriteHeader(status int) {
	if a.begun || status < http.StatusBadRequest || a.fail == nil {
		a.begun = a.begun || status >= http.StatusOK
		a.ResponseWriter.WriteHeader(status)
		return
	}
	a.begun, a.failed = true, true
	h := a.Header()
	contentRange := h.Values("Content-Range")
	a.reset()
	if status == http.StatusRequestedRangeNotSatisfiable && len(contentRange) > 0 {
		h["Content-Range"] = contentRange // contains the size of the file: RFC 9110, section 15.5.17
	}
	a.fail(a.ResponseWriter, status, failure(status))
}

// reset restores the headers that were set before describe.
func (a *responseWriter) reset() {
	h := a.Header()
	clear(h)
	maps.Copy(h, a.before.Clone())
}

func failure(status int) string {
	switch status {
	case http.StatusRequestedRangeNotSatisfiable:
		return "the requested range starts after the end of the file"
	case http.StatusPreconditionFailed:
		return "the file does not match the conditions of the request"
	}
	return "the file cannot be served: " + http.StatusText(status)
}

func (a *responseWriter) Write(b []byte) (int, error) {
	if a.failed {
		return len(b), nil
	}
	a.begun = true
	return a.ResponseWriter.Write(b)
}

// ReadFrom lets the kernel copy a file to the connection.
func (a *responseWriter) ReadFrom(from io.Reader) (int64, error) {
	if a.failed {
		return io.Copy(io.Discard, from)
	}
	a.begun = true
	return io.Copy(a.ResponseWriter, from)
}

// Unwrap returns the underlying writer, for http.ResponseController.
func (a *responseWriter) Unwrap() http.ResponseWriter { return a.ResponseWriter }
