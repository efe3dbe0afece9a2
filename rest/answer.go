package rest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/meshyard/meshyard/graph"
	"github.com/meshyard/meshyard/internal/address"
)

// result is what an operation gives: its answer and, where that is a bare list, what is known of the list.
type result struct {
	Answer json.RawMessage
	List   extent
}

// extent is how long a list is, and where a page of it ends.
type extent struct {
	Total int
	Info  pageEnd
}

// answer says what an operation's result becomes on the wire.
type answer struct {
	write  func(s *server, w http.ResponseWriter, r *http.Request, data result) error
	schema reflect.Type // of the body; nil where there is none
	paged  bool         // whether there are headers about the pages of a list
	query  []string     // parameters of the query that the answer reads by itself
}

// completed is a wire struct that adds what only the old wire needs: addresses, constants, defaults.
type completed interface{ complete(a address.Addresses) }

// body answers with a wire struct that is made of a result.
func body[T any](of func(s *server, r *http.Request, data json.RawMessage) (T, error)) answer {
	return answer{write: func(s *server, w http.ResponseWriter, r *http.Request, data result) error {
		v, err := of(s, r, data.Answer)
		if err != nil {
			return err
		}
		return writeJSON(w, r, v)
	}, schema: reflect.TypeFor[T]()}
}

// decode reads data into a wire struct and completes it.
func decode[T any](s *server, data json.RawMessage) (*T, error) {
	v := new(T)
	if err := json.Unmarshal(data, v); err != nil {
		return nil, fmt.Errorf("decode %T: %w", v, err)
	}
	if c, ok := any(v).(completed); ok {
		c.complete(s.Addresses)
	}
	return v, nil
}

func decodeList[T any](s *server, data json.RawMessage) ([]*T, error) {
	items := []*T{}
	if err := json.Unmarshal(data, &items); err != nil {
		return nil, fmt.Errorf("decode %T: %w", items, err)
	}
	for _, item := range items {
		if c, ok := any(item).(completed); ok {
			c.complete(s.Addresses)
		}
	}
	return items, nil
}

// unwrap gives what lies under the one key of an object.
func unwrap(data json.RawMessage) (json.RawMessage, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(data, &object); err != nil {
		return nil, err
	}
	for _, inner := range object {
		if len(object) == 1 {
			return inner, nil
		}
	}
	return nil, fmt.Errorf("an answer with %d keys where one was expected", len(object))
}

// one answers with a wire struct.
func one[T any]() answer {
	a := body(func(s *server, _ *http.Request, data json.RawMessage) (*T, error) { return decode[T](s, data) })
	a.schema = reflect.TypeFor[T]()
	return a
}

// inside answers with what lies under the one key of a payload.
func inside[T any]() answer {
	a := body(func(s *server, _ *http.Request, data json.RawMessage) (*T, error) {
		inner, err := unwrap(data)
		if err != nil {
			return nil, err
		}
		return decode[T](s, inner)
	})
	a.schema = reflect.TypeFor[T]()
	return a
}

// first answers with the only entry of the list under the one key of an object. That there is none is NotFound.
func first[T, Read any](noun string, as func(s *server, read *Read) *T) answer {
	a := body(func(s *server, _ *http.Request, data json.RawMessage) (*T, error) {
		inner, err := unwrap(data)
		if err != nil {
			return nil, err
		}
		items, err := decodeList[Read](s, inner)
		if err != nil {
			return nil, err
		}
		if len(items) == 0 {
			return nil, graph.NotFound("there is no such " + noun + " here")
		}
		return as(s, items[0]), nil
	})
	a.schema = reflect.TypeFor[T]()
	return a
}

// list answers with a list as a bare array, and whole.
func list[T any]() answer {
	return answer{write: func(s *server, w http.ResponseWriter, r *http.Request, data result) error {
		items, err := decodeList[T](s, data.Answer)
		if err != nil {
			return err
		}
		w.Header().Set("Total-Count", strconv.Itoa(len(items)))
		return writeJSON(w, r, items)
	}, schema: reflect.TypeFor[[]T]()}
}

// listInside answers with the list under the one key of an object, bare and whole. One entry that is no list becomes one.
func listInside[T any]() answer {
	a := list[T]()
	return answer{write: func(s *server, w http.ResponseWriter, r *http.Request, data result) error {
		inner, err := unwrap(data.Answer)
		if err != nil {
			return err
		}
		if len(inner) > 0 && inner[0] == '{' {
			inner = slices.Concat(json.RawMessage("["), inner, json.RawMessage("]"))
		}
		return a.write(s, w, r, result{Answer: inner})
	}, schema: a.schema}
}

// page answers with a numbered page of a list as a bare array, its total and its neighbours in headers.
func page[T any]() answer {
	return pageAs(func(items []*T) any { return items }, reflect.TypeFor[[]T]())
}

// part is a page of a list.
type part struct {
	extent
	Items json.RawMessage
}

// pageAs answers with what is made of a numbered page of a list.
func pageAs[T any](as func(items []*T) any, schema reflect.Type) answer {
	return answer{write: func(s *server, w http.ResponseWriter, r *http.Request, data result) error {
		var list struct {
			part
			List *part // where it hangs on an object
		}
		if err := json.Unmarshal(data.Answer, &list); err != nil {
			return err
		}
		if list.List != nil {
			list.part = *list.List
		}
		items, err := decodeList[T](s, list.Items)
		if err != nil {
			return err
		}
		linkPages(w.Header(), s.Addresses.Base, r.URL, list.extent)
		return writeJSON(w, r, as(items))
	}, schema: schema, paged: true}
}

// listing is page for a list that is an operation's whole answer, and of which the list beside it tells more.
func listing[T any]() answer {
	return answer{write: func(s *server, w http.ResponseWriter, r *http.Request, data result) error {
		items, err := decodeList[T](s, data.Answer)
		if err != nil {
			return err
		}
		linkPages(w.Header(), s.Addresses.Base, r.URL, data.List)
		return writeJSON(w, r, items)
	}, schema: reflect.TypeFor[[]T](), paged: true}
}

// found answers with a page of what a search found.
var found = answer{write: func(s *server, w http.ResponseWriter, r *http.Request, data result) error {
	v, err := decode[SearchSchema](s, data.Answer)
	if err != nil {
		return err
	}
	linkPages(w.Header(), s.Addresses.Base, r.URL, v.extent())
	return writeJSON(w, r, v)
}, schema: reflect.TypeFor[SearchSchema](), paged: true}

// ok answers that it is done.
var ok = one[OKSchema]()

// writeJSON answers with a body. One that was looked up carries a tag of its content, and is not sent again to whoever holds it.
func writeJSON(w http.ResponseWriter, r *http.Request, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	h := w.Header()
	if h.Get("Cache-Control") == "" { // that of what changes something is no-store
		sum := sha256.Sum256(body)
		tag := `W/"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
		h.Set("ETag", tag)
		h.Set("Cache-Control", "private, no-cache")
		h.Add("Vary", "Authorization")
		if matches(r.Header.Values("If-None-Match"), tag) {
			w.WriteHeader(http.StatusNotModified)
			return nil
		}
	}
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // a client that is gone reads no error
	return nil
}

// matches tells whether If-None-Match names a tag, by the weak comparison of RFC 9110, section 8.8.3.2.
func matches(given []string, tag string) bool {
	for candidate := range strings.SplitSeq(strings.Join(given, ","), ",") {
		candidate = strings.TrimSpace(candidate)
		if candidate == "*" || strings.TrimPrefix(candidate, "W/") == strings.TrimPrefix(tag, "W/") {
			return true
		}
	}
	return false
}
