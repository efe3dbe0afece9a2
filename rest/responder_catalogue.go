package rest

import (
	"net/http"
	"reflect"
	"strconv"

	"github.com/meshyard/meshyard/rest/wire"
)

// categories responds with the category tree: with ?return=complete each category contains its
// children, otherwise only the roots are listed.
var categories = func() responder {
	a := whole(func(s *server, r *http.Request, data []byte) ([]*wire.CategorySchema, error) {
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
	})
	a.query = []string{"return", "page"}
	return a
}()

// threads responds with a page of comments, grouped by their parent comment.
var threads = pageAs(func(comments []*wire.CommentSchema) any { return wire.Threaded(comments) },
	reflect.TypeFor[wire.ThreadedSchema]())

// removedThing responds with the ID of the thing that was removed.
var removedThing = body(func(_ *server, r *http.Request, _ []byte) (int64, error) {
	return strconv.ParseInt(r.PathValue("thing_id"), 10, 64)
})
