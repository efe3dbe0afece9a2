// Package structjson encodes and decodes structs in the same way as encoding/json, but about twice
// as fast. It analyzes each type only once, and it does not fully validate its input, so it should
// decode only JSON that this program has written itself.
//
// It encodes and decodes booleans, signed integers, strings, structs, pointers and slices itself,
// and decodes maps with string keys. It uses encoding/json for everything else: other types, types
// with MarshalJSON, UnmarshalJSON, MarshalText or UnmarshalText, and structs with embedded
// pointers, with several fields of one name, or with tag options other than omitempty and omitzero.
package structjson

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// codec encodes and decodes the values of a type.
type codec struct {
	append func(b []byte, v reflect.Value) ([]byte, error)
	read   func(d *decoder, v reflect.Value) error // v is addressable
}

var (
	codecs   sync.Map   // reflect.Type to *codec; contains only complete codecs
	building sync.Mutex // held while codecs are created
)

// codecOf returns the codec of a type.
func codecOf(t reflect.Type) *codec {
	if known, ok := codecs.Load(t); ok {
		return known.(*codec)
	}
	building.Lock()
	defer building.Unlock()
	b := builder{}
	c := b.codec(t)
	for t, c := range b {
		codecs.Store(t, c)
	}
	return c
}

// builder contains the codecs that are being created. A codec can refer to one that is not complete
// yet, so recursive types are possible.
type builder map[reflect.Type]*codec

func (b builder) codec(t reflect.Type) *codec {
	if known, ok := codecs.Load(t); ok {
		return known.(*codec)
	}
	if begun, ok := b[t]; ok {
		return begun
	}
	c := new(codec)
	b[t] = c
	c.append, c.read = b.append(t), b.read(t)
	return c
}

var (
	appender        = reflect.TypeFor[Appender]()
	marshaler       = reflect.TypeFor[json.Marshaler]()
	unmarshaler     = reflect.TypeFor[json.Unmarshaler]()
	textMarshaler   = reflect.TypeFor[encoding.TextMarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// field is a field of a struct or of a struct that it embeds.
type field struct {
	index []int
	name  string
	key   string // the JSON before the value: "name":
	*codec

	omitEmpty, omitZero bool
}

// fields returns the fields of a struct in the order of encoding/json. ok is false if encoding/json
// must encode and decode the struct.
func (b builder) fields(t reflect.Type) (all []*field, ok bool) {
	for _, f := range reflect.VisibleFields(t) {
		tag, isTagged := f.Tag.Lookup("json")
		name, options, _ := strings.Cut(tag, ",")
		if f.Anonymous && !isTagged {
			if f.Type.Kind() != reflect.Struct {
				return nil, false
			}
			continue // VisibleFields returns its fields next
		}
		if !f.IsExported() || name == "-" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		one := &field{index: f.Index, name: name, key: string(appendString(nil, name)) + ":", codec: b.codec(f.Type)}
		for option := range strings.SplitSeq(options, ",") {
			switch option {
			case "":
			case "omitempty":
				one.omitEmpty = true
			case "omitzero":
				one.omitZero = true
			default:
				return nil, false
			}
		}
		same := slices.IndexFunc(all, func(other *field) bool { return other.name == name })
		switch {
		case same < 0:
			all = append(all, one)
		case len(all[same].index) > len(f.Index): // the outer field hides the inner one
			all = append(slices.Delete(all, same, same+1), one)
		case len(all[same].index) == len(f.Index):
			return nil, false
		}
	}
	return all, true
}

// in returns the value of the field in the struct v.
func (f *field) in(v reflect.Value) reflect.Value {
	for _, i := range f.index {
		v = v.Field(i)
	}
	return v
}
