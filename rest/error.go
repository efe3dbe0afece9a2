package rest

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/graphql/graphqlhttp"
	"github.com/meshyard/meshyard/rest/wire"
)

// WriteError writes an error response in the documented format: the text of the status as `error`
// and in X-Error, and the explanation as `message`.
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
		Error: words, Code: status, Type: strings.ToUpper(strings.ReplaceAll(words, " ", "_")), Message: message,
		Errors: reasons,
	})
}

// writeErrors responds with the most severe error of an operation.
func writeErrors(w http.ResponseWriter, errs gqlerror.List) {
	e, status := graphqlhttp.MostSevere(errs)
	if seconds, ok := e.Extensions["retryAfter"].(int); ok {
		w.Header().Set("Retry-After", strconv.Itoa(seconds))
	}
	faults, _ := e.Extensions["fields"].([]apierror.FieldError)
	var reasons []string
	if len(faults) > 1 || len(faults) == 1 && faults[0].Message != e.Message {
		for _, fault := range faults {
			reasons = append(reasons, fault.Message)
		}
	}
	WriteError(w, status, e.Message, reasons...)
}

// WriteFailure writes an error response for err. An error of a GraphQL operation already has a
// code; any other error is first converted as for GraphQL clients.
func WriteFailure(w http.ResponseWriter, r *http.Request, err error) {
	var presented *gqlerror.Error
	if errors.As(err, &presented) && presented.Extensions["code"] != nil {
		writeErrors(w, gqlerror.List{presented})
		return
	}
	writeErrors(w, gqlerror.List{graphqlhttp.PresentError(r.Context(), err)})
}
