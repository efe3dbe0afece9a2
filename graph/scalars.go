package graph

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"github.com/meshyard/meshyard/models"
)

// MarshalID writes an id as GraphQL shows it: a decimal string.
func MarshalID(id int64) graphql.Marshaler {
	return graphql.WriterFunc(func(w io.Writer) { _, _ = io.WriteString(w, strconv.Quote(strconv.FormatInt(id, 10))) })
}

// UnmarshalID reads an id. What is no decimal number of 64 bits is bad input.
func UnmarshalID(v any) (int64, error) {
	digits := fmt.Sprint(v)
	id, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || strconv.FormatInt(id, 10) != digits {
		return 0, &models.Error{Code: models.BadInput, Message: fmt.Sprintf("an id is a decimal number, not %.40q", digits)}
	}
	return id, nil
}

// MarshalDateTime writes a moment as in RFC 3339, in UTC.
func MarshalDateTime(t time.Time) graphql.Marshaler {
	return graphql.WriterFunc(func(w io.Writer) { _, _ = io.WriteString(w, strconv.Quote(t.UTC().Format(time.RFC3339Nano))) })
}

// UnmarshalDateTime reads a moment as in RFC 3339.
func UnmarshalDateTime(v any) (time.Time, error) {
	s, _ := v.(string)
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return t, &models.Error{Code: models.BadInput, Message: fmt.Sprintf("a DateTime is written as in RFC 3339, not %.40q", s)}
	}
	return t, nil
}

// FileTarget is a *models.Thing, a *models.Make or a *models.Comment.
type FileTarget any

// CommentTarget is a *models.Thing or a *models.Make.
type CommentTarget any

// LikeTarget is a *models.Thing or a *models.Make.
type LikeTarget any

// SearchHit is a *models.Thing, a *models.Make, a *models.User or a *models.Collection.
type SearchHit any
