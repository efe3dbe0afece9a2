package structjson_test

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/structjson"
)

// everything has fields of all kinds of types that the package encodes and decodes itself, and of
// types that it passes to encoding/json.
type everything struct {
	Text     string            `json:"text"`
	Number   int               `json:"number"`
	Small    int8              `json:"small"`
	Yes      bool              `json:"yes"`
	Pointer  *string           `json:"pointer"`
	Twice    **int             `json:"twice"`
	List     []string          `json:"list"`
	Lists    [][]int           `json:"lists"`
	Self     *everything       `json:"self"`
	Selves   []*everything     `json:"selves,omitempty"`
	Map      map[string]int    `json:"map"`
	Named    map[string]*inner `json:"named,omitempty"`
	Unsigned uint              `json:"unsigned"`
	Float    float64           `json:"float"`
	Any      any               `json:"any"`
	Bytes    []byte            `json:"bytes"`
	Time     time.Time         `json:"time"`
	TimeAt   *time.Time        `json:"time_at,omitzero"`
	Stars    stars             `json:"stars"`
	StarsAt  *stars            `json:"stars_at"`
	Key      string            `json:"a<b"`
	Hidden   string            `json:"-"`
	Untagged string
	private  string
	inner
	Depth    string    `json:"depth"` // hides the field of inner
	Embedded embedding `json:"embedded"`
}

// embedding is encoded and decoded by encoding/json.
type embedding struct {
	*Embedded
	Number int `json:"number,string"`
}

type Embedded struct{ In string }

type inner struct {
	Inside string `json:"inside,omitempty"`
	Zero   int    `json:"zero,omitzero"`
	Depth  int    `json:"depth"`
}

// stars is a type with its own JSON encoding.
type stars int

func (s stars) MarshalJSON() ([]byte, error) { return json.Marshal(strings.Repeat("*", int(s))) }

func (s *stars) UnmarshalJSON(b []byte) error {
	*s = stars(strings.Count(string(b), "*"))
	return nil
}

func (s stars) AppendJSON(b []byte) ([]byte, error) {
	return append(append(append(b, '"'), strings.Repeat("*", int(s))...), '"'), nil
}

// TestSameAsEncodingJSON checks that the package encodes and decodes random values in the same way
// as encoding/json.
func TestSameAsEncodingJSON(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var value everything
		fill(r, reflect.ValueOf(&value).Elem(), 3)
		value.private = "not encoded"
		want, err := json.Marshal(&value)
		if err != nil {
			t.Fatal(err)
		}
		got, err := structjson.Append([]byte("before "), &value)
		if err != nil || string(got) != "before "+string(want) {
			t.Fatalf("error %v, encoded\n%s, want\n%s", err, got, want)
		}
		var decoded, stock everything
		if err := json.Unmarshal(want, &stock); err != nil {
			t.Fatal(err)
		}
		if err := structjson.Decode(want, &decoded); err != nil || !reflect.DeepEqual(decoded, stock) {
			t.Fatalf("error %v, decoded\n%s\nto %+v, want\n%+v", err, want, decoded, stock)
		}
	}
}

