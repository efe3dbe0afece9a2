package structjson

import (
	"encoding/json"
	"reflect"
	"strconv"
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

// appendString appends a string in the same encoding as encoding/json.
func appendString(b []byte, s string) []byte {
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c < ' ' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&':
			return appendEscaped(b, s)
		case c < utf8.RuneSelf:
			i++
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 || r == '\u2028' || r == '\u2029' {
				return appendEscaped(b, s)
			}
			i += size
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

// appendEscaped appends a string with characters that encoding/json escapes or replaces.
func appendEscaped(b []byte, s string) []byte {
	encoded, _ := json.Marshal(s) // a string cannot cause an error
	return append(b, encoded...)
}
