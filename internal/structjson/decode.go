package structjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Decode decodes JSON into v, which must be a pointer to a zero value. It does not detect all
// syntax errors.
func Decode(data []byte, v any) error {
	d := &decoder{data: data, text: string(data)}
	to := reflect.ValueOf(v).Elem()
	err := codecOf(to.Type()).read(d, to)
	if err == nil && d.next() != 0 {
		err = d.unexpected("the end")
	}
	return err
}

// decoder is the state of decoding a JSON text.
type decoder struct {
	data []byte
	text string // the same bytes as data; decoded strings are substrings of it
	at   int
}

var errEnd = errors.New("structjson: unexpected end of JSON")

// next skips white space and returns the byte at the new position, or 0 at the end.
func (d *decoder) next() byte {
	for ; d.at < len(d.text); d.at++ {
		if c := d.text[d.at]; c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c
		}
	}
	return 0
}

// skip consumes c if it is next, and reports whether it was.
func (d *decoder) skip(c byte) bool {
	if d.next() != c {
		return false
	}
	d.at++
	return true
}

// skipNull consumes null if it is next, and reports whether it was.
func (d *decoder) skipNull() bool {
	if d.next() != 'n' || !strings.HasPrefix(d.text[d.at:], "null") {
		return false
	}
	d.at += len("null")
	return true
}

func (d *decoder) unexpected(instead string) error {
	if d.at >= len(d.text) {
		return errEnd
	}
	return fmt.Errorf("structjson: %q at byte %d instead of %s", d.text[d.at], d.at, instead)
}

// quoted consumes a string. It returns the text between the quotes, and whether it has escapes.
func (d *decoder) quoted() (text string, escaped bool, err error) {
	if !d.skip('"') {
		return "", false, d.unexpected("a string")
	}
	start := d.at
	for d.at < len(d.text) {
		switch d.text[d.at] {
		case '"':
			d.at++
			return d.text[start : d.at-1], escaped, nil
		case '\\':
			escaped = true
			d.at++
		}
		d.at++
	}
	return "", false, errEnd
}

// string consumes a string and decodes it.
func (d *decoder) string() (string, error) {
	start := d.at
	text, escaped, err := d.quoted()
	if err == nil && escaped {
		return unescape(d.data[start:d.at])
	}
	return text, err
}

// unescape decodes a string with escapes by encoding/json.
func unescape(quoted []byte) (text string, err error) {
	err = json.Unmarshal(quoted, &text)
	return text, err
}

// number consumes an integer and returns its text.
func (d *decoder) number() (string, error) {
	d.next()
	start := d.at
	for d.at < len(d.text) && (d.text[d.at] == '-' || '0' <= d.text[d.at] && d.text[d.at] <= '9') {
		d.at++
	}
	if start == d.at {
		return "", d.unexpected("an integer")
	}
	return d.text[start:d.at], nil
}

// value consumes a value of any type and returns its bytes.
func (d *decoder) value() ([]byte, error) {
	d.next()
	start, depth := d.at, 0
	for d.at < len(d.text) {
		switch d.text[d.at] {
		case '"':
			if _, _, err := d.quoted(); err != nil {
				return nil, err
			}
		case '{', '[':
			depth++
			d.at++
		case '}', ']':
			depth--
			d.at++
		case ',', ':', ' ', '\n', '\t', '\r':
			d.at++
		default: // a number, true, false or null
			d.at++
			for d.at < len(d.text) && strings.IndexByte(",:]} \n\t\r", d.text[d.at]) < 0 {
				d.at++
			}
		}
		if depth <= 0 {
			return d.data[start:d.at], nil
		}
	}
	return nil, errEnd
}

// begin consumes the opening bracket of an array or an object. It returns an error if another byte
// is next.
func (d *decoder) begin(bracket byte) error {
	if !d.skip(bracket) {
		return d.unexpected(string(bracket))
	}
	return nil
}

// more moves to the next element of an array or an object, and reports whether there is one. If
// not, it consumes the closing bracket end. n is the number of elements that were read before.
func (d *decoder) more(n int, end byte) (bool, error) {
	switch {
	case d.skip(end):
		return false, nil
	case n > 0 && !d.skip(','):
		return false, d.unexpected(string(end))
	}
	return true, nil
}

// member reads the key of the next member of an object and moves to its value. ok is false if there
// is no other member. n is the number of members that were read before.
func (d *decoder) member(n int) (key string, ok bool, err error) {
	if ok, err = d.more(n, '}'); err != nil || !ok {
		return "", false, err
	}
	key, err = d.string()
	if err == nil && !d.skip(':') {
		err = d.unexpected(":")
	}
	return key, true, err
}

