package structjson

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Appender is implemented by types that append their own JSON. They must also have a MarshalJSON
// that returns the same JSON, and the JSON must not contain characters that encoding/json would
// escape.
type Appender interface {
	AppendJSON(b []byte) ([]byte, error)
}

// Append appends the JSON of v to b.
func Append(b []byte, v any) ([]byte, error) {
	of := reflect.ValueOf(v)
	if !of.IsValid() {
		return append(b, "null"...), nil
	}
	return codecOf(of.Type()).append(b, of)
}

// append returns the function that encodes values of a type.
func (b builder) append(t reflect.Type) func([]byte, reflect.Value) ([]byte, error) {
	switch {
	case t.Kind() == reflect.Pointer:
		return appendPointer(b.codec(t.Elem())) // checked first, because it can be nil
	case t.Implements(appender):
		return appendItself
	case reflect.PointerTo(t).Implements(marshaler), reflect.PointerTo(t).Implements(textMarshaler):
		return appendOther
	}
	switch t.Kind() {
	case reflect.Bool:
		return func(b []byte, v reflect.Value) ([]byte, error) { return strconv.AppendBool(b, v.Bool()), nil }
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return func(b []byte, v reflect.Value) ([]byte, error) { return strconv.AppendInt(b, v.Int(), 10), nil }
	case reflect.String:
		return func(b []byte, v reflect.Value) ([]byte, error) { return appendString(b, v.String()), nil }
	case reflect.Slice:
		if t.Elem().Kind() != reflect.Uint8 { // encoding/json encodes []byte as base64
			return appendSlice(b.codec(t.Elem()))
		}
	case reflect.Struct:
		if fields, ok := b.fields(t); ok {
			return appendStruct(fields)
		}
	}
	return appendOther
}

// appendOther encodes a value by encoding/json. If v is addressable, it passes a pointer to v, so
// that methods with a pointer receiver are used.
func appendOther(b []byte, v reflect.Value) ([]byte, error) {
	if v.CanAddr() {
		v = v.Addr()
	}
	encoded, err := json.Marshal(v.Interface())
	return append(b, encoded...), err
}

func appendItself(b []byte, v reflect.Value) ([]byte, error) {
	if v.CanAddr() {
		v = v.Addr() // converting a pointer to an interface copies nothing
	}
	return v.Interface().(Appender).AppendJSON(b)
}

func appendPointer(to *codec) func([]byte, reflect.Value) ([]byte, error) {
	return func(b []byte, v reflect.Value) ([]byte, error) {
		if v.IsNil() {
			return append(b, "null"...), nil
		}
		return to.append(b, v.Elem())
	}
}

func appendSlice(of *codec) func([]byte, reflect.Value) ([]byte, error) {
	return func(b []byte, v reflect.Value) (_ []byte, err error) {
		if v.IsNil() {
			return append(b, "null"...), nil
		}
		b = append(b, '[')
		for i := range v.Len() {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = of.append(b, v.Index(i)); err != nil {
				return b, err
			}
		}
		return append(b, ']'), nil
	}
}

func appendStruct(fields []*field) func([]byte, reflect.Value) ([]byte, error) {
	return func(b []byte, v reflect.Value) (_ []byte, err error) {
		b = append(b, '{')
		start := len(b)
		for _, f := range fields {
			value := f.in(v)
			if f.omitEmpty && isEmpty(value) || f.omitZero && value.IsZero() {
				continue
			}
			if len(b) > start {
				b = append(b, ',')
			}
			if b, err = f.append(append(b, f.key...), value); err != nil {
				return b, err
			}
		}
		return append(b, '}'), nil
	}
}

// isEmpty reports whether omitempty omits a field with the value.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.String, reflect.Array:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

// isPlain are the ASCII characters that need no escape sequence.
var isPlain = func() (plain [utf8.RuneSelf]bool) {
	for c := range plain {
		plain[c] = c >= ' ' && !strings.ContainsRune(`"\<>&`, rune(c))
	}
	return plain
}()

// appendString appends a string in the same encoding as encoding/json.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0 // of what is not appended yet
	for i := 0; i < len(s); {
		c, size := rune(s[i]), 1
		if c < utf8.RuneSelf {
			if isPlain[c] {
				i++
				continue
			}
		} else if c, size = utf8.DecodeRuneInString(s[i:]); c != '\u2028' && c != '\u2029' && (c != utf8.RuneError || size > 1) {
			i += size
			continue
		}
		b = appendEscape(append(b, s[start:i]...), c)
		i += size
		start = i
	}
	return append(append(b, s[start:]...), '"')
}

// appendEscape appends the escape sequence of a character.
func appendEscape(b []byte, c rune) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', byte(c))
	case '\b':
		return append(b, `\b`...)
	case '\f':
		return append(b, `\f`...)
	case '\n':
		return append(b, `\n`...)
	case '\r':
		return append(b, `\r`...)
	case '\t':
		return append(b, `\t`...)
	}
	const digits = "0123456789abcdef"
	return append(b, '\\', 'u', digits[c>>12&0xf], digits[c>>8&0xf], digits[c>>4&0xf], digits[c&0xf])
}
