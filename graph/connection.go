package graph

import (
	"context"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/meshyard/meshyard/models"
)

// Each list that grows is a connection. Its cursor is the id at which an entry stands in the list's order, with the list's name, so
// that it stays good while entries come and go and is refused by another list.

const maxFirst = 100

func cursor(list string, id int64) string {
	return base64.RawURLEncoding.EncodeToString([]byte(list + ":" + strconv.FormatInt(id, 10)))
}

func parseCursor(list, s string) (int64, error) {
	text, err := base64.RawURLEncoding.DecodeString(s)
	if err == nil {
		if digits, ok := strings.CutPrefix(string(text), list+":"); ok {
			if id, err := strconv.ParseInt(digits, 10, 64); err == nil {
				return id, nil
			}
		}
	}
	return 0, BadInput("after", "after: %.60q is no cursor of this list", s)
}

// slice reads the arguments that say which part of a list is wanted.
func slice(list string, first int32, after *string, page *int32) (models.Slice, error) {
	part := models.Slice{First: int(first)}
	if first < 1 || first > maxFirst {
		e := BadInput("first", "first: %d is not between 1 and %d", first, maxFirst)
		e.Limit = maxFirst
		return part, e
	}
	if page != nil {
		if after != nil {
			return part, BadInput("page", "page: not together with after")
		}
		if *page < 1 {
			return part, BadInput("page", "page: %d is less than 1", *page)
		}
		part.Offset = int64(*page-1) * int64(first)
	}
	if after != nil {
		var err error
		if part.After, err = parseCursor(list, *after); err != nil {
			return part, err
		}
	}
	return part, nil
}

// BadInput says that an input cannot be taken as it is.
func BadInput(field, format string, args ...any) *models.Error {
	return &models.Error{Code: models.BadInput, Message: fmt.Sprintf(format, args...), Field: field}
}

// NotFound says that what is asked for is not there.
func NotFound(message string) *models.Error {
	return &models.Error{Code: models.NotFound, Message: message}
}

func pageInfo(cursors []string, part models.Slice, more bool) *PageInfo {
	info := &PageInfo{HasNextPage: more, HasPreviousPage: part.After != 0 || part.Offset != 0}
	if len(cursors) > 0 {
		info.StartCursor, info.EndCursor = &cursors[0], &cursors[len(cursors)-1]
	}
	return info
}

// DownloadConnection is a part of a download history.
type DownloadConnection struct {
	Edges    []*DownloadEdge
	Nodes    []*models.Download
	PageInfo *PageInfo
	count    func(context.Context) (int64, error)
}

func downloadConnection(nodes []*models.Download, part models.Slice, more bool, count func(context.Context) (int64, error)) *DownloadConnection {
	c := &DownloadConnection{Nodes: nodes, Edges: make([]*DownloadEdge, len(nodes)), count: count}
	cursors := make([]string, len(nodes))
	for i, d := range nodes {
		cursors[i] = cursor("downloads", d.ID)
		c.Edges[i] = &DownloadEdge{Cursor: cursors[i], Node: d}
	}
	c.PageInfo = pageInfo(cursors, part, more)
	return c
}

// ThingConnection is a part of a list of things.
type ThingConnection struct {
	Edges    []*ThingEdge
	Nodes    []*models.Thing
	PageInfo *PageInfo
	count    func(context.Context) (int64, error)
}

func thingConnection(nodes []*models.Thing, cursors []string, part models.Slice, more bool, count func(context.Context) (int64, error)) *ThingConnection {
	c := &ThingConnection{Nodes: nodes, Edges: make([]*ThingEdge, len(nodes)), count: count}
	for i, t := range nodes {
		c.Edges[i] = &ThingEdge{Cursor: cursors[i], Node: t}
	}
	c.PageInfo = pageInfo(cursors, part, more)
	return c
}
