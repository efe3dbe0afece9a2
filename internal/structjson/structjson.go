// Package structjson encodes and decodes structs as encoding/json does, several times as fast. It
// looks at a type once, and it does not validate what it decodes: it is for JSON that this program
// wrote itself.
//
// It does what encoding/json does for booleans, integers, strings, and for structs, pointers,
// slices and maps with string keys made of these. Everything else is left to encoding/json: other
// types, types that have MarshalJSON, UnmarshalJSON, MarshalText or UnmarshalText, and structs with
// embedded pointers or with several fields of one name.
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
	codecs   sync.Map   // by reflect.Type: *codec; all are complete
	building sync.Mutex // held while codecs are made
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

// builder has the codecs that are being made. They refer to each other, so a type may contain
// itself.
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

// field is a field of a struct, or of a struct that is embedded in it.
type field struct {
	index []int
	name  string
	key   string // the JSON before the value: "name":
	*codec

	omitEmpty, omitZero bool
}

// fields returns the fields of a struct in their order, and false if it is left to encoding/json.
func (b builder) fields(t reflect.Type) (all []*field, ok bool) {
	for _, f := range reflect.VisibleFields(t) {
		tag, isTagged := f.Tag.Lookup("json")
		name, options, _ := strings.Cut(tag, ",")
		if f.Anonymous && !isTagged {
			if f.Type.Kind() != reflect.Struct {
				return nil, false
			}
			continue // its fields follow
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
		case len(all[same].index) > len(f.Index): // the outer field hides the inner
			all = append(slices.Delete(all, same, same+1), one)
		case len(all[same].index) == len(f.Index):
			return nil, false
		}
	}
	return all, true
}

// in returns the field of a struct.
func (f *field) in(v reflect.Value) reflect.Value {
	for _, i := range f.index {
		v = v.Field(i)
	}
	return v
}
