package rest

import (
	"net/http"
	"reflect"
	"strconv"

	"github.com/meshyard/meshyard/rest/wire"
)

// categories answers with all categories: with ?return=complete each holds those on it, else there
// are the roots alone.
var categories = func() answer {
	a := body(func(s *server, r *http.Request, data []byte) ([]*wire.CategorySchema, error) {
		roots, err := read[[]*wire.CategorySchema](data)
		if err != nil {
			return nil, err
		}
		if r.URL.Query().Get("return") != "complete" {
			for _, root := range roots {
				root.Children = nil
			}
		}
		return completeAll(s, roots), nil
	}).as(reflect.TypeFor[[]wire.CategorySchema]())
	a.query = []string{"return"}
	return a
}()

// threads answers with a page of comments by the comments that they reply to.
var threads = pageAs(func(comments []*wire.CommentSchema) any { return wire.Threaded(comments) }, reflect.TypeFor[wire.ThreadedSchema]())

// removedThing answers with the id of the thing that was removed.
var removedThing = body(func(_ *server, r *http.Request, _ []byte) (int64, error) {
	return strconv.ParseInt(r.PathValue("thing_id"), 10, 64)
})
