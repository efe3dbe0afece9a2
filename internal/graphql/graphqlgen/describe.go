package main

import (
	"errors"
	"fmt"
	"go/types"
	"strings"

	"github.com/99designs/gqlgen/codegen"
	"github.com/99designs/gqlgen/codegen/config"
	"github.com/99designs/gqlgen/codegen/templates"
	"github.com/vektah/gqlparser/v2/ast"
)

// object is an object type in the template.
type object struct {
	*codegen.Object
	Rows []row
}

// row is a field in the template.
type row struct {
	*codegen.Field
}

// describe returns rows for all fields.
func describe(data *codegen.Data) ([]object, error) {
	var all []object
	var faults []error
	for _, o := range data.Objects {
		described := object{Object: o}
		for _, f := range o.Fields {
			r := row{f}
			err := r.check()
			if described.Table() {
				_, unknown := r.reads()
				err = errors.Join(err, unknown)
			}
			if err != nil {
				faults = append(faults, fmt.Errorf("%s.%s: %w", o.Name, f.Name, err))
			}
			described.Rows = append(described.Rows, r)
		}
		all = append(all, described)
	}
	return all, errors.Join(faults...)
}

// Table reports whether the object is a row of a table: a struct that embeds bun.BaseModel.
func (o object) Table() bool {
	if o.Root {
		return false
	}
	p, ok := o.Reference().(*types.Pointer)
	if !ok {
		return false
	}
	of, ok := p.Elem().Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for i := range of.NumFields() {
		if f := of.Field(i); f.Embedded() && f.Name() == "BaseModel" {
			return true
		}
	}
	return false
}

// reads returns the fields of the row that the field reads: the Go field to which it is bound, or
// those in the directive @reads. It returns an error for a resolver or a method without the
// directive.
func (r row) reads() ([]string, error) {
	directive := r.FieldDefinition.Directives.ForName("reads")
	switch {
	case directive == nil && (r.IsResolver || r.IsMethod()):
		return nil, errors.New(
			"is a resolver or a method of a row: state the Go fields that it reads with @reads(fields: […])")
	case directive == nil:
		return []string{r.GoFieldName}, nil
	case !r.IsResolver && !r.IsMethod():
		return nil, errors.New("is bound to a field of a row, so it must not have the directive @reads")
	}
	var fields []string
	for _, child := range directive.Arguments.ForName("fields").Value.Children {
		fields = append(fields, child.Value.Raw)
	}
	return fields, nil
}

// Reads returns the Go expression of the set of the fields that the field reads, or "" if the
// object is no row, or if the field reads nothing.
func (r row) Reads() string {
	if !(object{Object: r.Object}).Table() {
		return ""
	}
	fields, _ := r.reads() // checked by describe
	if len(fields) == 0 {
		return ""
	}
	return fmt.Sprintf("fieldset.Of[%s](%s).Bits()", templates.CurrentImports.LookupType(r.Object.Reference().(*types.Pointer).Elem()), `"`+strings.Join(fields, `", "`)+`"`)
}

// Contains reports whether the value contains the row whose field it is.
func (r row) Contains() bool {
	directive := r.FieldDefinition.Directives.ForName("reads")
	contains := directive != nil && directive.Arguments.ForName("contains") != nil
	return contains && directive.Arguments.ForName("contains").Value.Raw == "true"
}

// check returns an error for a field that the table does not support. The schema contains no such
// field; to add one, extend the table.
func (r row) check() error {
	t := r.TypeReference
	switch {
	case r.IsMap(), r.HasHaser, r.HasFederationRequiresArg(), t.IsRoot:
		return fmt.Errorf("is bound in a way that the table does not support")
	case r.composite() && (t.IsPtrToSlice() || t.IsPtrToPtr() || t.IsPtrToIntf()):
		return fmt.Errorf("has the Go type %s: want a slice, a pointer to a struct, a struct or an interface", t.GO)
	case r.composite() && t.IsSlice() && t.Elem().IsSlice():
		return fmt.Errorf("is a list of lists of objects")
	case r.ByReference() && (r.Fallible() || r.IsMethod()):
		return fmt.Errorf("returns the struct %s: want a pointer to it", t.GO)
	}
	return nil
}

// composite reports whether the field has a selection of fields.
func (r row) composite() bool {
	switch r.TypeReference.Definition.Kind {
	case ast.Object, ast.Interface, ast.Union:
		return true
	}
	return false
}

// Fallible reports whether reading the field requires arguments or a context, or can return an
// error.
func (r row) Fallible() bool {
	return r.IsResolver || r.IsMethod() && (r.MethodHasContext || !r.NoErr || len(r.Args) > 0 || r.GoReceiverName == "ec")
}

