package graph

import (
	"cmp"

	"github.com/meshyard/meshyard/graph/model"
	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/models"
)

// bulkError returns the error about one of several things, or nil.
func bulkError(err *models.Error) *model.ThingUpdateError {
	if err == nil {
		return nil
	}
	e := &model.ThingUpdateError{Code: string(err.Code), Message: err.Message, Field: nonZero(err.Field),
		FieldCodes: []string{}}
	for _, fault := range err.Fields {
		e.FieldCodes = append(e.FieldCodes, string(fault.Code))
	}
	if len(err.Fields) == 0 && err.Field != "" {
		e.FieldCodes = append(e.FieldCodes, string(cmp.Or(err.FieldCode, apierror.FieldInvalid)))
	}
	return e
}

// nonZero returns a pointer to a value, or nil if it is the zero value.
func nonZero[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}
