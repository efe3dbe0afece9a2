package graphqlhttp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/graphql/breadthfirst"
)

// badValue returns the error for a value at path, from an argument, that does not fit its type.
// message is that of [inputMessage].
func badValue(path ast.Path, err error, message string) *apierror.Error {
	code := apierror.FieldInvalid
	var known *apierror.Error
	switch {
	case errors.As(err, &known):
		code = cmp.Or(known.FieldCode, code)
	case message == isRequired || message == mustNotBeNull:
		code = apierror.FieldRequired
	case strings.HasPrefix(message, mustBeInt+" (got "):
		code = apierror.FieldOutOfRange
	}
	field := inputName(path)
	bad := apierror.Invalid(field, "%s: %s", field, message)
	bad.Fields = []apierror.FieldError{{Path: pathKeys(path), Code: code, Message: bad.Message}}
	return bad
}

// Messages about a variable that is missing, and the beginning of those about an Int. Only those
// about an integer that is too large continue with what was sent.
const (
	isRequired    = "is required"
	mustNotBeNull = "must not be null"
	mustBeInt     = "must be an integer of at most 32 bits"
)

// inputMessages replaces messages of gqlparser and gqlgen about values of the wrong type. The
// original messages name types of Go, or values that the client did not send.
var inputMessages = []struct {
	match   *regexp.Regexp
	replace string
}{
	// gqlparser writes the limits of an int64 for integers beyond them, and 0 for other numbers.
	{regexp.MustCompile(`^cannot use value -?922337203685477580[78] as Int$`), mustBeInt +
		" (got one of more than 64 bits)"},
	{regexp.MustCompile(`^cannot use (?:value )?\S+ as Int$`), mustBeInt},
	{regexp.MustCompile(`^(-?\d+) overflows signed 32-bit integer$`), mustBeInt + " (got $1)"},
	{regexp.MustCompile(`^cannot use (?:value )?\S+ as ID$`), "must be an ID"},
	{regexp.MustCompile(`^cannot use (?:value )?\S+ as (\w+)$`), "must be a $1"},
	{regexp.MustCompile(`^strconv\.ParseFloat: parsing (".{0,40}).*$`), "must be a Float (got $1)"},
	{regexp.MustCompile(`^must be defined$`), isRequired},
	{regexp.MustCompile(`^cannot be null$`), mustNotBeNull},
	{regexp.MustCompile(`^enums must be ints or strings$`), "must be the name of an enum value"},
	{regexp.MustCompile(`^must be a (\w+), not a \w+$`), "must be an input object of the type $1"},
	{regexp.MustCompile(`^.+ is not an Upload$`), "must be a file of a multipart request"},
}

// unknownEnumValue matches the message about the name of an enum value that does not exist, of
// gqlparser and, for a name in the wrong case, of the generated code.
var unknownEnumValue = regexp.MustCompile(`(?s)^(.{0,40}).* is not a valid (\w+)$`)

// inputMessage returns a message about a value of the wrong type in terms of GraphQL.
func inputMessage(schema *ast.Schema, message string) string {
	if found := unknownEnumValue.FindStringSubmatch(message); found != nil && schema.Types[found[2]] != nil {
		var names []string
		for _, value := range schema.Types[found[2]].EnumValues {
			names = append(names, value.Name)
		}
		return fmt.Sprintf("must be one of %s (got %q)", strings.Join(names, ", "), found[1])
	}
	for _, m := range inputMessages {
		if m.match.MatchString(message) {
			return m.match.ReplaceAllString(message, m.replace)
		}
	}
	return message
}

// argumentOf returns the path of an input, given its path from the variable that contains it. The
// result begins with the argument that the variable is first used in, or with the variable if it is
// not used in an argument.
func argumentOf(ctx context.Context, path ast.Path) ast.Path {
	name, ok := path[0].(ast.PathName)
	if !ok || !graphql.HasOperationContext(ctx) {
		return path
	}
	op := graphql.GetOperationContext(ctx).Operation
	if op == nil {
		return path
	}
	for selection := range selections(op.SelectionSet) {
		field, ok := selection.(*ast.Field)
		if !ok {
			continue
		}
		if argument := breadthfirst.FindVariable(field.Arguments,
			func(v *ast.Value) bool { return v.Raw == string(name) }); argument != nil {
			return append(argument, path[1:]...)
		}
	}
	return path
}
