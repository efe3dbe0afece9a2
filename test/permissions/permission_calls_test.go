package permissions_test

import (
	"bufio"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/collections"
	"github.com/meshyard/meshyard/test/servertest"
)

// filled replaces the placeholders in a text, and creates the caller's objects that they refer to.
func (m *matrix) filled(text string, sc servertest.Fixture, caller int) string {
	m.T.Helper()
	own := map[string]func(user string) int64{
		"mine":   func(user string) int64 { id, _, _ := m.Thing(user, servertest.Draft, servertest.Draft); return id },
		"upload": func(user string) int64 { return m.Upload(user, "own.stl", m.STL) },
		"mycollection": func(user string) int64 {
			return servertest.Must(m.S.Store.Collections.CreateCollection(context.Background(), m.As(user),
				collections.NewCollection{Name: "collection"}))(m.T).ID
		},
	}
	text = placeholder.ReplaceAllStringFunc(text, func(name string) string {
		value, ok := sc[name[1:]]
		if make := own[name[1:]]; make != nil && !ok {
			value = "0"
			if user := m.names[caller]; user != "" {
				m.unchanged()
				value, m.before = servertest.ID(make(user)), nil
			}
		}
		if strings.HasPrefix(text, "/") {
			return value
		}
		return servertest.MustJSON(value)
	})
	return nodeOf.ReplaceAllStringFunc(text, func(node string) string {
		found := nodeOf.FindStringSubmatch(node)
		return servertest.MustJSON(models.NodeRef{Type: found[1], ID: servertest.Atoi(m.T, found[2])}.NodeID())
	})
}

// nodeOf matches the placeholder for a nodeId, which contains a type and an ID.
var nodeOf = regexp.MustCompile(`node\((\w+), "(\d+)"\)`)

var placeholder = regexp.MustCompile(
	`\$(thing|file|image|copy|comment|collection|userid|user|tag|slug|term|token|app|id|mine|upload|mycollection|report|delivery|job)\b`)

// byGraphQL makes a call by GraphQL.
func (m *matrix) byGraphQL(c *servertest.Client, p permission, document string) outcome {
	m.T.Helper()
	result := new(servertest.Result)
	switch {
	case strings.HasPrefix(document, "subscription"):
		if err := json.Unmarshal(m.firstEvent(c, document), result); err != nil {
			m.T.Fatalf("%s: %v", document, err)
		}
	case strings.Contains(p.field, "uploadFile"):
		result = c.GraphQLUpload(document, servertest.Object{"bytes": nil}, "bytes", "a.stl", m.STL)
	default:
		result = c.GraphQL(document, nil)
	}
	status, known := servertest.CodeStatus[result.Code()]
	if !known {
		m.T.Errorf("%s: %+v", document, result.Errors)
	}
	var data any
	if err := json.Unmarshal(result.Data, &data); err != nil && status == http.StatusOK {
		m.T.Fatalf("%s: %v: %s", document, err, result.Data)
	}
	var bulk struct {
		UpdateThings *struct {
			Results []struct{ Error *struct{ Code string } }
		}
	}
	if err := json.Unmarshal(result.Data, &bulk); err == nil && bulk.UpdateThings != nil &&
		bulk.UpdateThings.Results[0].Error != nil {
		status = servertest.CodeStatus[bulk.UpdateThings.Results[0].Error.Code] // of the only thing
	}
	shown := make(map[string]bool)
	m.look(data, shown)
	return outcome{status, slices.Sorted(maps.Keys(shown))}
}

// firstEvent returns the first event of a subscription. It does not wait for the end, because some
// subscriptions do not end until their file changes.
func (m *matrix) firstEvent(c *servertest.Client, document string) []byte {
	m.T.Helper()
	r := c.Request(http.MethodPost, "/graphql", servertest.Object{"query": document})
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	if c.Token != "" {
		r.Header.Set("Authorization", "Bearer "+c.Token)
	}
	ctx, cancel := context.WithTimeout(m.T.Context(), time.Minute)
	defer cancel()
	response := servertest.Must(http.DefaultClient.Do(r.WithContext(ctx)))(m.T)
	defer response.Body.Close()
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if told, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			return []byte(told)
		}
	}
	m.T.Fatalf("%s has no event", document)
	return nil
}

