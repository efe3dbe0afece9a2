package rest

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/auth"
)

//go:embed operations/*.graphql
var operationFiles embed.FS

// operation is a stored document that a route runs.
type operation struct {
	*ast.OperationDefinition

	description string // the comment above the document, shown to REST clients

	field     *ast.Field // the field with the alias answer
	scope     auth.Scope // the scope that the token needs, from the @auth of the field
	variables map[string]*ast.VariableDefinition
}

// Documents returns the text of all stored documents. They share fragments.
func Documents() string {
	files, err := fs.Glob(operationFiles, "operations/*.graphql")
	var all strings.Builder
	for _, name := range files {
		var text []byte
		if text, err = operationFiles.ReadFile(name); err != nil {
			break
		}
		all.Write(text)
	}
	if err != nil {
		panic(err) // the files are embedded in the binary
	}
	return all.String()
}

// loadDocument parses the stored documents and validates them against the schema.
func loadDocument(schema *ast.Schema) (*ast.QueryDocument, error) {
	document, errs := gqlparser.LoadQueryWithRules(schema, Documents(), rules.NewDefaultRules())
	if len(errs) > 0 {
		return nil, fmt.Errorf("rest: stored documents: %w", errs)
	}
	return document, nil
}

// loaded are the results of loadOperations by schema. They are computed once in a process, because
// validating the documents takes a large part of the time in which a server starts.
var loaded sync.Map // of *ast.Schema to func() (stored, error)

// stored are the stored documents, and their operations by name.
type stored struct {
	document   *ast.QueryDocument
	operations map[string]*operation
}

// loadOperations returns the stored documents, and their operations by name. Callers share them and
// must not change them.
func loadOperations(schema *ast.Schema) (*ast.QueryDocument, map[string]*operation, error) {
	load, _ := loaded.LoadOrStore(schema, sync.OnceValues(func() (stored, error) {
		document, err := loadDocument(schema)
		if err != nil {
			return stored{}, err
		}
		operations, err := matchOperations(document)
		return stored{document, operations}, err
	}))
	s, err := load.(func() (stored, error))()
	return s.document, s.operations, err
}

var pathParameter = regexp.MustCompile(`\{(\w+)\}`)

// matchOperations returns the operations by name. It returns an error unless every route has an
// operation, every operation has a route and a description, and every path parameter has a
// variable. Every operation must also have exactly one field with @auth, which gives the scope that
// it needs.
func matchOperations(document *ast.QueryDocument) (map[string]*operation, error) {
	found := make(map[string]*operation)
	var errs []error
	for _, r := range routes {
		definition := document.Operations.ForName(r.operation)
		if definition == nil {
			errs = append(errs, fmt.Errorf("rest: route %s %s: no operation %s", r.method, r.path, r.operation))
			continue
		}
		op := &operation{OperationDefinition: definition, description: commentAbove(definition),
			variables: make(map[string]*ast.VariableDefinition)}
		if op.description == "" {
			errs = append(errs, fmt.Errorf("rest: operation %s: no comment above it that describes it", r.operation))
		}
		for _, v := range definition.VariableDefinitions {
			op.variables[v.Variable] = v
		}
		for _, match := range pathParameter.FindAllStringSubmatch(r.path, -1) {
			if op.variables[match[1]] == nil {
				errs = append(errs, fmt.Errorf("rest: operation %s: no variable $%s for %s", r.operation, match[1], r.path))
			}
		}
		field, scope, err := scopeOf(definition)
		if err == nil {
			err = r.checkDeprecation(field)
		}
		errs = append(errs, err)
		op.field, op.scope = field, scope
		found[r.operation] = op
	}
	for _, definition := range document.Operations {
		if found[definition.Name] == nil {
			errs = append(errs, fmt.Errorf("rest: operation %s: no route", definition.Name))
		}
	}
	return found, errors.Join(errs...)
}

// commentAbove returns the comment on the lines directly above an operation, up to the first blank
// line.
func commentAbove(definition *ast.OperationDefinition) string {
	if definition.Comment == nil {
		return ""
	}
	lines := definition.Comment.List
	var text []string
	for i, at := len(lines)-1, definition.Position.Line-1; i >= 0 && lines[i].Position.Line == at; i, at = i-1, at-1 {
		text = append(text, strings.TrimSpace(strings.TrimPrefix(lines[i].Value, "#")))
	}
	slices.Reverse(text)
	return strings.Join(text, " ")
}

