package webpage

import (
	"encoding/json"
	"net/http"
)

// ClientDocuments are the documents of the client whose answers pages contain, so that the client
// shows the page without another request.
var ClientDocuments = []string{"home", "search", "thing"}

// clientAnswer is the answer to the first operation that the client sends on a page.
type clientAnswer struct {
	Operation string          `json:"operation"`
	Variables map[string]any  `json:"variables"`
	Data      json.RawMessage `json:"data"`
}

// answerFor returns the answer for a page, or nil if the client has to ask.
func (o Options) answerFor(r *http.Request, p page) *clientAnswer {
	a := &clientAnswer{Variables: map[string]any{}}
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
				return nil // a filter, which the client understands
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
		return nil // the client shows the error
	}
	return a
}
