package rest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/rest/wire"
)

// variables returns the variables of an operation, read by name from the path, the query and the
// body. The path has priority over the body, and the body over the query. Each value is converted
// to the declared type. Missing and null values are left out, and unknown names are ignored.
func (s *server) variables(op *operation, r *http.Request) (map[string]any, error) {
	query := r.URL.Query()
	given := fromQuery(query)
	body, err := fieldsOf(op, r)
	if err != nil {
		return nil, err
	}
	maps.Copy(given, body)
	variables := make(map[string]any, len(op.variables))
	// In declaration order, so that the same request always reports the same error first.
	for _, v := range op.VariableDefinitions {
		name := v.Variable
		if value := r.PathValue(name); value != "" {
			if variables[name], err = s.fromPath(v, value); err != nil {
				return nil, err
			}
			continue
		}
		switch name {
		case "per_page":
			_, variables[name] = pageNumbers(query)
			continue
		case "after":
			if cursor := cursorOf(query); cursor != "" {
				variables[name] = cursor
			}
			continue
		}
		value := given[name]
		if name == "parent_id" && isZero(value) {
			value = nil // in REST, 0 is the parent of a comment that is not a reply
		}
		if value == nil || value == "" && v.Type.NamedType != "String" {
			if v.Type.NonNull && v.DefaultValue == nil {
				return nil, badInput(name, "%s: is missing", name)
			}
			continue
		}
		if name == "category" && (value == "" || isZero(value)) && !v.Type.NonNull {
			continue // clients that save all their fields have no category, because no response contains it
		}
		if v.Type.NamedType == "License" && op.mutates() {
			setLicense(variables, op, v, value)
			continue
		}
		if parts, ok := value.([]any); ok && jsonTexts[name] {
			description, _ := given["description_html"].(string)
			instructions, _ := given["instructions_html"].(string)
			value = wire.WithoutTextParts(parts, description, instructions)
		}
		if variables[name], err = s.convert(name, value, v.Type); err != nil {
			return nil, err
		}
	}
	return variables, nil
}

// isZero reports whether a value is the ID 0.
func isZero(value any) bool { return value == "0" || value == json.Number("0") }

// setLicense sets a license variable. Old clients send licenses that were never documented, so an
// unknown license is not an error: a new thing gets the license that permits the least, and an
// update leaves the variable out, so that the license does not change. If the value is a list, its
// texts are joined; usually there is only one. If the text means another license than that of its
// code, such as an earlier version, it also sets the variable license_id, if there is one.
func setLicense(variables map[string]any, op *operation, v *ast.VariableDefinition, value any) {
	text, _ := value.(string)
	if list, ok := value.([]any); ok {
		text = strings.TrimSpace(fmt.Sprintln(list...))
	}
	code, ok := wire.LicenseEnum(text)
	if !ok {
		code, ok = wire.LikelyLicense(text)
		if id := wire.ExactLicense(text); id != "" && op.VariableDefinitions.ForName("license_id") != nil {
			variables["license_id"] = id
		}
	}
	switch {
	case ok:
		variables[v.Variable] = code
	case v.Type.NonNull:
		variables[v.Variable] = wire.MostRestrictive
	}
}

// fromPath converts a segment of the path. Commas separate the entries of a list.
func (s *server) fromPath(v *ast.VariableDefinition, segment string) (any, error) {
	switch {
	case v.Type.Elem != nil:
		var list []any
		for item := range strings.SplitSeq(segment, ",") {
			list = append(list, item)
		}
		return s.convert(v.Variable, list, v.Type)
	case v.Type.NamedType == "ID" && !isID(segment):
		return nil, apierror.New(apierror.NotFound, "%s: %.60q is not an id", v.Variable, segment)
	case v.Variable == "term":
		return strings.ReplaceAll(segment, "+", " "), nil // clients write a space as + in the path, too
	case v.Type.NamedType == "DateTime":
		return s.convert(v.Variable, segment, v.Type)
	}
	return segment, nil
}

// convert converts a value from a query, a form or a JSON body to the given GraphQL type. It
// returns BadInput if the value does not have that type.
func (s *server) convert(name string, value any, t *ast.Type) (any, error) {
	if t.Elem != nil {
		return s.convertList(name, value, t.Elem)
	}
	switch definition := s.schema.Types[t.NamedType]; definition.Kind {
	case ast.InputObject:
		return s.convertObject(name, value, definition)
	case ast.Enum:
		return convertEnum(name, value, definition)
	}
	if upload, ok := value.(graphql.Upload); ok {
		return upload, nil
	}
	value = named(value, t.NamedType)
	if list, ok := value.([]any); ok && jsonTexts[name] {
		encoded, err := json.Marshal(list)
		return string(encoded), err
	}
	return convertScalar(name, value, t.NamedType)
}

// convertList converts a list. A string is a list of one element, because a parameter in a query or
// a form is not a list if it is given once.
func (s *server) convertList(name string, value any, elem *ast.Type) (any, error) {
	if text, ok := value.(string); ok && name == "tags" {
		value = splitTags(text)
	} else if ok {
		converted, err := s.convert(name, text, elem)
		return []any{converted}, err
	}
	list, ok := value.([]any)
	if !ok {
		return nil, badInput(name, "%s: must be a list", name)
	}
	converted := make([]any, len(list))
	for i, v := range list {
		var err error
		if converted[i], err = s.convert(name+"["+strconv.Itoa(i)+"]", v, elem); err != nil {
			return nil, err
		}
	}
	return converted, nil
}

