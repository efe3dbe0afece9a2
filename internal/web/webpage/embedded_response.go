package webpage

import (
	"encoding/json"
	"net/http"
)

// ClientDocuments lists the documents of the client whose responses are embedded in pages, so that
// the client can show such a page without another request.
var ClientDocuments = []string{"home", "search", "thing"}

// embeddedResponse is the embedded response to the first operation that the client sends on a page.
type embeddedResponse struct {
	Operation string          `json:"operation"`
	Variables map[string]any  `json:"variables"`
	Data      json.RawMessage `json:"data"`
}

// responseFor returns the embedded response for a page, or nil if the client must request the data.
func (o Options) responseFor(r *http.Request, p page) *embeddedResponse {
	a := &embeddedResponse{Variables: map[string]any{}}
	query := r.URL.Query()
	switch p.kind {
	case homePage:
		a.Operation = "home"
	case thingPage:
		a.Operation, a.Variables = "thing", p.variables
	case explorePage:
		words := firstLetters(query.Get("q"), maxQuery)
		for name := range query {
			if name != "q" {
				return nil // a filter, which only the client supports
			}
		}
		sort := "POPULAR"
		if words != "" {
			sort = "RELEVANT"
		}
		a.Operation = "search"
		a.Variables = map[string]any{"query": words, "type": "THINGS", "sort": sort, "facets": true}
	default:
		return nil
	}
	var err error
	if a.Data, err = o.RunClient(r.Context(), a.Operation, a.Variables); err != nil {
		return nil // the client repeats the request and shows the error
	}
	return a
}
