package main

import (
	"strconv"
	"strings"
)

// selectLists selects the columns for listsDocument, in the order in which listsNode.scan reads
// them.
const selectLists = "SELECT t.id, t.name, (SELECT string_agg(id || chr(1) || body, chr(2)) FROM " +
	"(SELECT id, body FROM comments WHERE target_type = 'thing' AND target_id = t.id ORDER BY id DESC LIMIT 3) AS c), " +
	"(SELECT string_agg(id || chr(1) || name, chr(2)) FROM " +
	"(SELECT id, name FROM makes WHERE thing_id = t.id AND state = 'published' ORDER BY id DESC LIMIT 3) AS m) " +
	pageOfThings + inOrder

// listsNode is a thing in the response to listsDocument.
type listsNode struct {
	ID       string                  `json:"id"`
	Name     string                  `json:"name"`
	Comments connection[nodeComment] `json:"comments"`
	Makes    connection[nodeMake]    `json:"makes"`
}

type nodeComment struct {
	ID   string `json:"id"`
	Body string `json:"body"`
}

type nodeMake struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

func (n *listsNode) scan(_ engine, scan scanner) error {
	var id int64
	var comments, makes *string
	if err := scan(&id, &n.Name, &comments, &makes); err != nil {
		return err
	}
	n.ID = strconv.FormatInt(id, 10)
	n.Comments.Nodes, n.Makes.Nodes = []nodeComment{}, []nodeMake{} // not null in JSON
	for comment := range entries(comments) {
		id, body, _ := strings.Cut(comment, field)
		n.Comments.Nodes = append(n.Comments.Nodes, nodeComment{id, body})
	}
	for made := range entries(makes) {
		id, name, _ := strings.Cut(made, field)
		n.Makes.Nodes = append(n.Makes.Nodes, nodeMake{id, name})
	}
	return nil
}
