// Package model contains the types of the GraphQL schema that have no counterpart in package
// models: connections, scalars, unions, and the inputs and payloads that gqlgen generates
// (models_gen.go).
//
// It contains no rules and no queries. All other types of the schema are bound to types of package
// models in gqlgen.yml.
package model

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/models"
)

// MarshalID writes an ID as a decimal string.
func MarshalID(id int64) graphql.Marshaler {
	return graphql.WriterFunc(func(w io.Writer) { _, _ = w.Write(AppendID(nil, id)) })
}

// AppendID appends the encoding of MarshalID to b.
func AppendID(b []byte, id int64) []byte {
	return append(strconv.AppendInt(append(b, '"'), id, 10), '"')
}

// UnmarshalID reads a decimal ID of at most 64 bits. It returns BadInput for other values.
func UnmarshalID(v any) (int64, error) {
	digits := fmt.Sprint(v)
	id, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || strconv.FormatInt(id, 10) != digits {
		return 0, &models.Error{Code: models.BadInput, Message: fmt.Sprintf("must be a decimal id (got %.40q)", digits)}
	}
	return id, nil
}

// MarshalDateTime writes a time in UTC in RFC 3339 format.
func MarshalDateTime(t time.Time) graphql.Marshaler {
	return graphql.WriterFunc(func(w io.Writer) { _, _ = w.Write(AppendDateTime(nil, t)) })
}

// AppendDateTime appends the encoding of MarshalDateTime to b.
func AppendDateTime(b []byte, t time.Time) []byte {
	return append(t.UTC().AppendFormat(append(b, '"'), time.RFC3339Nano), '"')
}

// UnmarshalDateTime reads a time in RFC 3339 format. It returns BadInput for other values.
func UnmarshalDateTime(v any) (time.Time, error) {
	s, ok := v.(string)
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		got := fmt.Sprintf("%.40q", s)
		if !ok {
			got = fmt.Sprintf("%.40s", fmt.Sprint(v))
		}
		return t, &models.Error{Code: models.BadInput,
			Message: "must be a time as in RFC 3339, such as 2026-01-31T12:00:00Z (got " + got + ")"}
	}
	return t, nil
}

// MarshalInt64 writes an integer.
func MarshalInt64(n int64) graphql.Marshaler { return graphql.MarshalInt64(n) }

// AppendInt64 appends the encoding of MarshalInt64 to b.
func AppendInt64(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) }

// UnmarshalInt64 reads an integer of at most 64 bits, which may be a string of digits. It returns
// BadInput for other values.
func UnmarshalInt64(v any) (int64, error) {
	n, err := graphql.UnmarshalInt64(v)
	if err != nil {
		bad := &models.Error{Code: models.BadInput, Message: fmt.Sprintf("must be an integer of at most 64 bits (got %.40s)",
			fmt.Sprint(v))}
		if errors.Is(err, strconv.ErrRange) {
			bad.FieldCode = apierror.FieldOutOfRange
		}
		return 0, bad
	}
	return n, nil
}
