package rest

import (
	"net/http"
	"time"
)

// storeForm takes the bytes of a staged upload. It is the one operation with no document: no token
// comes with the form, the signed policy among its fields stands for one, and the file must not be
// held in memory. It answers 200 with the address to finalize at in Location, since some clients
// take nothing else for success and others read nothing but Location.
func (s *server) storeForm(w http.ResponseWriter, r *http.Request) {
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
		WriteFailure(w, r, badInput("file", "file: is missing: the part named file comes after the fields"))
		return
	}
	if err := s.StoreForm(r.Context(), form, file.atLeast, file); err != nil {
		WriteFailure(w, r, err)
		return
	}
	w.Header().Set("Location", form.Redirect)
	w.WriteHeader(http.StatusOK)
}