// read returns the function that decodes values of a type.
func (b builder) read(t reflect.Type) func(*decoder, reflect.Value) error {
	switch {
	case t.Kind() == reflect.Pointer:
		return readPointer(t.Elem(), b.codec(t.Elem()))
	case reflect.PointerTo(t).Implements(unmarshaler):
		return readItself
	case reflect.PointerTo(t).Implements(textUnmarshaler):
		return readOther
	}
	switch t.Kind() {
	case reflect.Bool:
		return readBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return readInt
	case reflect.String:
		return readString
	case reflect.Slice:
		if t.Elem().Kind() != reflect.Uint8 { // encoding/json encodes []byte as base64
			return readSlice(t, b.codec(t.Elem()))
		}
	case reflect.Map:
		if t.Key() == reflect.TypeFor[string]() {
			return readMap(t, b.codec(t.Elem()))
		}
	case reflect.Struct:
		if fields, ok := b.fields(t); ok {
			return readStruct(fields)
		}
	}
	return readOther
}

// readItself calls UnmarshalJSON.
func readItself(d *decoder, v reflect.Value) error {
	value, err := d.value()
	if err != nil {
		return err
	}
	return v.Addr().Interface().(json.Unmarshaler).UnmarshalJSON(value)
}

// readOther decodes a value by encoding/json.
func readOther(d *decoder, v reflect.Value) error {
	value, err := d.value()
	if err != nil {
		return err
	}
	return json.Unmarshal(value, v.Addr().Interface())
}

func readBool(d *decoder, v reflect.Value) error {
	if d.skipNull() {
		return nil
	}
	for _, value := range []bool{true, false} {
		if word := strconv.FormatBool(value); d.next() == word[0] && strings.HasPrefix(d.text[d.at:], word) {
			d.at += len(word)
			v.SetBool(value)
			return nil
		}
	}
	return d.unexpected("a boolean")
}

func readInt(d *decoder, v reflect.Value) error {
	if d.skipNull() {
		return nil
	}
	text, err := d.number()
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(text, 10, v.Type().Bits())
	v.SetInt(n)
	return err
}

func readString(d *decoder, v reflect.Value) error {
	if d.skipNull() {
		return nil
	}
	text, err := d.string()
	v.SetString(text)
	return err
}

func readPointer(elem reflect.Type, to *codec) func(*decoder, reflect.Value) error {
	return func(d *decoder, v reflect.Value) error {
		if d.skipNull() {
			return nil
		}
		v.Set(reflect.New(elem))
		return to.read(d, v.Elem())
	}
}

func readSlice(t reflect.Type, of *codec) func(*decoder, reflect.Value) error {
	return func(d *decoder, v reflect.Value) error {
		if d.skipNull() {
			return nil
		}
		v.Set(reflect.MakeSlice(t, 0, 0)) // an empty list is not null
		if err := d.begin('['); err != nil {
			return err
		}
		for n := 0; ; n++ {
			if more, err := d.more(n, ']'); err != nil || !more {
				return err
			}
			if n == v.Cap() {
				v.Grow(1)
			}
			v.SetLen(n + 1)
			if err := of.read(d, v.Index(n)); err != nil {
				return err
			}
		}
	}
}

func readMap(t reflect.Type, of *codec) func(*decoder, reflect.Value) error {
	return func(d *decoder, v reflect.Value) error {
		if d.skipNull() {
			return nil
		}
		v.Set(reflect.MakeMap(t))
		if err := d.begin('{'); err != nil {
			return err
		}
		for n := 0; ; n++ {
			key, ok, err := d.member(n)
			if err != nil || !ok {
				return err
			}
			value := reflect.New(t.Elem()).Elem()
			if err := of.read(d, value); err != nil {
				return err
			}
			v.SetMapIndex(reflect.ValueOf(key), value)
		}
	}
}

func readStruct(fields []*field) func(*decoder, reflect.Value) error {
	named := make(map[string]*field, len(fields))
	for _, f := range fields {
		named[f.name] = f
	}
	find := func(key string) *field {
		if f := named[key]; f != nil {
			return f
		}
		for _, f := range fields {
			if strings.EqualFold(f.name, key) {
				return f
			}
		}
		return nil
	}
	return func(d *decoder, v reflect.Value) error {
		if d.skipNull() {
			return nil
		}
		if err := d.begin('{'); err != nil {
			return err
		}
		for n := 0; ; n++ {
			key, ok, err := d.member(n)
			if err != nil || !ok {
				return err
			}
			if f := find(key); f != nil {
				err = f.read(d, f.in(v))
			} else {
				_, err = d.value()
			}
			if err != nil {
				return err
			}
		}
	}
}
