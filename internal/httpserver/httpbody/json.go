// Package httpbody reads request bodies with fixed limits: JSON documents, and multipart forms
// whose file is streamed.
package httpbody

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/meshyard/meshyard/internal/apierror"
)

// MaxJSON is the maximum size of a JSON document, in bytes. The callers of DecodeJSON enforce it.
const MaxJSON = 1 << 20

const (
	maxValues  = 10_000 // values in one JSON document
	maxNesting = 64     // levels of arrays and objects
)

// DecodeJSON decodes text, which must contain exactly one JSON value, into v. Numbers become
// json.Number unless v has another type for them. Errors are of type BadInput; they name the input
// and the position of the fault, and contain none of the text.
//
// Invalid UTF-8 and unpaired surrogate escapes are rejected, because encoding/json would silently
// replace them (RFC 8259 section 8).
func DecodeJSON(input string, text []byte, v any) error {
	if !validUnicode(text) {
		return apierror.Invalid("", "%s: contains invalid UTF-8 or half a surrogate pair", input)
	}
	if exceedsBounds(text) {
		return apierror.Invalid("", "%s: must have at most %d values and %d levels of nesting", input, maxValues, maxNesting)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		return apierror.Invalid("", "%s: %s", input, decodeFault(text, err))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return apierror.Invalid("", "%s: has text after the JSON value, at %s", input, position(text, d.InputOffset()))
	}
	return nil
}

// decodeFault describes an error of encoding/json without repeating the text.
func decodeFault(text []byte, err error) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Sprintf("invalid JSON at %s: %s", position(text, syntax.Offset-1), syntax.Error())
	case errors.As(err, &kind):
		field := kind.Field
		if field == "" {
			field = "the value"
		}
		return fmt.Sprintf("%s must not be a JSON %s (at %s)", field, kind.Value, position(text, kind.Offset))
	case errors.Is(err, io.EOF):
		return "is empty, and must be JSON"
	default:
		return "invalid JSON: ends too early, at " + position(text, int64(len(text)))
	}
}

// position returns the line and column of the byte at an offset, both counted from 1.
func position(text []byte, offset int64) string {
	before := text[:max(0, min(offset, int64(len(text))))]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return fmt.Sprintf("line %d, column %d", line, column)
}

// exceedsBounds reports whether JSON text has more values or deeper nesting than any request needs.
// It runs before decoding, which takes about fifty bytes of memory for a value of two bytes.
func exceedsBounds(text []byte) bool {
	values, levels := 1, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case ',':
			values++
		case '[', '{':
			values++
			levels++
		case ']', '}':
			levels--
		}
		if values > maxValues || levels > maxNesting {
			return true
		}
	}
	return false
}
