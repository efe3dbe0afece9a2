package graphqlhttp

import (
	"encoding/json"
	"io"
	"iter"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/graphql/breadthfirst"
)

const (
	maxErrors       = 20       // in one response
	maxMessage      = 500      // bytes of an error message, which may repeat what was sent
	maxResponseData = 16 << 20 // bytes
)

// Media types of responses. With the first, every response to a well-formed request has status
// 200; the second allows 4xx and 5xx.
const (
	jsonType            = "application/json"
	graphQLResponseType = "application/graphql-response+json"
)

// negotiate chooses the media type of the response from the Accept headers (RFC 9110 section
// 12.5.1): plain JSON unless the other type is preferred. A client that accepts neither gets plain
// JSON.
func negotiate(accept []string) string {
	chosen, best := jsonType, 0.0
	for mediaType, q := range acceptedTypes(accept) {
		switch mediaType {
		case jsonType, graphQLResponseType:
		case "*/*", "application/*":
			mediaType = jsonType
		default:
			continue
		}
		if q > best {
			chosen, best = mediaType, q
		}
	}
	return chosen
}

// acceptedTypes yields the media ranges of Accept headers in lower case, each with its quality.
func acceptedTypes(accept []string) iter.Seq2[string, float64] {
	return func(yield func(string, float64) bool) {
		for entry := range strings.SplitSeq(strings.Join(accept, ","), ",") {
			mediaType, parameters, _ := strings.Cut(entry, ";")
			if !yield(strings.ToLower(strings.TrimSpace(mediaType)), quality(parameters)) {
				return
			}
		}
	}
}

// quality returns the q parameter of a media range: 1 if absent, 0 if invalid.
func quality(parameters string) float64 {
	for parameter := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(parameter), "=")
		if strings.EqualFold(name, "q") {
			q, err := strconv.ParseFloat(value, 64)
			if err != nil || !(q >= 0 && q <= 1) {
				return 0
			}
			return q
		}
	}
	return 1
}

// responseWriter writes one GraphQL response.
type responseWriter struct {
	http.ResponseWriter
	mediaType string
}

func (w *responseWriter) write(response *graphql.Response) {
	_, _ = encode(response).WriteTo(w) // an error means that the client has disconnected
}

// encoded is a response as JSON, in parts, because copying the data would double the memory of a
// long response.
type encoded struct{ head, data, tail []byte }

// encode returns the response as JSON, errors first. A response without data has no "data" key:
// the operation was not executed.
func encode(response *graphql.Response) encoded {
	e := encoded{head: []byte{'{'}, data: response.Data, tail: []byte("}\n")}
	if len(response.Errors) > 0 {
		errors, err := json.Marshal(truncate(response.Errors))
		if err != nil {
			panic(err) // they consist of strings and numbers
		}
		e.head = append(append(e.head, `"errors":`...), errors...)
	}
	if response.Data != nil {
		if len(response.Errors) > 0 {
			e.head = append(e.head, ',')
		}
		e.head = append(e.head, `"data":`...)
	}
	return e
}

// empty reports whether there is no response, because the client has disconnected.
func (e encoded) empty() bool { return len(e.head) == 0 }

// WriteTo implements io.WriterTo.
func (e encoded) WriteTo(w io.Writer) (int64, error) {
	if len(e.data) < 64<<10 { // copied, to be one write
		n, err := w.Write(e.bytes())
		return int64(n), err
	}
	parts := net.Buffers{e.head, e.data, e.tail}
	return parts.WriteTo(w)
}

func (e encoded) bytes() []byte { return slices.Concat(e.head, e.data, e.tail) }

// withExtensions returns an encoded response with extensions. The original may be shared with other
// requests and does not change.
func (e encoded) withExtensions(extensions map[string]any) encoded {
	text, _ := json.Marshal(extensions) // strings and numbers only
	e.tail = slices.Concat([]byte(`,"extensions":`), text, []byte("}\n"))
	return e
}

// truncate bounds the number of errors and the length of each message.
func truncate(errs gqlerror.List) gqlerror.List {
	short := make(gqlerror.List, min(len(errs), maxErrors))
	for i := range short {
		e := *errs[i]
		if len(e.Message) > maxMessage {
			end := maxMessage
			for !utf8.RuneStart(e.Message[end]) {
				end--
			}
			e.Message = e.Message[:end] + "…"
		}
		short[i] = &e
	}
	return short
}

// WriteError responds with an error that occurred before the GraphQL request was read.
func WriteError(w http.ResponseWriter, r *http.Request, status int, e *apierror.Error) {
	rw := &responseWriter{w, negotiate(r.Header.Values("Accept"))}
	w.Header().Set("Content-Type", rw.mediaType+"; charset=utf-8")
	w.WriteHeader(status)
	rw.write(&graphql.Response{Errors: gqlerror.List{withCode(r.Context(), &gqlerror.Error{}, e)}})
}

// ResponseLimit bounds the data of a response. Aliases can repeat a long text, so the length of
// the document does not.
var ResponseLimit = breadthfirst.Limit{Bytes: maxResponseData, Error: errResponseTooLarge}

var errResponseTooLarge = &apierror.Error{
	Code: apierror.TooLarge, Limit: maxResponseData,
	Message: "the response exceeds 16 MiB: request fewer fields or shorter lists",
}
