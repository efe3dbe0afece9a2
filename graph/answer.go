package graph

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/meshyard/meshyard/models"
)

const (
	maxErrors  = 20       // in one answer
	maxMessage = 500      // bytes of the message of an error, which may repeat what was sent
	maxAnswer  = 16 << 20 // bytes of data
)

// The types of answers. Under the first every answer to a request of GraphQL is a success of HTTP; the second has errors of HTTP too.
const (
	plainJSON       = "application/json"
	graphQLResponse = "application/graphql-response+json"
)

// answerType chooses the type of the answer by what is accepted: plain JSON unless the other is preferred. (RFC 9110 section 12.5.1. What
// accepts neither is answered all the same.)
func answerType(accept []string) string {
	chosen, best := plainJSON, 0.0
	for entry := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		mediaType, parameters, _ := strings.Cut(entry, ";")
		switch mediaType = strings.ToLower(strings.TrimSpace(mediaType)); mediaType {
		case plainJSON, graphQLResponse:
		case "*/*", "application/*":
			mediaType = plainJSON
		default:
			continue
		}
		if weight := weightOf(parameters); weight > best {
			chosen, best = mediaType, weight
		}
	}
	return chosen
}

// weightOf reads the q among the parameters of a media type, 1 where there is none and 0 where it is none.
func weightOf(parameters string) float64 {
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

// answer is a response under way.
type answer struct {
	http.ResponseWriter
	mediaType string
}

func (a *answer) write(response *graphql.Response) {
	_, _ = a.Write(encode(response)) // a client that is gone reads no error
}

// encode writes a response: errors first, so that nobody misses them. Without data there is no such key: nothing was run.
func encode(response *graphql.Response) []byte {
	out := append(make([]byte, 0, len(response.Data)+32), '{')
	if len(response.Errors) > 0 {
		errors, err := json.Marshal(shorten(response.Errors))
		if err != nil {
			panic(err) // they are made of texts and numbers
		}
		out = append(append(out, `"errors":`...), errors...)
	}
	if response.Data != nil {
		if len(response.Errors) > 0 {
			out = append(out, ',')
		}
		out = append(append(out, `"data":`...), response.Data...)
	}
	return append(out, "}\n"...)
}

// withExtensions adds extensions to what encode wrote, which others may be sent too.
func withExtensions(body []byte, extensions map[string]any) []byte {
	text, _ := json.Marshal(extensions) // of texts and numbers
	out := make([]byte, 0, len(body)+len(text)+20)
	out = append(out, body[:len(body)-len("}\n")]...)
	return append(append(append(out, `,"extensions":`...), text...), "}\n"...)
}

// shorten cuts errors that repeat themselves, or what was sent.
func shorten(errs gqlerror.List) gqlerror.List {
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

// WriteError answers GraphQL over HTTP with an error that arose before it was asked anything.
func WriteError(w http.ResponseWriter, r *http.Request, status int, e *models.Error) {
	a := &answer{w, answerType(r.Header.Values("Accept"))}
	w.Header().Set("Content-Type", a.mediaType+"; charset=utf-8")
	w.WriteHeader(status)
	a.write(&graphql.Response{Errors: gqlerror.List{withCode(&gqlerror.Error{}, e)}})
}

// answerSize is how much an operation has answered so far.
type answerSize struct {
	bytes int
	over  bool
}

// boundedAnswer stops writing the data of an answer where it gets too large. Its size follows from what is kept: a long description that is
// asked for under many names is as many times as long.
type boundedAnswer struct{}

func (boundedAnswer) ExtensionName() string                   { return "BoundedAnswer" }
func (boundedAnswer) Validate(graphql.ExecutableSchema) error { return nil }

// InterceptRootField bounds what a field of the root writes, together with those before.
func (boundedAnswer) InterceptRootField(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
	data := next(ctx)
	size, ok := ctx.Value(boundedAnswer{}).(*answerSize)
	if !ok || data == graphql.Null { // which the generated code compares with
		return data
	}
	return graphql.WriterFunc(func(w io.Writer) {
		defer func() {
			if cause := recover(); cause != nil && cause != any(errAnswerTooLarge) {
				panic(cause)
			}
		}()
		data.MarshalGQL(&boundedWriter{w, size})
	})
}

// errAnswerTooLarge also ends a Marshaler, by a panic: it looks at no error.
var errAnswerTooLarge = &models.Error{Code: models.TooLarge, Limit: maxAnswer, Message: "the answer is larger than 16 MiB: ask for less at a time"}

type boundedWriter struct {
	io.Writer
	size *answerSize
}

func (b *boundedWriter) Write(p []byte) (int, error) {
	b.grow(len(p))
	return b.Writer.Write(p)
}

func (b *boundedWriter) WriteString(s string) (int, error) {
	b.grow(len(s))
	return io.WriteString(b.Writer, s)
}

func (b *boundedWriter) grow(n int) {
	if b.size.bytes += n; b.size.bytes > maxAnswer {
		b.size.over = true
		panic(errAnswerTooLarge)
	}
}
