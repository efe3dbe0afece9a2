package servertest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"github.com/meshyard/meshyard/graph"
	"github.com/meshyard/meshyard/rest"
	"github.com/meshyard/meshyard/rest/published"
)

// described finds the operations of the REST face in the server's own OpenAPI description.
var described = sync.OnceValues(func() (routers.Router, error) {
	text, err := rest.OpenAPI(graph.New(nil), "/")
	if err != nil {
		return nil, err
	}
	document, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return nil, err
	}
	if err := document.Validate(context.Background()); err != nil {
		return nil, err
	}
	return gorillamux.NewRouter(document)
})

// checkAnswer holds an answer of the REST face against the description. What the description does
// not name is not looked at.
func checkAnswer(t testing.TB, asked *http.Request, answer *Response) {
	t.Helper()
	router, err := described()
	if err != nil {
		t.Fatalf("the OpenAPI description: %v", err)
	}
	plain := asked.Clone(context.Background())
	plain.URL.Path = strings.TrimSuffix(asked.URL.Path, "/")
	route, parameters, err := router.FindRoute(plain)
	if err != nil || asked.Method == http.MethodHead {
		return
	}
	err = openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: plain, PathParams: parameters, Route: route},
		Status:                 answer.StatusCode,
		Header:                 answer.Header,
		Body:                   io.NopCloser(bytes.NewReader(answer.Bytes)),
		Options:                &openapi3filter.Options{IncludeResponseStatus: true},
	})
	checkPublished(t, asked.Method, route.Path, answer)
	if err != nil {
		t.Errorf("%s %s answers %d, which is not as OpenAPI describes it: %v", asked.Method, asked.URL.Path, answer.StatusCode, err)
	}
}

// responses are the types of the published interface's successful answers, by method and shape of
// path.
var responses = sync.OnceValue(func() map[string][]string {
	all := make(map[string][]string)
	for _, op := range published.Operations() {
		shape := published.Shape(op.Method, op.Path)
		all[shape] = append(all[shape], op.Response)
	}
	return all
})

// checkPublished checks a successful answer against the fields of the published interface: one of
// the types that the operation has there must fit.
func checkPublished(t testing.TB, method, path string, answer *Response) {
	t.Helper()
	types := responses()[published.Shape(method, path)]
	if answer.StatusCode != http.StatusOK || len(types) == 0 {
		return
	}
	var faults []string
	for _, of := range types {
		var value any
		if of == "" {
			return
		}
		if err := json.Unmarshal(answer.Bytes, &value); err != nil {
			t.Errorf("%s %s: %v", method, path, err)
			return
		}
		found := published.Check(value, of)
		if len(found) == 0 {
			return
		}
		faults = append(faults, found...)
	}
	t.Errorf("%s %s breaks the published interface: %.600q", method, path, faults)
}
