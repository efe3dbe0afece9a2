package rest

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/meshyard/meshyard/internal/structjson"
)

// TestBodiesAsEncodingJSON checks that structjson encodes the body of every route as encoding/json
// does.
func TestBodiesAsEncodingJSON(t *testing.T) {
	for _, r := range routes {
		if r.responder.schema == nil {
			continue
		}
		body := reflect.New(r.responder.schema)
		if body.Elem().Kind() == reflect.Slice { // pointers, or structs that the server points to
			element := body.Elem().Type().Elem()
			body.Elem().Set(reflect.Append(body.Elem(), reflect.Zero(element)))
		}
		want, err := json.Marshal(body.Interface())
		if err != nil {
			t.Fatal(err)
		}
		got, err := structjson.Append(nil, body.Interface())
		if err != nil || string(got) != string(want) {
			t.Errorf("%s %s: error %v, encoded\n%s, want\n%s", r.method, r.path, err, got, want)
		}
	}
}