// splitTags returns the tags in a text that separates them by commas.
func splitTags(text string) []any {
	var tags []any
	for tag := range strings.SplitSeq(text, ",") {
		if tag = strings.TrimSpace(tag); tag != "" {
			tags = append(tags, tag)
		}
	}
	return tags
}

// convertScalar converts a string, a number or a boolean to a scalar type of the schema.
func convertScalar(name string, value any, scalar string) (any, error) {
	text, isText := value.(string)
	if number, ok := value.(json.Number); ok {
		text, isText = number.String(), true
	}
	flag, isFlag := value.(bool)
	switch scalar {
	case "ID":
		if isText && isID(text) {
			return text, nil
		}
		return nil, badInput(name, "%s: must be an id: a whole number, or its decimal digits as a string", name)
	case "Int", "Int64":
		if n, err := strconv.ParseInt(text, 10, 32); isText && err == nil {
			return n, nil
		}
		return nil, badInput(name, "%s: must be a 32-bit integer", name)
	case "Boolean":
		if isFlag {
			return flag, nil
		}
		if b, err := strconv.ParseBool(text); isText && err == nil {
			return b, nil
		}
		return nil, badInput(name, "%s: must be 0, 1, true or false", name)
	case "DateTime":
		if at, ok := parseDate(text, time.Now()); isText && ok {
			return at.UTC().Format(time.RFC3339), nil
		}
		return nil, badInput(name, "%s: must be a date such as 2026-01-31, or relative to now such as now-7d", name)
	case "String":
		if isText {
			return text, nil
		}
		return nil, badInput(name, "%s: must be a string", name)
	}
	return nil, fmt.Errorf("rest: %s: no conversion to %s", name, scalar)
}

// jsonTexts are the parameters that are arrays in REST and JSON text in GraphQL.
var jsonTexts = map[string]bool{"details_parts": true}

// named returns the ID or the name of an object if that is what the parameter needs. Clients send
// back complete objects that they received earlier.
func named(value any, wanted string) any {
	if object, ok := value.(map[string]any); ok {
		switch wanted {
		case "ID":
			return object["id"]
		case "String":
			return object["name"]
		}
	}
	return value
}

// convertObject converts the keys that the input type has and ignores others, because clients send
// more.
func (s *server) convertObject(name string, value any, definition *ast.Definition) (any, error) {
	object, ok := value.(map[string]any)
	if !ok {
		return nil, badInput(name, "%s: must be an object", name)
	}
	converted := make(map[string]any, len(definition.Fields))
	for _, field := range definition.Fields {
		v := object[field.Name]
		if v == nil {
			if field.Type.NonNull && field.DefaultValue == nil {
				return nil, badInput(name, "%s: %s is missing", name, field.Name)
			}
			continue
		}
		var err error
		if converted[field.Name], err = s.convert(name+"."+field.Name, v, field.Type); err != nil {
			return nil, err
		}
	}
	return converted, nil
}

// enumAliases convert REST words that differ from the GraphQL enum value in more than case.
var enumAliases = map[string]func(text string) (string, bool){
	"License":    wire.LicenseEnum,
	"SearchSort": func(text string) (string, bool) { return "POPULAR", strings.EqualFold(text, sortThings) },
	"TargetType": func(text string) (string, bool) { return "MAKE", strings.EqualFold(text, copyTarget) },
}

// copyTarget is the other REST word for a make as a target.
const copyTarget = "copy"

// sortThings is the REST word for collections by number of things, which is how popular they are.
const sortThings = "things"

// enumFallbacks are the values used for unknown words, because the published interface accepts
// them: some clients send a misspelled sort, or type=thing.
var enumFallbacks = map[string]string{"SearchSort": "RELEVANT", "SearchType": "THINGS"}

func convertEnum(name string, value any, definition *ast.Definition) (string, error) {
	text, _ := value.(string)
	if alias := enumAliases[definition.Name]; alias != nil {
		if enum, ok := alias(text); ok {
			return enum, nil
		}
	}
	for _, name := range enumNames(definition) {
		if strings.EqualFold(name, text) {
			return name, nil
		}
	}
	if fallback, ok := enumFallbacks[definition.Name]; ok {
		return fallback, nil
	}
	return "", badInput(name, "%s: must be one of %s", name, strings.Join(words(definition), ", "))
}

// searchSorts are the sort orders of a search in the published interface, and those that clients
// send although it does not mention them: likes and downloads. The schema has more.
var searchSorts = []string{"RELEVANT", "TEXT", "POPULAR", "MAKES", "NEWEST", "DESIGNS", "FOLLOWERS", "LIKES",
	"DOWNLOADS"}

// enumNames returns the names of the enum values that REST clients can send.
func enumNames(definition *ast.Definition) (names []string) {
	for _, v := range definition.EnumValues {
		switch {
		case definition.Name == "SearchSort" && !slices.Contains(searchSorts, v.Name):
		case definition.Name == "TargetType" && v.Name == "COLLECTION": // has no files and no comments
		default:
			names = append(names, v.Name)
		}
	}
	return names
}

// isID reports whether text is an ID in its canonical decimal form.
func isID(text string) bool {
	n, err := strconv.ParseInt(text, 10, 64)
	return err == nil && strconv.FormatInt(n, 10) == text
}

func badInput(field, format string, args ...any) error {
	return apierror.Invalid(field, format, args...)
}

func tooLarge(field string, limit int64) error {
	return apierror.Invalid(field, "%s: must be at most %d bytes", field, limit)
}
