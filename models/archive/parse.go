package archive

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/meshyard/meshyard/models"
)

// archiveRows is a batch of rows of a table. The values of a row are in the order of the columns.
type archiveRows struct {
	table   *archiveTable
	columns []archiveColumn
	first   int64 // the number of the first row, from 1
	rows    [][]any
}

// column returns the index of a column, or -1 if there is none.
func (b *archiveRows) column(name string) int {
	return slices.IndexFunc(b.columns, func(c archiveColumn) bool { return c.name == name })
}

// parse parses a row, which must have exactly the columns of the batch, except optional ones.
func (b *archiveRows) parse(line []byte) ([]any, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(line, &fields); err != nil {
		return nil, err
	}
	values := make([]any, len(b.columns))
	for i, c := range b.columns {
		value, there := fields[c.name]
		switch {
		case !there && c.optional:
			continue
		case !there:
			return nil, fmt.Errorf("%s: is missing", c.name)
		}
		delete(fields, c.name)
		var err error
		if values[i], err = c.parse(value); err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
	}
	for name := range fields {
		return nil, fmt.Errorf("%s: is not a field of %s", name, b.table.name)
	}
	return values, nil
}

// parse parses and validates a value of the column.
func (c archiveColumn) parse(value json.RawMessage) (any, error) {
	if bytes.Equal(value, []byte("null")) {
		if !c.null {
			return nil, errors.New("must not be null")
		}
		return nil, nil
	}
	switch c.kind {
	case kindText, kindLicense:
		var text string
		if err := json.Unmarshal(value, &text); err != nil {
			return nil, err
		}
		if strings.ContainsRune(text, 0) {
			return nil, errors.New("must not contain the character NUL")
		}
		if c.kind == kindLicense && !slices.Contains(models.Licenses, models.License(text)) {
			return nil, fmt.Errorf("%q is not one of %q", text, models.Licenses)
		}
		return text, nil
	case kindJSON:
		return string(value), nil
	case kindBool:
		var yes bool
		err := json.Unmarshal(value, &yes)
		return yes, err
	case kindTime:
		var at time.Time
		err := json.Unmarshal(value, &at)
		return at.UTC().Truncate(time.Microsecond), err
	}
	var n int64
	err := json.Unmarshal(value, &n)
	if err == nil && (c.kind == kindID && n <= 0 || c.noun("") != "" && !c.zero && n <= 0) {
		err = fmt.Errorf("must be a positive number (got %d)", n)
	}
	return n, err
}
