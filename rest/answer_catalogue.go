package rest

import (
	"encoding/json"
	"net/http"
	"reflect"
)

// categories answers with all shelves: with ?return=complete each holds those on it, else there are the roots alone.
var categories = func() answer {
	a := body(func(s *server, r *http.Request, data json.RawMessage) ([]*CategorySchema, error) {
		roots, err := decodeList[CategorySchema](s, data)
		if err != nil {
			return nil, err
		}
		if r.URL.Query().Get("return") != "complete" {
			for _, root := range roots {
				root.Children = nil
			}
		}
		return roots, nil
	})
	a.schema, a.query = reflect.TypeFor[[]CategorySchema](), []string{"return"}
	return a
}()

// threads answers with a page of comments by the comments that they reply to.
var threads = pageAs(func(comments []*CommentSchema) any { return threaded(comments) }, reflect.TypeFor[ThreadedSchema]())
