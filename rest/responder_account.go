package rest

import (
	"net/http"

	"github.com/meshyard/meshyard/rest/wire"
)

// bareIDs responds with an array of IDs.
var bareIDs = whole(func(_ *server, _ *http.Request, data []byte) ([]wire.ID, error) {
	of, err := read[wire.IDsSchema](data)
	return of.IDs, err
})

// listLength responds with the length of a list.
var listLength = body(func(_ *server, _ *http.Request, data []byte) (wire.CountSchema, error) {
	of, err := read[struct{ List wire.CountSchema }](data)
	return of.List, err
})

// stats responds with one entry for each day.
var stats = whole(func(_ *server, _ *http.Request, data []byte) ([]*wire.StatsSchema, error) {
	user, err := read[struct {
		ID   wire.ID
		Days []*wire.StatsSchema
	}](data)
	for _, day := range user.Days {
		day.UserID = user.ID
	}
	return user.Days, err
})

// bareText responds with a JSON string.
var bareText = body(func(_ *server, _ *http.Request, data []byte) (string, error) { return read[string](data) })

// bareList responds with a list that is not divided into pages.
func bareList[T any]() responder {
	return whole(func(s *server, _ *http.Request, data []byte) ([]*T, error) {
		items, err := read[[]*T](data)
		return completeAll(s, items), err
	})
}

// emptyList responds with an empty array, for features that this server lacks but that clients
// request at startup.
var emptyList = whole(func(*server, *http.Request, []byte) ([]any, error) { return []any{}, nil })

// noPrograms responds with an empty list of slicing programs.
var noPrograms = body(func(*server, *http.Request, []byte) (wire.ProgramsSchema, error) {
	return wire.ProgramsSchema{Programs: []any{}}, nil
})