// fill sets a value at random. It sets pointers only while depth, which decreases with each level
// of nesting, is positive.
func fill(r *rand.Rand, v reflect.Value, depth int) {
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Unix(r.Int64N(1e9), r.Int64N(1e9)).UTC()))
		return
	case stars:
		v.SetInt(r.Int64N(5))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text(r))
	case reflect.Int, reflect.Int8:
		v.SetInt(r.Int64() >> r.IntN(64))
	case reflect.Uint, reflect.Uint8:
		v.SetUint(uint64(r.IntN(256)))
	case reflect.Float64:
		v.SetFloat(r.NormFloat64())
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Interface:
		v.Set(reflect.ValueOf(map[string]any{text(r): []any{text(r), nil, true}}))
	case reflect.Pointer:
		if depth > 0 && r.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(r, v.Elem(), depth-1)
		}
	case reflect.Slice:
		if r.IntN(3) > 0 {
			v.Set(reflect.MakeSlice(v.Type(), r.IntN(3), 3))
			for i := range v.Len() {
				fill(r, v.Index(i), depth-1)
			}
		}
	case reflect.Map:
		if r.IntN(3) > 0 {
			v.Set(reflect.MakeMap(v.Type()))
			for range r.IntN(3) {
				value := reflect.New(v.Type().Elem()).Elem()
				fill(r, value, depth-1)
				v.SetMapIndex(reflect.ValueOf(text(r)), value)
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() || field.Anonymous {
				if v.Field(i).CanInterface() {
					fill(r, v.Field(i), depth)
				}
			}
		}
		if e, ok := v.Addr().Interface().(*everything); ok {
			e.Inside, e.Zero = text(r), r.IntN(2)
		}
	default:
		panic(v.Type())
	}
}

// text returns a random text with characters that are escaped in JSON or HTML, and with bytes that
// are not valid UTF-8.
func text(r *rand.Rand) string {
	parts := []string{"a", "Zahnräder", `"`, `\`, "/", "<b>", "&", "\x00", "\x1f", "\b", "\f", "\n", "\r", "\t", "\u2028", "\u2029", "\ufffd", "😀", "\xff", "\xc3", "\x7f"}
	var b strings.Builder
	for range r.IntN(6) {
		b.WriteString(parts[r.IntN(len(parts))])
	}
	return b.String()
}

// TestDecodesSpaces checks white space, unknown keys, keys in a different case, and null for types
// without a null value.
func TestDecodesSpaces(t *testing.T) {
	const data = " {\t\"number\" : 7 ,\r\n \"unknown\" : { \"a\" : [ 1 , \"]}\" , null , -1.5e3 ] } , \"untagged\":\"U\", \"list\" : [ \"a\" , \"b\" ] , \"text\":null,\"yes\":null,\"small\":null, \"lists\":[ ] , \"map\" : { } } "
	var got, want everything
	if err := json.Unmarshal([]byte(data), &want); err != nil {
		t.Fatal(err)
	}
	if err := structjson.Decode([]byte(data), &got); err != nil || !reflect.DeepEqual(got, want) || got.Number != 7 || got.Untagged != "U" {
		t.Errorf("error %v, decoded %+v, want %+v", err, got, want)
	}
}

// TestDecodeFails checks that Decode returns an error for truncated JSON and for values of the
// wrong type, and that it does not panic if any byte is changed.
func TestDecodeFails(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var value everything
	for value.Self == nil || value.Map == nil {
		fill(r, reflect.ValueOf(&value).Elem(), 2)
	}
	data, err := json.Marshal(&value)
	if err != nil {
		t.Fatal(err)
	}
	for n := range data {
		var into everything
		if err := structjson.Decode(data[:n], &into); err == nil {
			t.Errorf("no error for %s", data[:n])
		}
		for _, c := range []byte(`{}[]",:\x0n `) {
			changed := append([]byte(nil), data...)
			changed[n] = c
			_ = structjson.Decode(changed, new(everything))
		}
	}
	for _, data := range []string{`{"yes":1}`, `{"number":"1"}`, `{"text":1}`, `{"list":{}}`, `{"self":[]}`, `{"map":[]}`, `{"small":999}`, `{} {}`, `[]`, ``} {
		if structjson.Decode([]byte(data), new(everything)) == nil {
			t.Errorf("no error for %s", data)
		}
	}
}

// TestAppendNil checks that nil values are encoded as null.
func TestAppendNil(t *testing.T) {
	for _, v := range []any{nil, (*everything)(nil), []string(nil), (*stars)(nil), map[string]int(nil)} {
		if b, err := structjson.Append(nil, v); err != nil || string(b) != "null" {
			t.Errorf("%T: %s, %v", v, b, err)
		}
	}
}
