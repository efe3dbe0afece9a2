package server_test

import (
	"testing"

	"github.com/meshyard/meshyard/cmd/meshyard/server/servertest"
)

// TestValuesOfOldPrograms sends values that existing clients send and the documentation does not
// mention.
func TestValuesOfOldPrograms(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := &oldClient{T: t, base: s.URL, token: s.User("ada").Token}
		thing := ada.one("POST", "/things", oldObject{"id": "", "name": "Dish", "license": "cc", "category": "Art", "description": "A dish.", "creator": ""}, "ThingSchema")
		path := "/things/" + oldID(thing)

		// A client that saves all its fields sends an empty category, because no thing in a response has
		// a category.
		ada.same("name", ada.one("PATCH", path, oldObject{"name": "Bowl", "category": ""}, "ThingSchema")["name"], "Bowl")
		ada.same("category", ada.list(path+"/categories", "Category")[0]["name"], "Art")
		ada.refused(400, "PATCH", path, oldObject{"category": "No such category"})
		ada.refused(400, "POST", "/things", oldObject{"name": "Cup", "license": "cc", "category": ""})

		ada.uploadByForm(path+"/files", "dish.stl", string(servertest.Mesh(t, "hschendel_simple_bin.stl")), "FileSchema")
		ada.one("POST", path+"/publish", nil, "ThingSchema")
		for _, kind := range []string{"thing", "models", "Things"} {
			ada.same("total of the type "+kind, ada.one("GET", "/search/bowl?type="+kind, nil, "ThingHits")["total"], 1)
		}
		ada.same("total of users", ada.one("GET", "/search/ada?type=users", nil, "UserHits")["total"], 1)
	})
}
