package rest

import (
	"net/http"
	"time"

	"github.com/meshyard/meshyard/rest/wire"
)

// storeForm stores the file of a staged upload. It is the only operation without a stored document:
// the form is authorized by its signed policy instead of a token, and the file must not be buffered
// in memory. It responds with 200 and the URL to finalize the upload in Location: some clients
// accept no other status as success, others read only Location, and others decode the body as JSON.
func (s *server) storeForm(w http.ResponseWriter, r *http.Request) {
	setRoute(r)
	w.Header().Set("Cache-Control", "no-store")
	values, file, err := readForm(r)
	if err != nil {
		WriteFailure(w, r, err)
		return
	}
	fields := make(map[string]string, len(values))
	for name, value := range values {
		fields[name], _ = value.(string)
	}
	form, err := s.URLs.Key.CheckForm(fields, time.Now())
	if err != nil {
		WriteError(w, http.StatusForbidden, err.Error())
		return
	}
	if file == nil {
		WriteFailure(w, r, badInput("file", "file: is missing: the part named file must come after the fields"))
		return
	}
	if err := s.StoreForm(r.Context(), form, file.atLeast, file); err != nil {
		WriteFailure(w, r, err)
		return
	}
	w.Header().Set("Location", form.Redirect)
	if err := writeJSON(w, wire.OKSchema{}); err != nil {
		WriteFailure(w, r, err)
	}
}
