package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// selectNodes selects the columns for nodesDocument, in the order in which node.scan reads them.
const selectNodes = "SELECT t.id, t.name, t.created_at, u.id, u.username, (SELECT string_agg(tt.name, chr(2)) " + tagsOfOne + "), " +
	"(SELECT string_agg(id || chr(1) || name || chr(1) || size, chr(2)) FROM (SELECT id, name, size " + filesOfOne + " ORDER BY rank, id LIMIT 100) AS f) " +
	pageOfThings + withOwner + inOrder

// nodesResponse is the response to nodesDocument and to listsDocument.
type nodesResponse struct {
	Data struct {
		Things connection[row] `json:"things"`
	} `json:"data"`
}

type connection[N any] struct {
	Nodes []N `json:"nodes"`
}

// row is a thing in a response.
type row interface {
	scan(e engine, scan scanner) error
}

// node is a thing in the response to nodesDocument.
type node struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	CreatedAt time.Time `json:"createdAt"`
	Creator   struct {
		ID       string `json:"id"`
		Username string `json:"username"`
	} `json:"creator"`
	Tags  []nodeTag  `json:"tags"`
	Files []nodeFile `json:"files"`
}

type nodeTag struct {
	Name string `json:"name"`
}

type nodeFile struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Size int64  `json:"size"`
}

// bareNodes serves nodesDocument and listsDocument, each by its select. It does not parse the
// document: only listsDocument contains comments.
func bareNodes(e engine, nodes, lists selection) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Query     string
			Variables struct{ After string }
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		after, err := parseCursor(asked.Variables.After)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		things, next := nodes, func() row { return new(node) }
		if strings.Contains(asked.Query, "comments(") {
			things, next = lists, func() row { return new(listsNode) }
		}
		var all nodesResponse
		err = things(r.Context(), func(scan scanner) error {
			n := next()
			all.Data.Things.Nodes = append(all.Data.Things.Nodes, n)
			return n.scan(e, scan)
		}, after.arguments(e)...)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		writeJSON(w, all)
	}
}

func (n *node) scan(e engine, scan scanner) (err error) {
	var id, creator int64
	var tags, files *string
	created := moment{e: e}
	if err := scan(&id, &n.Name, created.column(), &creator, &n.Creator.Username, &tags, &files); err != nil {
		return err
	}
	n.ID, n.Creator.ID = strconv.FormatInt(id, 10), strconv.FormatInt(creator, 10)
	n.Tags, n.Files = []nodeTag{}, []nodeFile{} // not null in JSON
	for name := range entries(tags) {
		n.Tags = append(n.Tags, nodeTag{name})
	}
	for file := range entries(files) {
		id, rest, _ := strings.Cut(file, field)
		name, size, _ := strings.Cut(rest, field)
		bytes, err := strconv.ParseInt(size, 10, 64)
		if err != nil {
			return fmt.Errorf("file %q: %w", file, err)
		}
		n.Files = append(n.Files, nodeFile{id, name, bytes})
	}
	n.CreatedAt, err = created.time()
	return err
}