// scopeOf returns the field of an operation with the alias answer, and the scope that it needs. The
// operation may have a second field with the alias list: an object that must exist.
func scopeOf(definition *ast.OperationDefinition) (*ast.Field, auth.Scope, error) {
	var root *ast.Field
	others := 0
	for _, selection := range definition.SelectionSet {
		field, ok := selection.(*ast.Field)
		switch {
		case ok && field.Alias == "answer":
			root = field
		case !ok || field.Alias != "list":
			others++
		}
	}
	if root != nil && others == 0 {
		if d := root.Definition.Directives.ForName("auth"); d != nil {
			value, _ := d.ArgumentMap(nil)["scope"].(string)
			return root, auth.Scope(strings.ToLower(value)), nil
		}
	}
	return nil, "", fmt.Errorf(
		"rest: operation %s: want one field, with @auth, under the alias answer, and no other but list", definition.Name)
}

// checkDeprecation returns an error if only one of a route and the GraphQL field that it runs is
// deprecated.
func (r route) checkDeprecation(field *ast.Field) error {
	reason := deprecationReason(field.Definition)
	if (reason != "") != (r.deprecated != nil && r.deprecated.reason == "") {
		return fmt.Errorf("rest: operation %s: the route and the field %s do not agree on whether it is deprecated",
			r.operation, field.Name)
	}
	return nil
}

// deprecationReason returns why a field is deprecated, or "" if it is not.
func deprecationReason(field *ast.FieldDefinition) string {
	if d := field.Directives.ForName("deprecated"); d != nil {
		reason, _ := d.ArgumentMap(nil)["reason"].(string)
		return reason
	}
	return ""
}

// reason returns why an operation is deprecated.
func (op *operation) reason(d *deprecation) string {
	if d.reason != "" {
		return d.reason
	}
	return deprecationReason(op.field.Definition)
}

// mutates reports whether the operation changes data.
func (op *operation) mutates() bool { return op.Operation == ast.Mutation }

// nameFields replaces the names of GraphQL input fields in an error by the names of the REST
// parameters that set the fields.
func (op *operation) nameFields(e *gqlerror.Error) {
	field, _ := e.Extensions["field"].(string)
	if field == "" {
		return
	}
	faults, _ := e.Extensions["fields"].([]apierror.FieldError)
	all := len(faults) > 1 && strings.HasPrefix(e.Message, faults[0].Message)
	named := slices.Clone(faults)
	messages := make([]string, len(faults))
	for i, fault := range faults {
		name := field
		for _, key := range fault.Path { // the last key that is not an index
			if key, ok := key.(string); ok {
				name = key
			}
		}
		named[i].Message = op.nameField(name, fault.Message)
		messages[i] = named[i].Message
	}
	if len(named) > 0 {
		e.Extensions["fields"] = named
	}
	if all {
		e.Message = strings.Join(messages, "; ")
	} else {
		e.Message = op.nameField(field, e.Message)
	}
}

// nameField returns the message with the REST parameter in place of the field at its start.
func (op *operation) nameField(field, message string) string {
	rest, ok := strings.CutPrefix(message, field+":")
	if !ok {
		return message
	}
	if parameter := parameterIn(op.SelectionSet, field); parameter != "" {
		return parameter + ":" + rest
	}
	return message
}

// parameterIn returns the variable that sets the field of an input in a selection, or "" if there
// is none.
func parameterIn(set ast.SelectionSet, field string) string {
	for _, selection := range set {
		selected, ok := selection.(*ast.Field)
		if !ok {
			continue // the fragments have no variables
		}
		for _, argument := range selected.Arguments {
			if parameter := parameterOf(argument.Name, argument.Value, field); parameter != "" {
				return parameter
			}
		}
		if parameter := parameterIn(selected.SelectionSet, field); parameter != "" {
			return parameter
		}
	}
	return ""
}

// parameterOf returns the variable that sets the field of an input, or "" if there is none.
func parameterOf(name string, value *ast.Value, field string) string {
	if value.Kind == ast.Variable && name == field {
		return value.Raw
	}
	// A target, which REST writes as a type and an ID.
	if name == field && value.Kind == ast.ObjectValue {
		for _, part := range []string{"type", "id"} {
			if v := value.Children.ForName(part); v != nil && v.Kind == ast.Variable {
				return v.Raw
			}
		}
	}
	for _, child := range value.Children {
		if parameter := parameterOf(child.Name, child.Value, field); parameter != "" {
			return parameter
		}
	}
	return ""
}
