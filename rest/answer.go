package rest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strconv"

	"github.com/meshyard/meshyard/graph"
	"github.com/meshyard/meshyard/internal/address"
)

// answer says what an operation's answer becomes on the wire.
type answer struct {
	write  func(s *server, w http.ResponseWriter, r *http.Request, data json.RawMessage) error
	schema reflect.Type // of the body; nil where there is none
}

// completed is a wire struct that adds what only the old wire needs: addresses, constants, defaults.
type completed interface{ complete(a address.Addresses) }

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

// one answers with a wire struct.
func one[T any]() answer {
	return answer{func(s *server, w http.ResponseWriter, _ *http.Request, data json.RawMessage) error {
		v, err := decode[T](s, data)
		if err != nil {
			return err
		}
		return writeJSON(w, v)
	}, reflect.TypeFor[T]()}
}

// inside answers with what lies under the one key of a payload.
func inside[T any]() answer {
	a := one[T]()
	return answer{func(s *server, w http.ResponseWriter, r *http.Request, data json.RawMessage) error {
		inner, err := unwrap(data)
		if err != nil {
			return err
		}
		return a.write(s, w, r, inner)
	}, a.schema}
}

// listInside answers with the list under the one key of an object, bare and whole.
func listInside[T any]() answer {
	return answer{func(s *server, w http.ResponseWriter, _ *http.Request, data json.RawMessage) error {
		inner, err := unwrap(data)
		if err != nil {
			return err
		}
		items, err := decodeList[T](s, inner)
		if err != nil {
			return err
		}
		w.Header().Set("Total-Count", strconv.Itoa(len(items)))
		return writeJSON(w, items)
	}, reflect.TypeFor[[]T]()}
}

// page answers with a numbered page of a list as a bare array, its total and its neighbours in headers.
func page[T any]() answer {
	return answer{func(s *server, w http.ResponseWriter, r *http.Request, data json.RawMessage) error {
		inner, err := unwrap(data)
		if err != nil {
			return err
		}
		var list struct {
			Total int
			Items json.RawMessage
		}
		if err := json.Unmarshal(inner, &list); err != nil {
			return err
		}
		items, err := decodeList[T](s, list.Items)
		if err != nil {
			return err
		}
		w.Header().Set("Total-Count", strconv.Itoa(list.Total))
		linkPages(w.Header(), s.Addresses.Base, r.URL, list.Total)
		return writeJSON(w, items)
	}, reflect.TypeFor[[]T]()}
}

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

func writeJSON(w http.ResponseWriter, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // a client that is gone reads no error
	return nil
}

// redirect sends the client to the address that the operation answered.
var redirect = answer{write: func(_ *server, w http.ResponseWriter, _ *http.Request, data json.RawMessage) error {
	var to struct{ URL string }
	if err := json.Unmarshal(data, &to); err != nil {
		return err
	}
	w.Header().Set("Location", to.URL)
	w.WriteHeader(http.StatusFound)
	return nil
}}

// lookedAt answers HEAD where GET would record a download: it leads to the bytes and records nothing.
var lookedAt = answer{write: func(s *server, w http.ResponseWriter, _ *http.Request, data json.RawMessage) error {
	var f struct {
		ID                ID
		State             string
		Direct, Anonymous string
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return err
	}
	if f.State != "FINALIZED" {
		return graph.NotFound("file " + f.ID.String() + " is a pending upload: it can be downloaded once it is finalized")
	}
	if f.Direct == "" {
		f.Direct = f.Anonymous
	}
	w.Header().Set("Location", f.Direct)
	w.WriteHeader(http.StatusFound)
	return nil
}}

// fileOrImage answers with a picture as an image summary, and with any other file as what it is.
var fileOrImage = answer{func(s *server, w http.ResponseWriter, _ *http.Request, data json.RawMessage) error {
	f, err := decode[FileSchema](s, data)
	if err != nil {
		return err
	}
	if f.DefaultImage != nil {
		return writeJSON(w, f.DefaultImage)
	}
	return writeJSON(w, f)
}, reflect.TypeFor[eitherSchema]()}

// eitherSchema stands for one of two shapes.
type eitherSchema struct {
	*FileSchema
	*ImageSummary
}
