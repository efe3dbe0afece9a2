package servertest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/meshyard/meshyard/graph"
	"github.com/meshyard/meshyard/rest"
	"github.com/meshyard/meshyard/rest/published"
)

// description checks responses against an OpenAPI description.
type description struct {
	router   routers.Router
	mu       sync.Mutex
	compiler *jsonschema.Compiler
	schemas  map[string]*jsonschema.Schema // by JSON pointer into the description
}

// described returns the OpenAPI description that the server serves.
var described = sync.OnceValues(func() (*description, error) {
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
	router, err := gorillamux.NewRouter(document)
	if err != nil {
		return nil, err
	}
	plain, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource(descriptionURL, plain); err != nil {
		return nil, err
	}
	return &description{router: router, compiler: compiler, schemas: make(map[string]*jsonschema.Schema)}, nil
})

const descriptionURL = "https://example.com/openapi.json"

// check returns an error if a response to an operation does not match the description.
func (d *description) check(route *routers.Route, response *Response) error {
	status := strconv.Itoa(response.StatusCode)
	described := route.Operation.Responses.Value(status)
	if described == nil {
		return errors.New("the status is not described")
	}
	if len(described.Value.Content) == 0 {
		return nil
	}
	media, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if described.Value.Content[media] == nil {
		return fmt.Errorf("the content type %q is not described", media)
	}
	pointer := described.Ref
	if pointer == "" {
		pointer = "#" + jsonPointer("paths", route.Path, strings.ToLower(route.Method), "responses", status)
	}
	schema, err := d.schema(pointer + jsonPointer("content", media, "schema"))
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(response.Bytes))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

// schema returns the schema at a pointer. Each schema is compiled only once, because that takes
// longer than most requests.
func (d *description) schema(pointer string) (*jsonschema.Schema, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if found := d.schemas[pointer]; found != nil {
		return found, nil
	}
	compiled, err := d.compiler.Compile(descriptionURL + pointer)
	if err == nil {
		d.schemas[pointer] = compiled
	}
	return compiled, err
}

// jsonPointer returns the JSON pointer of a path of keys, encoded for a URL fragment.
func jsonPointer(keys ...string) string {
	var b strings.Builder
	for _, key := range keys {
		b.WriteString("/" + url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(key)))
	}
	return b.String()
}

// checkResponse checks a REST response against the OpenAPI description. Operations that the
// description does not contain are not checked.
func checkResponse(t testing.TB, asked *http.Request, response *Response) {
	t.Helper()
	d, err := described()
	if err != nil {
		t.Fatalf("the OpenAPI description: %v", err)
	}
	plain := asked.Clone(context.Background())
	plain.URL.Path = strings.TrimSuffix(asked.URL.Path, "/")
	route, _, err := d.router.FindRoute(plain)
	if err != nil || asked.Method == http.MethodHead {
		return
	}
	checkPublished(t, asked, route.Path, response)
	if err := d.check(route, response); err != nil {
		t.Errorf("%s %s returns %d, which does not match the OpenAPI description: %v", asked.Method, asked.URL.Path,
			response.StatusCode, err)
	}
}

// checkPublished checks a successful response against the published interface of the REST API.
func checkPublished(t testing.TB, asked *http.Request, path string, response *Response) {
	t.Helper()
	of := published.Response(asked.Method, path, asked.URL.Query())
	if response.StatusCode != http.StatusOK || of == "" {
		return
	}
	var value any
	if err := json.Unmarshal(response.Bytes, &value); err != nil {
		t.Errorf("%s %s: %v", asked.Method, asked.URL.Path, err)
		return
	}
	if faults := published.Check(value, of); len(faults) > 0 {
		t.Errorf("%s %s does not match the published interface: %.600q", asked.Method, asked.URL, faults)
	}
}