// Batched reports whether the field has a batch resolver, which receives all objects in one call.
func (r row) Batched() bool { return r.IsBatch() && !r.Object.Root }

// Read returns the Go expression of a field that is not fallible.
func (r row) Read() string {
	if r.IsMethod() {
		return r.GoReceiverName + "." + r.GoFieldName + "()"
	}
	return r.GoReceiverName + "." + r.GoFieldName
}

// Call returns the Go expression for the value and the error of a fallible field of one object.
func (r row) Call() string {
	call := r.GoReceiverName + "." + r.GoFieldName + "(" + r.CallArgs() + ")"
	switch {
	case r.IsResolver:
		return "breadthfirst.Value(ec.Resolvers." + r.ShortInvocation() + ")"
	case r.NoErr:
		return call + ", nil"
	}
	return "breadthfirst.Value(" + call + ")"
}

// Waits reports whether the field may wait for the database.
func (r row) Waits() bool {
	return r.Batched() || r.MethodHasContext || r.IsResolver && (r.composite() || r.Object.Root)
}

// Append returns the Go expression that appends v, a scalar of the field's type without its
// pointer, to b. It returns "" if there is no such expression; then the generated marshaler is
// used.
func (r row) Append() string { return appendOf(r.TypeReference) }

// appenders maps the marshalers of gqlgen to equivalent append expressions. A marshaler MarshalX of
// this project has an AppendX next to it.
var appenders = map[string]string{
	"MarshalString":  "breadthfirst.AppendString(b, %s)",
	"MarshalBoolean": "strconv.AppendBool(b, %s)",
	"MarshalInt":     "strconv.AppendInt(b, int64(%s), 10)",
	"MarshalInt32":   "strconv.AppendInt(b, int64(%s), 10)",
	"MarshalInt64":   "strconv.AppendInt(b, %s, 10)",
}

func appendOf(t *config.TypeReference) string {
	if t.IsSlice() || t.IsPtrToSlice() || t.IsPtrToPtr() || t.IsContext {
		return ""
	}
	switch {
	case t.Definition.Kind == ast.Enum && t.IsMarshaler:
		return "breadthfirst.AppendString(b, v.String())"
	case !t.Definition.IsLeafType() || t.Marshaler == nil:
		return ""
	}
	v := "v"
	if t.CastType != nil {
		v = templates.CurrentImports.LookupType(t.CastType) + "(v)"
	}
	p := t.Marshaler.Pkg()
	if p.Path() == "github.com/99designs/gqlgen/graphql" {
		if known := appenders[t.Marshaler.Name()]; known != "" {
			return fmt.Sprintf(known, v)
		}
		return ""
	}
	name := strings.Replace(t.Marshaler.Name(), "Marshal", "Append", 1)
	if f, ok := p.Scope().Lookup(name).(*types.Func); ok {
		return templates.Call(f) + "(b, " + v + ")"
	}
	return ""
}

// Direct reports whether the writer can read the scalar from the object.
func (r row) Direct() bool { return !r.Fallible() && !r.HasDirectives() && r.Append() != "" }

// Pointer reports whether values are pointers.
func (r row) Pointer() bool { return r.TypeReference.IsPtr() }

// Type returns the Go type of values, without their pointer.
func (r row) Type() types.Type {
	if p, ok := r.TypeReference.GO.(*types.Pointer); ok {
		return p.Elem()
	}
	return r.TypeReference.GO
}

// ByReference reports whether values are structs, which are passed by their address.
func (r row) ByReference() bool {
	return r.composite() && r.TypeReference.IsStruct()
}

// Nil returns the Go expression of a function that reports which values are null, or "" if none is.
func (r row) Nil() string {
	t := r.TypeReference
	switch {
	case t.IsPtr():
		return "breadthfirst.NilPointer[" + templates.CurrentImports.LookupType(t.GO.(*types.Pointer).Elem()) + "]"
	case t.IsSlice() && !t.GQL.NonNull:
		return "breadthfirst.NilSlice[" + templates.CurrentImports.LookupType(t.GO.(*types.Slice).Elem()) + "]"
	}
	return ""
}

// Each returns the Go expression of a function that iterates over a list of objects, or "" if the
// field is not such a list.
func (r row) Each() string {
	if !r.composite() || !r.TypeReference.IsSlice() {
		return ""
	}
	element := r.TypeReference.GO.(*types.Slice).Elem()
	name := "EachStruct"
	if p, ok := element.(*types.Pointer); ok {
		name, element = "EachPointer", p.Elem()
	} else if config.IsNilable(element) {
		name = "EachInterface"
	}
	return "breadthfirst." + name + "[" + templates.CurrentImports.LookupType(element) + "]"
}

// Leaf reports whether the values of the field are scalars, or lists of them.
func (r row) Leaf() bool { return !r.composite() }
