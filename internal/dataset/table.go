package dataset

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// readTable calls row with the wanted columns of each row of a table, in the wanted order. The
// slice is reused. Errors name the file, the line and, if known, the column.
func readTable(dir, name string, columns []string, row func([]string) error) error {
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.ReuseRecord = true
	header, err := r.Read()
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: line 1: must be a header", name)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	header[0] = strings.TrimPrefix(header[0], "\uFEFF")
	places := make([]int, len(columns))
	for i, column := range columns {
		if places[i] = slices.Index(header, column); places[i] < 0 {
			return fmt.Errorf("%s: line 1: must have a column %s", name, column)
		}
	}
	wanted := make([]string, len(columns))
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err) // a csv.ParseError names line and column
		}
		for i, place := range places {
			wanted[i] = record[place]
		}
		if err := row(wanted); err != nil {
			line, _ := r.FieldPos(0)
			return fmt.Errorf("%s: line %d: %w", name, line, err)
		}
	}
}

// number parses a count or an ID, which is at least 0.
func number(column, text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("column %s: must be a whole number from 0 to 9223372036854775807 (got %q)", column, text)
	}
	return n, nil
}

// numberOrNone is number for a cell that may be empty, which means 0.
func numberOrNone(column, text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	return number(column, text)
}
