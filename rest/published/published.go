// Package published contains the published interface that the REST API is compatible with, as two
// tables, and checks responses against it. Only tests use it.
package published

import (
	_ "embed"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

//go:embed paths.tsv
var pathsTable string

//go:embed fields.tsv
var fieldsTable string

// Operation is an operation of the published interface.
type Operation struct {
	Method, Path string   // the path without a query and without a trailing slash
	Query        string   // the query that selects this row, such as type=users; often ""
	Parameters   []string // for example path:thing_id!:integer
	Response     string   // the type of the body of a 200, or "" if it has none
}

var parameter = regexp.MustCompile(`\{\w+\}`)

// Shape returns a method and a path with the names of path parameters removed.
func Shape(method, path string) string {
	return method + " " + parameter.ReplaceAllString(path, "{}")
}

// Operations returns all operations in the order of the table.
func Operations() (all []Operation) {
	for _, cells := range rows(pathsTable) {
		path, query, _ := strings.Cut(cells[1], "?")
		op := Operation{Method: cells[0], Path: strings.TrimSuffix(path, "/"), Query: query,
			Parameters: strings.Fields(cells[4])}
		if of, ok := strings.CutPrefix(cells[6], "200:"); ok {
			op.Response = strings.TrimRight(statuses.ReplaceAllString(of, ""), " ")
		}
		all = append(all, op)
	}
	return all
}

// Response returns the type of the body of a successful response, or "" if the table has none. The
// path is the path of an operation, with the names of its parameters.
func Response(method, path string, query url.Values) string {
	shape := Shape(method, path)
	if shape == "GET /search" {
		shape = "GET /search/{}" // without a term
	}
	for _, op := range responses()[shape] {
		name, value, chosen := strings.Cut(op.Query, "=")
		given := query.Get(name)
		if given == "" && name == "type" {
			given = "things" // the default
		}
		if !chosen || given == value {
			return op.Response
		}
	}
	return ""
}

// responses returns the operations by shape. Operations that a query selects come first.
var responses = sync.OnceValue(func() map[string][]Operation {
	all := make(map[string][]Operation)
	for _, op := range Operations() {
		shape := Shape(op.Method, op.Path)
		if op.Query != "" {
			all[shape] = slices.Insert(all[shape], 0, op)
		} else {
			all[shape] = append(all[shape], op)
		}
	}
	return all
})

// statuses matches the error statuses at the end of the response column.
var statuses = regexp.MustCompile(`( [45]\d\d)+$`)

// rows returns the cells of a table without its header line.
func rows(table string) (all [][]string) {
	for line := range strings.Lines(table) {
		all = append(all, strings.Split(strings.TrimRight(line, "\n"), "\t"))
	}
	return all[1:]
}

type field struct {
	of                 string // its type
	required, nullable bool
}

// schemas has the fields of each schema by name.
var schemas = func() map[string]map[string]field {
	all := make(map[string]map[string]field)
	for _, cells := range rows(fieldsTable) {
		if all[cells[0]] == nil {
			all[cells[0]] = make(map[string]field)
		}
		all[cells[0]][cells[1]] = field{cells[2], cells[3] != "", cells[4] != ""}
	}
	return all
}()

// Check returns the differences between a decoded JSON value and the published type. Fields that
// the type does not have are allowed.
func Check(value any, of string) (faults []string) {
	return check("", value, of)
}

func check(at string, value any, of string) (faults []string) {
	if alternatives := split(of, '|'); len(alternatives) > 1 {
		for _, a := range alternatives {
			if faults = check(at, value, a); len(faults) == 0 {
				return nil
			}
		}
		return faults
	}
	ok := true
	kind, rest, _ := strings.Cut(of, ":")
	switch {
	case of == "any" || of == "":
	case strings.HasPrefix(of, "array<"):
		var items []any
		if items, ok = value.([]any); ok {
			for i, item := range items {
				faults = append(faults, check(fmt.Sprintf("%s[%d]", at, i), item, of[len("array<"):len(of)-1])...)
			}
		}
	case strings.HasPrefix(of, "{"):
		var object map[string]any
		if object, ok = value.(map[string]any); ok {
			for _, member := range split(of[1:len(of)-1], ',') {
				name, memberOf, _ := strings.Cut(strings.TrimSpace(member), ":")
				if v, has := object[name]; has {
					faults = append(faults, check(at+"."+name, v, memberOf)...)
				}
			}
		}
	case schemas[of] != nil:
		var object map[string]any
		if object, ok = value.(map[string]any); ok {
			faults = checkFields(at, object, of)
		}
	case of == "object" || of == "Ok":
		_, ok = value.(map[string]any)
	case of == "boolean":
		_, ok = value.(bool)
	case of == "integer":
		var number float64
		number, ok = value.(float64)
		ok = ok && number == float64(int64(number))
	case kind == "string" || strings.HasPrefix(of, "string("):
		var text string
		if text, ok = value.(string); ok && rest == "date-time" {
			ok = dateTime.MatchString(text)
		}
		if words, limited := strings.CutPrefix(of, "string("); ok && limited {
			ok = strings.Contains("|"+strings.TrimSuffix(words, ")")+"|", "|"+text+"|")
		}
	default:
		return []string{fmt.Sprintf("%s: the published type %q is unknown", at, of)}
	}
	if !ok {
		return []string{fmt.Sprintf("%s: %.80v is not of the type %s", at, fmt.Sprint(value), of)}
	}
	return faults
}

var dateTime = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)$`)

func checkFields(at string, object map[string]any, schema string) (faults []string) {
	for name, f := range schemas[schema] {
		v, has := object[name]
		// The one exception: if the thing of a make was deleted, the thing is an empty object. Clients
		// generated from the published interface accept neither null nor a missing field.
		if empty, is := v.(map[string]any); schema == "CopySchema" && name == "thing" && is && len(empty) == 0 {
			continue
		}
		switch {
		case !has && f.required:
			faults = append(faults, fmt.Sprintf("%s.%s: is required by %s", at, name, schema))
		case !has, v == nil && f.nullable:
		case v == nil:
			faults = append(faults, fmt.Sprintf("%s.%s: %s does not allow null", at, name, schema))
		default:
			faults = append(faults, check(at+"."+name, v, f.of)...)
		}
	}
	return faults
}

// split splits a type at the separators that are not within brackets.
func split(of string, separator rune) (parts []string) {
	depth, start := 0, 0
	for i, c := range of {
		switch {
		case strings.ContainsRune("<({", c):
			depth++
		case strings.ContainsRune(">)}", c):
			depth--
		case c == separator && depth == 0:
			parts = append(parts, of[start:i])
			start = i + 1
		}
	}
	return append(parts, of[start:])
}
