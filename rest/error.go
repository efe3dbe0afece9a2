package rest

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/meshyard/meshyard/graph"
	"github.com/meshyard/meshyard/rest/wire"
)

// WriteError answers with an error in the documented shape: the words of the status as `error` and in X-Error, and the
// explanation as `message`.
func WriteError(w http.ResponseWriter, status int, message string, reasons ...string) {
	words := http.StatusText(status)
	h := w.Header()
	h.Set("X-Error", words)
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	if status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(wire.ErrorSchema{
		Error: words, Code: status, Type: strings.ToUpper(strings.ReplaceAll(words, " ", "_")), Message: message, Errors: reasons,
	})
}

// writeErrors answers with the gravest of the errors of an operation, since they come in no order.
func writeErrors(w http.ResponseWriter, errs gqlerror.List) {
	for _, row := range graph.Codes {
		for _, e := range errs {
			if e.Extensions["code"] == string(row.Code) {
				if seconds, ok := e.Extensions["retryAfter"].(int); ok {
					w.Header().Set("Retry-After", strconv.Itoa(seconds))
				}
				reasons, _ := e.Extensions["reasons"].([]string)
				WriteError(w, row.Status, e.Message, reasons...)
				return
			}
		}
	}
	WriteError(w, http.StatusInternalServerError, "something went wrong on the server; it has been logged")
}

// WriteFailure answers with an error that came from below without an operation around it.
func WriteFailure(w http.ResponseWriter, r *http.Request, err error) {
	writeErrors(w, gqlerror.List{graph.PresentError(r.Context(), err)})
}
