package graph

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/meshyard/meshyard/internal/graphqlhttp"
	"github.com/meshyard/meshyard/models"
)

// listLengths holds the longest list that a field without a connection can return: a fixed number,
// or the name of the argument that bounds it. Connections are bounded by first and last.
var listLengths = map[string]listLength{
	"Query.featured":        {argument: "perPage"},
	"Query.newest":          {argument: "perPage"},
	"Query.popular":         {argument: "perPage"},
	"Query.deprecatedCalls": {argument: "first"},
	"Query.categories":      {fixed: 10},
	"Query.applications":    {fixed: maxFirst},
	"Category.children":     {fixed: 10},
	"Popularity.days":       {fixed: maxFirst},
	"Thing.files":           {argument: "first"},
	"Make.files":            {argument: "first"},
	"Comment.files":         {argument: "first"},
	"Thing.images":          {argument: "first"},
	"Make.images":           {argument: "first"},
	"Thing.tags":            {fixed: 10},
	"Thing.collections":     {fixed: 10},
	"Query.randomThings":    {argument: "first"},
	"User.recommendedTags":  {fixed: 20},
	"User.stats":            {fixed: maxFirst},
}

type listLength struct {
	fixed    int
	argument string
}

// fieldCost implements graphqlhttp.FieldCost: a list costs as much as it can hold.
func fieldCost(field string, children int, arguments map[string]any) int {
	length, ok := listLengths[field]
	switch {
	case ok && length.argument != "":
		return listCost(children, intArgument(arguments, length.argument, defaultFirst))
	case ok:
		return listCost(children, length.fixed)
	case isConnection(field):
		// The longer of first and last; only one of them is valid.
		n := defaultFirst
		for _, name := range []string{"first", "last"} {
			if arguments[name] != nil {
				n = intArgument(arguments, name, defaultFirst)
			}
		}
		return listCost(children, n)
	}
	return 0
}

// isConnection reports whether the field "Type.name" is a connection.
func isConnection(field string) bool {
	typeName, name, _ := strings.Cut(field, ".")
	definition := publicSchema().Types[typeName]
	if definition == nil {
		return false
	}
	f := definition.Fields.ForName(name)
	return f != nil && strings.HasSuffix(f.Type.Name(), "Connection")
}

// listCost returns the cost of a list of n objects. It cannot overflow.
func listCost(children, n int) int {
	return 1 + min(children, graphqlhttp.MaxCost+1)*min(max(n, 1), models.MaxFiles)
}

// intArgument returns an argument that has not been validated.
func intArgument(arguments map[string]any, name string, otherwise int) int {
	switch n := arguments[name].(type) {
	case int64:
		return int(n)
	case int:
		return n
	case json.Number:
		if i, err := strconv.Atoi(n.String()); err == nil {
			return i
		}
	case string: // which the Int scalar accepts
		if i, err := strconv.Atoi(n); err == nil {
			return i
		}
	}
	return otherwise
}
