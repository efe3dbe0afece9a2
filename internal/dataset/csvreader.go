package dataset

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// csvReader reads CSV row by row. encoding/csv would buffer a row of unlimited length, and
// everything after a stray quote.
type csvReader struct {
	in     *bufio.Reader
	line   int // of the next byte
	header []string
	record []byte // the concatenated fields of a row
	ends   []int  // the end of each field in record, for at most maxFields fields
	fields int
}

// maxFields is the maximum number of fields that are stored. A hostile row may be a million commas.
const maxFields = 1_000

// endField ends a field.
func (r *csvReader) endField() {
	if r.fields++; r.fields <= maxFields {
		r.ends = append(r.ends, len(r.record))
	}
}

// readHeader reads the header line. An empty file returns io.EOF.
func (r *csvReader) readHeader() error {
	line, wrong, err := r.read()
	switch {
	case errors.Is(err, io.EOF):
		return err
	case err == nil && wrong != "":
		err = errors.New(wrong)
	}
	if err != nil {
		return fmt.Errorf("header (line %d): %w", line, err)
	}
	var unknown, twice, missing []string
	for i := range r.ends {
		column := strings.TrimSpace(r.field(i))
		if !slices.Contains(columns, column) {
			unknown = append(unknown, shown(column))
		} else if slices.Contains(r.header, column) {
			twice = append(twice, column)
		}
		r.header = append(r.header, column)
	}
	for _, column := range required {
		if !slices.Contains(r.header, column) {
			missing = append(missing, column)
		}
	}
	var reasons []string
	for _, found := range []struct {
		what    string
		columns []string
	}{{"missing columns", missing}, {"unknown columns", unknown}, {"duplicate columns", twice}} {
		if len(found.columns) > 0 {
			few := found.columns[:min(len(found.columns), 20)] // a file of another kind may have thousands
			reasons = append(reasons, found.what+": "+strings.Join(few, ", "))
		}
	}
	if len(reasons) > 0 {
		return fmt.Errorf("header (line %d): %s; allowed columns are %s", line, strings.Join(reasons, "; "),
			strings.Join(columns, ", "))
	}
	return nil
}

// next returns the next row, or io.EOF.
func (r *csvReader) next() (cells, error) {
	line, wrong, err := r.read()
	c := cells{line: line}
	switch {
	case err != nil:
		return c, err
	case wrong != "":
		c.fail("%s", wrong)
	case r.fields != len(r.header):
		c.fail("has %d columns, but the header has %d", r.fields, len(r.header))
	default:
		c.texts = make(map[string]string, len(r.header))
		for i, column := range r.header {
			c.texts[column] = strings.TrimSpace(r.field(i))
		}
		c.tags = strings.FieldsFunc(c.texts["tags"], func(r rune) bool { return r == ',' || r == '|' })
	}
	return c, nil
}

func (r *csvReader) field(i int) string {
	start := 0
	if i > 0 {
		start = r.ends[i-1]
	}
	return string(r.record[start:r.ends[i]])
}

// place is the state of the parser within a field.
type place int

const (
	atStart place = iota
	bare          // in an unquoted field
	quoted        // in a quoted field
	// after a quote in a quoted field, which ends the field or is the first half of an escaped
	// quote
	atQuote
	skipping // after an error; the rest of the line is skipped
)

// read reads the next row that is not empty. It returns the line on which the row starts, and
// either what is wrong with the row, or a read error or io.EOF.
func (r *csvReader) read() (line int, wrong string, err error) {
	r.record, r.ends, r.fields = r.record[:0], r.ends[:0], 0
	line = r.line
	taken := 0 // bytes of the row; those beyond the limit are not stored
	at := atStart
	column := func() int { return r.fields + 1 }
	for {
		b, err := r.readByte()
		if err != nil && !errors.Is(err, io.EOF) {
			return line, "", err
		}
		end := err != nil || b == '\n' && at != quoted
		if end {
			if err != nil && taken == 0 {
				return line, "", io.EOF
			}
			if err == nil && taken == 0 {
				line = r.line // skip the empty line
				continue
			}
			switch {
			case wrong != "":
			case err != nil && at == quoted:
				wrong = fmt.Sprintf("column %d: the quote is not closed by line %d, where the file ends", column(), r.line)
			case taken > maxRow:
				wrong = fmt.Sprintf("must be at most %d bytes (got %d)", maxRow, taken)
			default:
				r.endField()
			}
			return line, wrong, nil
		}
		if taken++; at == skipping {
			continue
		}
		switch {
		case b == ',' && at != quoted:
			r.endField()
			at = atStart
			continue
		case at == atStart && b == '"':
			at = quoted
			continue
		case at == atStart:
			at = bare
		case at == quoted && b == '"':
			at = atQuote
			continue
		case at == atQuote && b == '"':
			at = quoted
		case at == atQuote:
			wrong, at = fmt.Sprintf("column %d: the closing quote on line %d must be followed by a comma", column(), r.line),
				skipping
			continue
		}
		if at == bare && b == '"' {
			wrong, at = fmt.Sprintf("column %d: a quote in an unquoted field", column()), skipping
			continue
		}
		if taken <= maxRow {
			r.record = append(r.record, b)
		}
	}
}

// readByte reads a byte. As in encoding/csv, it leaves out a carriage return before a newline or at
// the end of the file.
func (r *csvReader) readByte() (byte, error) {
	b, err := r.in.ReadByte()
	if err == nil && b == '\r' {
		next, peekErr := r.in.Peek(1)
		if errors.Is(peekErr, io.EOF) {
			return 0, io.EOF
		}
		if peekErr == nil && next[0] == '\n' {
			b, err = r.in.ReadByte()
		}
	}
	if err == nil && b == '\n' {
		r.line++
	}
	return b, err
}
