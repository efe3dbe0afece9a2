package rest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strconv"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/rest/wire"
)

// responder defines how the data of an operation becomes a REST response. The data is decoded once,
// into the wire structs, and is about the size of one page.
type responder struct {
	write  func(s *server, w http.ResponseWriter, r *http.Request, data []byte) error
	schema reflect.Type // of the body; nil if there is none
	paged  bool         // whether the response has Total-Count and Link
	total  bool         // whether the response has Total-Count only
	query  []string     // query parameters that the responder reads

	// anonymous writes the response to a request without a token. If nil, such a request gets 401.
	anonymous func(w http.ResponseWriter, data []byte) error
}

func complete[T any](s *server, v *T) {
	if c, ok := any(v).(wire.Completer); ok {
		c.Complete(s.URLs)
	}
}

func completeAll[T any](s *server, items []*T) []*T {
	for _, item := range items {
		complete(s, item)
	}
	if items == nil {
		items = []*T{}
	}
	return items
}

// read decodes the value with the alias answer.
func read[T any](data []byte) (v T, err error) {
	var of struct {
		Answer T `json:"answer"`
	}
	err = decode(data, &of)
	return of.Answer, err
}

// decode decodes the data of an operation.
func decode(data []byte, v any) error {
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("decode %T: %w", v, err)
	}
	return nil
}

// only returns the value of an object that has exactly one key.
func only[T any](object map[string]T) (v T, err error) {
	for _, v := range object {
		if len(object) == 1 {
			return v, nil
		}
	}
	return v, fmt.Errorf("a result with %d keys where one was expected", len(object))
}

// body responds with the value that a function returns for the data.
func body[T any](of func(s *server, r *http.Request, data []byte) (T, error)) responder {
	return responder{write: func(s *server, w http.ResponseWriter, r *http.Request, data []byte) error {
		v, err := of(s, r, data)
		if err != nil {
			return err
		}
		return writeJSON(w, v)
	}, schema: reflect.TypeFor[T]()}
}

// as sets the schema of the body, for Go types with more fields than the body has.
func (r responder) as(schema reflect.Type) responder {
	r.schema = schema
	return r
}

// one responds with a wire struct.
func one[T any]() responder {
	return body(func(s *server, _ *http.Request, data []byte) (*T, error) {
		v, err := read[*T](data)
		if err == nil {
			complete(s, v)
		}
		return v, err
	}).as(reflect.TypeFor[T]())
}

// payload responds with the value of the only key of a payload.
func payload[T any]() responder {
	return body(func(s *server, _ *http.Request, data []byte) (*T, error) {
		payload, err := read[map[string]*T](data)
		if err != nil {
			return nil, err
		}
		v, err := only(payload)
		if err == nil {
			complete(s, v)
		}
		return v, err
	}).as(reflect.TypeFor[T]())
}

// first responds with the first entry of the list in the only key of an object. It returns NotFound
// if the list is empty.
func first[T, Read any](noun string, as func(r *http.Request, read *Read) *T) responder {
	return body(func(s *server, r *http.Request, data []byte) (*T, error) {
		object, err := read[map[string][]*Read](data)
		if err != nil {
			return nil, err
		}
		items, err := only(object)
		if err != nil {
			return nil, err
		}
		if len(items) == 0 {
			return nil, apierror.New(apierror.NotFound, "the %s does not exist", noun)
		}
		complete(s, items[0])
		return as(r, items[0]), nil
	}).as(reflect.TypeFor[T]())
}

// whole responds with the complete list that a function returns for the data, as an array, and with
// its length in a header.
func whole[T any](of func(s *server, r *http.Request, data []byte) ([]T, error)) responder {
	return responder{write: func(s *server, w http.ResponseWriter, r *http.Request, data []byte) error {
		items, err := of(s, r, data)
		if err != nil {
			return err
		}
		w.Header().Set("Total-Count", strconv.Itoa(len(items)))
		return writeJSON(w, append([]T{}, onFirstPage(r, items)...)) // never null
	}, schema: reflect.TypeFor[[]T](), total: true}
}

// fullList is whole for the list in the only key of an object. A single object becomes a list of
// one entry.
func fullList[T any]() responder {
	return whole(func(s *server, r *http.Request, data []byte) ([]*T, error) {
		object, err := read[map[string]oneOrMore[T]](data)
		if err != nil {
			return nil, err
		}
		items, err := only(object)
		return completeAll(s, items), err
	})
}

// oneOrMore decodes a list, or a single object as a list of one entry.
type oneOrMore[T any] []*T

// UnmarshalJSON reads an array or an object.
func (l *oneOrMore[T]) UnmarshalJSON(b []byte) error {
	if b[0] == '{' {
		*l = oneOrMore[T]{new(T)}
		return json.Unmarshal(b, (*l)[0])
	}
	return json.Unmarshal(b, (*[]*T)(l))
}

// part is a page of a list.
type part[T any] struct {
	wire.Extent
	Items []*T
}

// page responds with a numbered page of a list as an array, with the total and links to other pages
// in headers.
func page[T any]() responder {
	return pageAs(func(items []*T) any { return items }, reflect.TypeFor[[]T]())
}

// pageAs is like page, with a function that converts the page to the body.
func pageAs[T any](as func(items []*T) any, schema reflect.Type) responder {
	return responder{write: func(s *server, w http.ResponseWriter, r *http.Request, data []byte) error {
		list, err := read[struct {
			part[T]
			List *part[T] // if the list belongs to an object
		}](data)
		if err != nil {
			return err
		}
		if list.List != nil {
			list.part = *list.List
		}
		linkPages(w.Header(), s.URLs.Base, r.URL, list.Extent)
		return writeJSON(w, as(completeAll(s, list.Items)))
	}, schema: schema, paged: true}
}

// searchPage responds with a page of search results.
var searchPage = responder{write: func(s *server, w http.ResponseWriter, r *http.Request, data []byte) error {
	v, err := read[*wire.SearchSchema](data)
	if err != nil {
		return err
	}
	v.Complete(s.URLs)
	linkPages(w.Header(), s.URLs.Base, r.URL, v.Extent())
	return writeJSON(w, v)
}, schema: reflect.TypeFor[wire.SearchSchema](), paged: true}

// ok responds that the action succeeded.
var ok = one[wire.OKSchema]()

// maxResponse is the maximum number of bytes of the JSON of a response. It is more than the data of
// a GraphQL response may have, because the wire structs have more fields and escape more
// characters.
const maxResponse = 20 << 20

// writeJSON writes a JSON body. If w is a bufferedResponse, it encodes into its buffer. It writes
// nothing and returns TooLarge if the body has more than maxResponse bytes.
func writeJSON(w http.ResponseWriter, v any) error {
	buffered, isBuffered := w.(*bufferedResponse)
	body := new(bytes.Buffer)
	if isBuffered {
		body = &buffered.body
	}
	if err := json.NewEncoder(body).Encode(v); err != nil {
		return err
	}
	body.Truncate(body.Len() - len("\n")) // of the encoder
	if body.Len() > maxResponse {
		body.Reset()
		e := apierror.New(apierror.TooLarge, "the response exceeds %d MiB: request a shorter page with per_page",
			maxResponse>>20)
		e.Limit = maxResponse
		return e
	}
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(body.Len()))
	if !isBuffered {
		_, _ = w.Write(body.Bytes()) // a disconnected client needs no error
	}
	return nil
}
