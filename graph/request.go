package graph

import (
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"github.com/meshyard/meshyard/models"
)

const (
	maxBody   = 1 << 20 // bytes of a request, but for the file of a multipart one
	maxValues = 10_000  // in JSON that is read
	maxLevels = 64      // of them
)

// readRequest reads what a request asks for; get says whether it may be asked by GET. With an error it gives the status to answer.
func readRequest(r *http.Request, get bool) (params *graphql.RawParams, status int, err error) {
	switch mediaType, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); {
	case (r.Method == http.MethodGet || r.Method == http.MethodHead) && get:
		params, err = readQuery(r.URL.Query())
	case r.Method != http.MethodPost:
		return nil, http.StatusMethodNotAllowed, BadInput("", "GraphQL is asked by POST")
	case mediaType == "multipart/form-data":
		// A file is for somebody who is known. That no page of another site sends one, as it could unasked, follows: it has no token.
		if _, err := identified(r.Context()); err != nil {
			return nil, statusOf(err), err
		}
		params, err = readMultipart(r)
	case mediaType == "application/json":
		params, err = readPost(r)
	default:
		return nil, http.StatusUnsupportedMediaType, BadInput("", "want a body of the type application/json or multipart/form-data")
	}
	if err == nil && params.Query == "" && params.Extensions["persistedQuery"] == nil {
		err = BadInput("query", "query: is missing")
	}
	if err != nil {
		return nil, http.StatusBadRequest, err
	}
	params.Headers = r.Header
	return params, http.StatusOK, nil
}

// streams tells whether a request brings a file that is read while it is answered.
func streams(r *http.Request) bool {
	return strings.HasPrefix(strings.ToLower(r.Header.Get("Content-Type")), "multipart/")
}

func readPost(r *http.Request) (*graphql.RawParams, error) {
	text, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return nil, BadInput("", "the body ended before its time")
	}
	if len(text) > maxBody {
		return nil, &models.Error{Code: models.TooLarge, Limit: maxBody, Message: "the body is too large: at most 1 MiB is taken"}
	}
	params := new(graphql.RawParams)
	return params, ReadJSON("the body", text, params)
}

func readQuery(q url.Values) (*graphql.RawParams, error) {
	params := &graphql.RawParams{Query: q.Get("query"), OperationName: q.Get("operationName")}
	for name, into := range map[string]*map[string]any{"variables": &params.Variables, "extensions": &params.Extensions} {
		if text := q.Get(name); text != "" {
			if err := ReadJSON(name, []byte(text), into); err != nil {
				return nil, err
			}
		}
	}
	return params, nil
}

// ReadJSON reads one JSON value, numbers as they are written. Errors say what is wrong and repeat nothing of the text. Text
// that is no UTF-8, or escapes half a character, is refused: it would be kept as something else than was sent.
func ReadJSON(what string, text []byte, into any) error {
	if !wholeCharacters(text) {
		return BadInput("", "%s: holds text that is no UTF-8, or half a surrogate pair", what)
	}
	if overfull(text) {
		return BadInput("", "%s: holds more than %d values, or more than %d within each other", what, maxValues, maxLevels)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(into); err != nil || d.More() {
		return BadInput("", "%s: is not the JSON that is wanted there", what)
	}
	return nil
}

// overfull tells whether JSON text has more values than any request has need of, or has them deeper within each other. To
// decode a value of two bytes takes fifty times as many.
func overfull(text []byte) bool {
	values, levels := 1, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case ',':
			values++
		case '[', '{':
			values++
			levels++
		case ']', '}':
			levels--
		}
		if values > maxValues || levels > maxLevels {
			return true
		}
	}
	return false
}