// look collects the values of all fields with the alias `is` in a response, and checks that the
// length of each list equals its total count.
func (m *matrix) look(data any, shown map[string]bool) {
	switch v := data.(type) {
	case []any:
		for _, e := range v {
			m.look(e, shown)
		}
	case map[string]any:
		if total, nodes := v["totalCount"], v["nodes"]; total != nil && nodes != nil &&
			int(total.(float64)) != len(nodes.([]any)) {
			m.T.Errorf("totalCount is %v, of %d nodes: %v", total, len(nodes.([]any)), nodes)
		}
		for name, e := range v {
			if name != "is" {
				m.look(e, shown)
				continue
			}
			list, ok := e.([]any)
			if !ok {
				list = []any{e}
			}
			for _, e := range list {
				if e != nil {
					shown[bare(e.(string))] = true
				}
			}
		}
	}
}

// bare returns a file name without its extension.
func bare(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(name, ".stl"), ".png")
}

// restRequest is a REST request.
type restRequest struct{ operation, method, path, body string }

func (m *matrix) request(operation, body string, sc servertest.Fixture, caller int) restRequest {
	m.T.Helper()
	at, ok := m.addresses[operation]
	if !ok {
		m.T.Fatalf("there is no operation %s", operation)
	}
	path := parameter.ReplaceAllString(at.path, "$$$1")
	path = strings.NewReplacer("{ids}", "$thing", "$ids", "$thing", "{startDate}", "2026-01-01", "{endDate}",
		"2026-01-02").Replace(path)
	for name, own := range map[string]string{"thing": "$mine", "collection": "$mycollection"} {
		if sc[name] == "" {
			path = strings.ReplaceAll(path, "$"+name, own)
		}
	}
	path = m.filled(path, sc, caller)
	if at.method == http.MethodGet {
		path += "?per_page=100"
	}
	return restRequest{operation, at.method, path, m.filled(body, sc, caller)}
}

var parameter = regexp.MustCompile(`\{([a-z]+?)(_id|name)?\}`)

// byREST makes a call by REST. isList reports whether the response is a list.
func (m *matrix) byREST(c *servertest.Client, r restRequest) (v outcome, isList bool) {
	m.T.Helper()
	var response *servertest.Response
	switch {
	case r.operation == "post_files_0_upload_file":
		response = c.PostForm(r.path, nil, "file", "a.stl", m.STL)
	case r.body != "":
		response = c.Do(r.method, r.path, r.body)
	default:
		response = c.Do(r.method, r.path, nil)
	}
	if v.status = response.StatusCode; v.status == http.StatusFound {
		v.status = http.StatusOK
	}
	if v.status >= 400 && r.method != http.MethodHead {
		servertest.CheckErrorBody(m.T, response)
	}
	var data any
	_ = json.Unmarshal(response.Bytes, &data) // a redirect has no JSON body
	if o, ok := data.(map[string]any); ok {
		if data = o["hits"]; data == nil && o["comments"] != nil {
			data = slices.Concat(slices.Collect(maps.Values(threadsOf(o["comments"])))...)
		}
	}
	list, isList := data.([]any)
	for _, e := range list {
		entry, ok := e.(map[string]any)
		if !ok {
			break // it contains only IDs
		}
		name := entry["name"]
		if name == nil {
			name = entry["body"]
		}
		if name != nil && !slices.Contains(v.shown, bare(name.(string))) {
			v.shown = append(v.shown, bare(name.(string)))
		}
	}
	slices.Sort(v.shown)
	return v, isList
}

func threadsOf(v any) map[string][]any {
	threads := make(map[string][]any)
	for parent, comments := range v.(map[string]any) {
		threads[parent] = comments.([]any)
	}
	return threads
}
