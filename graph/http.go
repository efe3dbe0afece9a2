package graph

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/meshyard/meshyard/internal/collapse"
	"github.com/meshyard/meshyard/models"
)

const maxBody = 1 << 20 // bytes of a request, but for the file of a multipart one

// overHTTP is GraphQL over HTTP: POST with JSON or, for a file, as a multipart request, and GET for queries. It takes the place of
// gqlgen's transports, which repeat a body that they cannot read in the error and the log, and hold files in memory.
type overHTTP struct {
	get            bool // whether GET is taken
	noteDeprecated func(context.Context, *graphql.OperationContext)
	queries        collapse.Group[[]byte]
}

func (*overHTTP) Supports(*http.Request) bool { return true }

func (t *overHTTP) Do(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor) {
	w.Header().Set("Content-Type", "application/json")
	ctx := r.Context()
	refuse := func(status int, err error) {
		response := exec.DispatchError(graphql.WithOperationContext(ctx, &graphql.OperationContext{}), gqlerror.List{gqlerror.Wrap(err)})
		w.WriteHeader(status)
		writeResponse(w, response)
	}
	var params *graphql.RawParams
	var err error
	switch mediaType, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); {
	case (r.Method == http.MethodGet || r.Method == http.MethodHead) && t.get:
		params, err = readQuery(r.URL.Query())
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", "POST")
		refuse(http.StatusMethodNotAllowed, BadInput("", "GraphQL is asked by POST"))
		return
	case mediaType == "multipart/form-data":
		params, err = readMultipart(r)
	case mediaType == "application/json":
		params, err = readPost(r)
	default:
		refuse(http.StatusUnsupportedMediaType, BadInput("", "want a body of the type application/json or multipart/form-data"))
		return
	}
	if err != nil {
		refuse(http.StatusBadRequest, err)
		return
	}
	params.Headers = r.Header
	params.ReadTime = graphql.TraceTiming{Start: graphql.Now(), End: graphql.Now()}
	op, errs := exec.CreateOperationContext(ctx, params)
	if errs != nil {
		writeResponse(w, exec.DispatchError(graphql.WithOperationContext(ctx, op), errs))
		return
	}
	if r.Method != http.MethodPost && op.Operation.Operation != ast.Query {
		w.Header().Set("Allow", "POST")
		refuse(http.StatusMethodNotAllowed, BadInput("", "a mutation is sent by POST"))
		return
	}
	t.noteDeprecated(ctx, op)
	run := func(ctx context.Context) []byte {
		var answer bytes.Buffer
		next, ctx := exec.DispatchOperation(ctx, op)
		if response := next(ctx); response != nil { // or the client is gone
			writeResponse(&answer, response)
		}
		return answer.Bytes()
	}
	answer := []byte(nil)
	if op.Operation.Operation == ast.Query {
		if answer, err = t.queries.Do(ctx, queryKey(ctx, params), run); err != nil {
			refuse(http.StatusOK, err)
			return
		}
	} else {
		answer = run(ctx)
	}
	_, _ = w.Write(answer) // a client that is gone reads no error
}

// queryKey names what is asked, and by whom: the same that is asked by the same caller at the same time is answered by one run.
func queryKey(ctx context.Context, params *graphql.RawParams) string {
	variables, _ := json.Marshal(params.Variables) // it came as JSON
	return strconv.FormatInt(caller(ctx).TokenID, 10) + " " + params.OperationName + " " + string(variables) + " " + params.Query
}

// WriteError answers GraphQL over HTTP with an error that arose before it was asked anything.
func WriteError(w http.ResponseWriter, status int, e *models.Error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	writeResponse(w, &graphql.Response{Errors: gqlerror.List{withCode(&gqlerror.Error{}, e)}})
}

func writeResponse(w io.Writer, response *graphql.Response) {
	_ = json.NewEncoder(w).Encode(response) // a client that is gone reads no error
}

func readPost(r *http.Request) (*graphql.RawParams, error) {
	text, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return nil, BadInput("", "the body ended before its time")
	}
	if len(text) > maxBody {
		return nil, &models.Error{Code: models.TooLarge, Limit: maxBody, Message: "the body is too large: at most 1 MiB is taken"}
	}
	return readParams("the body", text)
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

// readParams reads what a request asks for out of JSON.
func readParams(what string, text []byte) (*graphql.RawParams, error) {
	params := new(graphql.RawParams)
	if err := ReadJSON(what, text, params); err != nil {
		return nil, err
	}
	return params, nil
}

// ReadJSON reads one JSON value, numbers as they are written. Errors say what is wrong and repeat nothing of the text. Text
// that is no UTF-8, or escapes half a character, is refused: it would be kept as something else than was sent.
func ReadJSON(what string, text []byte, into any) error {
	if !wholeCharacters(text) {
		return BadInput("", "%s: holds text that is no UTF-8, or half a surrogate pair", what)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(into); err != nil || d.More() {
		return BadInput("", "%s: is not the JSON that is wanted there", what)
	}
	return nil
}

// anonymousForm tells whether a multipart request came as any page of another site could send it: with no header that a
// browser asks about first, and no token that such a page would have to know.
func anonymousForm(r *http.Request) bool {
	return r.Header.Get("Authorization") == "" && r.Header.Get("GraphQL-Require-Preflight") == "" &&
		r.Header.Get("Apollo-Require-Preflight") == "" && !strings.Contains(r.URL.RawQuery, "access_token=")
}
