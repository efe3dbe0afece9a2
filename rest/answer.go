package rest

import (
	"fmt"
	"net/http"
	"reflect"
	"strconv"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/structjson"
	"github.com/meshyard/meshyard/rest/wire"
)

// answer says what the data of an operation becomes on the wire. Data are decoded once, into the
// wire's own structs: they are the size of a page.
type answer struct {
	write  func(s *server, w http.ResponseWriter, r *http.Request, data []byte) error
	schema reflect.Type // of the body; nil where there is none
	paged  bool         // whether there are headers about the pages of a list
	query  []string     // parameters of the query that the answer reads by itself

	// anonymous writes the answer for a request without a token. If it is nil, such a request is 401.
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

// read decodes what stands under the alias answer.
func read[T any](data []byte) (v T, err error) {
	var of struct {
		Answer T `json:"answer"`
	}
	err = decode(data, &of)
	return of.Answer, err
}

// decode decodes the data of an operation.
func decode(data []byte, v any) error {
	if err := structjson.Decode(data, v); err != nil {
		return fmt.Errorf("decode %T: %w", v, err)
	}
	return nil
}

// only returns the value of an object that has but one key.
func only[T any](object map[string]T) (v T, err error) {
	for _, v := range object {
		if len(object) == 1 {
			return v, nil
		}
	}
	return v, fmt.Errorf("an answer with %d keys where one was expected", len(object))
}

// body answers with what is made of data.
func body[T any](of func(s *server, r *http.Request, data []byte) (T, error)) answer {
	return answer{write: func(s *server, w http.ResponseWriter, r *http.Request, data []byte) error {
		v, err := of(s, r, data)
		if err != nil {
			return err
		}
		return writeJSON(w, v)
	}, schema: reflect.TypeFor[T]()}
}

// as says what an answer's body looks like, where its Go type has too many fields.
func (a answer) as(schema reflect.Type) answer {
	a.schema = schema
	return a
}

// one answers with a wire struct.
func one[T any]() answer {
	return body(func(s *server, _ *http.Request, data []byte) (*T, error) {
		v, err := read[*T](data)
		if err == nil {
			complete(s, v)
		}
		return v, err
	}).as(reflect.TypeFor[T]())
}

// inside answers with what lies under the one key of a payload.
func inside[T any]() answer {
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

// first answers with the only entry of the list under the one key of an object. That there is none
// is NotFound.
func first[T, Read any](noun string, as func(r *http.Request, read *Read) *T) answer {
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
			return nil, apierror.New(apierror.NotFound, "there is no such %s here", noun)
		}
		complete(s, items[0])
		return as(r, items[0]), nil
	}).as(reflect.TypeFor[T]())
}

// listInside answers with the list under the one key of an object, bare and whole. One entry that
// is no list becomes one.
func listInside[T any]() answer {
	return answer{write: func(s *server, w http.ResponseWriter, r *http.Request, data []byte) error {
		object, err := read[map[string]oneOrMore[T]](data)
		if err != nil {
			return err
		}
		items, err := only(object)
		if err != nil {
			return err
		}
		w.Header().Set("Total-Count", strconv.Itoa(len(items)))
		return writeJSON(w, completeAll(s, items))
	}, schema: reflect.TypeFor[[]T]()}
}

// oneOrMore is a list, or the one entry that it has.
type oneOrMore[T any] []*T

// UnmarshalJSON reads an array or an object.
func (l *oneOrMore[T]) UnmarshalJSON(b []byte) error {
	if b[0] == '{' {
		*l = oneOrMore[T]{new(T)}
		return structjson.Decode(b, (*l)[0])
	}
	return structjson.Decode(b, (*[]*T)(l))
}

// part is a page of a list.
type part[T any] struct {
	wire.Extent
	Items []*T
}

// page answers with a numbered page of a list as a bare array, its total and its neighbours in
// headers.
func page[T any]() answer {
	return pageAs(func(items []*T) any { return items }, reflect.TypeFor[[]T]())
}

// pageAs answers with what is made of a numbered page of a list.
func pageAs[T any](as func(items []*T) any, schema reflect.Type) answer {
	return answer{write: func(s *server, w http.ResponseWriter, r *http.Request, data []byte) error {
		list, err := read[struct {
			part[T]
			List *part[T] // if it belongs to an object
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

// listing is page for a list that is an operation's whole answer, and of which the list beside it
// is a detail.
func listing[T any]() answer {
	return answer{write: func(s *server, w http.ResponseWriter, r *http.Request, data []byte) error {
		var of struct {
			Answer []*T        `json:"answer"`
			List   wire.Extent `json:"list"`
		}
		if err := decode(data, &of); err != nil {
			return err
		}
		linkPages(w.Header(), s.URLs.Base, r.URL, of.List)
		return writeJSON(w, completeAll(s, of.Answer))
	}, schema: reflect.TypeFor[[]T](), paged: true}
}

// found answers with a page of what a search found.
var found = answer{write: func(s *server, w http.ResponseWriter, r *http.Request, data []byte) error {
	v, err := read[*wire.SearchSchema](data)
	if err != nil {
		return err
	}
	v.Complete(s.URLs)
	linkPages(w.Header(), s.URLs.Base, r.URL, v.Extent())
	return writeJSON(w, v)
}, schema: reflect.TypeFor[wire.SearchSchema](), paged: true}

// ok answers that it is done.
var ok = one[wire.OKSchema]()

// writeJSON answers with a body.
func writeJSON(w http.ResponseWriter, v any) error {
	kept, isKept := w.(*recorded)
	var into []byte
	if isKept {
		into = kept.body
	}
	body, err := structjson.Append(into, v)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if isKept {
		kept.body = body
	} else {
		_, _ = w.Write(body) // a client that is gone reads no error
	}
	return nil
}
