package rest

import (
	"net/http"
	"reflect"
)

// categories answers with all shelves: with ?return=complete each holds those on it, else there are the roots alone.
var categories = func() answer {
	a := body(func(s *server, r *http.Request, data []byte) ([]*CategorySchema, error) {
		roots, err := read[[]*CategorySchema](data)
		if err != nil {
			return nil, err
		}
		if r.URL.Query().Get("return") != "complete" {
			for _, root := range roots {
				root.Children = nil
			}
		}
		return completeAll(s, roots), nil
	}).as(reflect.TypeFor[[]CategorySchema]())
	a.query = []string{"return"}
	return a
}()

// threads answers with a page of comments by the comments that they reply to.
var threads = pageAs(func(comments []*CommentSchema) any { return threaded(comments) }, reflect.TypeFor[ThreadedSchema]())
