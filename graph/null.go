package graph

import (
	"context"
	"reflect"

	"github.com/99designs/gqlgen/graphql"

	"github.com/meshyard/meshyard/internal/apierror"
)

// null implements @null. For a field that null clears, it replaces null by the zero value; for any
// other field, null is BadInput. It is called only for fields that the client sent, so a remaining
// nil means that the field was omitted.
func null(ctx context.Context, _ any, next graphql.Resolver, clears bool) (any, error) {
	value, err := next(ctx)
	v := reflect.ValueOf(value)
	if err != nil || v.IsValid() && !v.IsNil() {
		return value, err
	}
	switch {
	case !clears || !v.IsValid():
		return nil, &apierror.Error{Code: apierror.BadInput, Message: "must not be null", FieldCode: apierror.FieldRequired}
	case v.Kind() == reflect.Slice:
		return reflect.MakeSlice(v.Type(), 0, 0).Interface(), nil
	}
	return reflect.New(v.Type().Elem()).Interface(), nil
}
