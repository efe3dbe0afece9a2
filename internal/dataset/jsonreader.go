package dataset

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// jsonReader reads JSON Lines row by row.
type jsonReader struct {
	in   *bufio.Reader
	line int    // of text
	text []byte // the current line
}

// next returns the next row, or io.EOF.
func (r *jsonReader) next() (cells, error) {
	for {
		length, err := r.readLine()
		c := cells{line: r.line}
		switch {
		case err != nil:
			return c, err
		case length > maxRow:
			c.fail("must be at most %d bytes (got %d)", maxRow, length)
		case len(bytes.TrimSpace(r.text)) == 0:
			continue
		case !utf8.Valid(r.text):
			c.fail("must be valid UTF-8") // encoding/json would replace it silently
		default:
			c.readObject(r.text)
		}
		return c, nil
	}
}

// readLine reads a line and stores at most maxRow bytes of it. It returns its length without the
// line ending.
func (r *jsonReader) readLine() (int, error) {
	r.text = r.text[:0]
	r.line++
	length := 0
	for {
		part, err := r.in.ReadSlice('\n')
		length += len(part)
		r.text = append(r.text, part[:min(len(part), maxRow-len(r.text))]...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == nil:
			return length - 1, nil
		case errors.Is(err, io.EOF) && length > 0:
			return length, nil
		}
		return length, err
	}
}

// readObject reads an object.
func (c *cells) readObject(text []byte) {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(text, &values); err != nil {
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			c.fail("column %d: %s", syntax.Offset, syntax)
		} else {
			c.fail("must be a JSON object")
		}
		return
	}
	if values == nil {
		c.fail("must be a JSON object")
		return
	}
	var unknown []string
	c.texts = make(map[string]string, len(values))
	for key, value := range values {
		if !slices.Contains(columns, key) {
			unknown = append(unknown, shown(key))
			continue
		}
		if string(value) == "null" {
			continue
		}
		var err error
		switch key {
		case "tags":
			if err = json.Unmarshal(value, &c.tags); err != nil {
				c.addProblem("column tags: must be an array of strings")
			}
		case "id":
			var id json.Number
			if err = json.Unmarshal(value, &id); err != nil || value[0] == '"' {
				c.addProblem("column id: must be a number")
			}
			c.texts[key] = id.String()
		default:
			var s string
			if err = json.Unmarshal(value, &s); err != nil {
				c.addProblem("column %s: must be a string", key)
				s = "?" // avoids a second error that the column is empty
			}
			c.texts[key] = strings.TrimSpace(s)
		}
	}
	if len(unknown) > 0 {
		slices.Sort(unknown)
		c.addProblem("unknown columns: %s; allowed columns are %s", strings.Join(unknown[:min(len(unknown), 20)], ", "),
			strings.Join(columns, ", "))
	}
	slices.Sort(c.wrong) // the keys of an object are unordered
}
