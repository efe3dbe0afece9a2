package rest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/meshyard/meshyard/internal/address"
)

// writer writes what an operation answered as the wire wants it.
type writer func(s *server, w http.ResponseWriter, r *http.Request, answer json.RawMessage) error

// completed is a wire struct that adds what only the old wire needs: addresses, constants, defaults.
type completed interface{ complete(a address.Addresses) }

// decode reads an answer into a wire struct and completes it.
func decode[T any](s *server, answer json.RawMessage) (*T, error) {
	v := new(T)
	if err := json.Unmarshal(answer, v); err != nil {
		return nil, fmt.Errorf("decode %T: %w", v, err)
	}
	if c, ok := any(v).(completed); ok {
		c.complete(s.Addresses)
	}
	return v, nil
}

// wired is a struct that reads an answer in the shape of a payload and is written as what lies inside.
type wired interface{ wire() any }

func one[T any](s *server, w http.ResponseWriter, _ *http.Request, answer json.RawMessage) error {
	v, err := decode[T](s, answer)
	if err != nil {
		return err
	}
	if in, ok := any(v).(wired); ok {
		return writeJSON(w, in.wire())
	}
	return writeJSON(w, v)
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
func redirect(_ *server, w http.ResponseWriter, _ *http.Request, answer json.RawMessage) error {
	var to struct{ URL string }
	if err := json.Unmarshal(answer, &to); err != nil {
		return err
	}
	w.Header().Set("Location", to.URL)
	w.WriteHeader(http.StatusFound)
	return nil
}

// nothing answers that all is well.
func nothing(*server, http.ResponseWriter, *http.Request, json.RawMessage) error { return nil }

// fileOrImage writes a picture as an image summary and any other file as what it is.
func fileOrImage(s *server, w http.ResponseWriter, _ *http.Request, answer json.RawMessage) error {
	f, err := decode[FileSchema](s, answer)
	if err != nil {
		return err
	}
	if f.DefaultImage != nil {
		return writeJSON(w, f.DefaultImage)
	}
	return writeJSON(w, f)
}

// list is a numbered page of a list.
type list[T any] struct {
	List struct {
		Total int  `json:"total"`
		Items []*T `json:"items"`
	} `json:"list"`
}

// page writes a page as a bare array, its total and its neighbours in headers.
func page[T any](s *server, w http.ResponseWriter, r *http.Request, answer json.RawMessage) error {
	l, err := decode[list[T]](s, answer)
	if err != nil {
		return err
	}
	for _, item := range l.List.Items {
		if c, ok := any(item).(completed); ok {
			c.complete(s.Addresses)
		}
	}
	w.Header().Set("Total-Count", strconv.Itoa(l.List.Total))
	linkPages(w.Header(), s.Addresses.Base, r.URL, l.List.Total)
	return writeJSON(w, l.List.Items)
}
