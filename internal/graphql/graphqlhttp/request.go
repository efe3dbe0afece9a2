package graphqlhttp

import (
	"bytes"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/httpserver/httpbody"
	"github.com/meshyard/meshyard/internal/outage"
)

// readRequest reads the GraphQL request. allowGet permits queries by GET. The status is the one to
// respond with if err is not nil.
func readRequest(r *http.Request, allowGet bool) (params *graphql.RawParams, status int, err error) {
	switch mediaType, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); {
	case (r.Method == http.MethodGet || r.Method == http.MethodHead) && allowGet:
		params, err = readQuery(r.URL.Query())
	case r.Method != http.MethodPost:
		return nil, http.StatusMethodNotAllowed, apierror.Invalid("", "send GraphQL requests by POST")
	case mediaType == "multipart/form-data":
		// Uploads need a token, which also prevents CSRF: a page of another site could send a
		// multipart form without a preflight request, but it has no token.
		if _, err := auth.Identified(r.Context()); err != nil {
			if down := outage.Of(err); down != nil { // the token could not be looked up
				outage.Log(r.Context(), down, err)
				err = down
			}
			return nil, statusOf(apierror.CodeOf(err)), err
		}
		params, err = readMultipart(r)
	case mediaType == jsonType:
		params, err = readJSONBody(r)
	default:
		return nil, http.StatusUnsupportedMediaType,
			apierror.Invalid("", "Content-Type must be application/json or multipart/form-data")
	}
	if err == nil && params.Query == "" && params.Extensions["persistedQuery"] == nil {
		err = apierror.Invalid("query", "query: is required")
	}
	if err != nil {
		return nil, http.StatusBadRequest, err
	}
	params.Headers = r.Header
	return params, http.StatusOK, nil
}

// isMultipart reports whether the request carries a file that is read while the operation runs.
func isMultipart(r *http.Request) bool {
	return strings.HasPrefix(strings.ToLower(r.Header.Get("Content-Type")), "multipart/")
}

func readJSONBody(r *http.Request) (*graphql.RawParams, error) {
	text, err := io.ReadAll(io.LimitReader(r.Body, httpbody.MaxJSON+1))
	if err != nil {
		return nil, apierror.Or(err, apierror.Invalid("", "the request body ended early"))
	}
	if len(text) > httpbody.MaxJSON {
		return nil, &apierror.Error{Code: apierror.TooLarge, Limit: httpbody.MaxJSON,
			Message: "the request body must be at most 1 MiB"}
	}
	if bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("[")) {
		return nil, apierror.Invalid("",
			"the request body must be a JSON object with one operation; batches of operations are not supported")
	}
	params := new(graphql.RawParams)
	return params, httpbody.DecodeJSON("request body", text, params)
}

func readQuery(q url.Values) (*graphql.RawParams, error) {
	params := &graphql.RawParams{Query: q.Get("query"), OperationName: q.Get("operationName")}
	for i, into := range []*map[string]any{&params.Variables, &params.Extensions} {
		name := []string{"variables", "extensions"}[i]
		if text := q.Get(name); text != "" {
			if err := httpbody.DecodeJSON(name, []byte(text), into); err != nil {
				return nil, err
			}
		}
	}
	return params, nil
}
