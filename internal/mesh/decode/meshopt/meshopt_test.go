package meshopt

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
)

// vector is compressed data with what the reference decoder returns for it.
type vector struct {
	Mode             Mode
	Filter           Filter
	Count, Stride    int
	Encoded, Decoded []byte
}

func (v vector) layout() Layout {
	return Layout{Mode: v.Mode, Filter: v.Filter, Count: v.Count, Stride: v.Stride}
}

// matches reports whether decoded bytes are those of the reference. It computes the filters of
// 16-bit numbers in float32, which can round the other way.
func (v vector) matches(got []byte) bool {
	if len(got) != len(v.Decoded) || v.Stride != 8 || v.Filter != Octahedral && v.Filter != Quaternion &&
		v.Filter != Color {
		return bytes.Equal(got, v.Decoded)
	}
	for i := range len(got) / 2 {
		if d := int16At(got, i) - int16At(v.Decoded, i); d < -1 || d > 1 {
			return false
		}
	}
	return true
}

func vectors(t testing.TB) (all []vector) {
	t.Helper()
	b, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	for d.More() {
		var v vector
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	return all
}

func TestDecode(t *testing.T) {
	modes := map[Mode]bool{}
	filters := map[Filter]bool{}
	for i, v := range vectors(t) {
		got, err := Decode(v.Encoded, v.layout())
		if err != nil || !v.matches(got) {
			t.Errorf("vector %d (%s, %s, %d of %d bytes): got %d bytes that differ (error %v)", i, v.Mode, v.Filter, v.Count,
				v.Stride, len(got), err)
		}
		modes[v.Mode], filters[v.Filter] = true, true
	}
	if len(modes) != 3 || len(filters) != 5 {
		t.Errorf("the vectors have %d modes and %d filters, want 3 and 5", len(modes), len(filters))
	}
}

// TestRatio checks the highest ratio of compression, and that more elements are rejected before
// they take memory.
func TestRatio(t *testing.T) {
	const blocks = 10_000
	v := ofChannel(channelBytes)
	v.Encoded = slices.Concat([]byte{version1}, bytes.Repeat([]byte{0xaa}, blocks), make([]byte, 24))
	v.Count = blocks * 256
	if got, err := Decode(v.Encoded, v.layout()); err != nil || !bytes.Equal(got, make([]byte, 4*v.Count)) {
		t.Errorf("got %d bytes, %v, want %d zeros", len(got), err, 4*v.Count)
	}
	v.Count = len(v.Encoded)*256 + 1
	if got, err := Decode(v.Encoded, v.layout()); err == nil || got != nil {
		t.Errorf("got %d bytes, %v, want an error and none", len(got), err)
	}
}

// TestColorsWithoutAlpha checks that colors are black if their alpha does not say how many bits
// they have.
func TestColorsWithoutAlpha(t *testing.T) {
	v := ofChannel(channelBytes)
	v.Filter = Color
	if got, err := Decode(v.Encoded, v.layout()); err != nil || !bytes.Equal(got, make([]byte, 4)) {
		t.Errorf("got % x, %v, want zeros", got, err)
	}
}

func TestInvalid(t *testing.T) {
	byMode := map[Mode]vector{} // the largest one
	for _, v := range vectors(t) {
		if v.Filter == None && v.Count > byMode[v.Mode].Count {
			byMode[v.Mode] = v
		}
	}
	change := func(mode Mode, change func(*vector)) vector {
		v := byMode[mode]
		v.Encoded = slices.Clone(v.Encoded)
		change(&v)
		return v
	}
	for name, c := range map[string]struct {
		vector  vector
		reason  mesh.Reason
		message string
	}{
		"empty": {change(Attributes, func(v *vector) { v.Encoded, v.Count = nil, 0 }), mesh.Malformed,
			"ends too early"},
		"no mode": {change(Attributes, func(v *vector) { v.Mode = "" }), mesh.Malformed, "do not fit together"},
		"unknown filter": {change(Attributes, func(v *vector) { v.Filter = "LOG" }), mesh.Malformed,
			"do not fit together"},
		"filter of indices": {change(Triangles, func(v *vector) { v.Filter = Exponential }), mesh.Malformed,
			"do not fit together"},
		"stride of a color": {change(Attributes, func(v *vector) { v.Filter, v.Stride = Color, 12 }), mesh.Malformed,
			"do not fit together"},
		"mode of a channel": {ofChannel(3), mesh.Malformed, "has a channel of the unknown mode 0x03"},
		"rotation of bytes": {ofChannel(0x10), mesh.Malformed, "has a channel of the unknown mode 0x10"},
		"stride of 0": {change(Attributes, func(v *vector) { v.Stride = 0 }), mesh.Malformed,
			"do not fit together"},
		"stride of 260": {change(Attributes, func(v *vector) { v.Stride = 260 }), mesh.Malformed,
			"do not fit together"},
		"stride of an index": {change(Indices, func(v *vector) { v.Stride = 8 }), mesh.Malformed, "do not fit together"},
		"two corners":        {change(Triangles, func(v *vector) { v.Count -= 1 }), mesh.Malformed, "do not fit together"},
		"negative count":     {change(Triangles, func(v *vector) { v.Count = -3 }), mesh.Malformed, "ends too early"},
		"many elements": {change(Attributes, func(v *vector) { v.Count = 1 << 40 }), mesh.Malformed,
			"ends too early"},
		"many triangles": {change(Triangles, func(v *vector) { v.Count *= 9 }), mesh.Malformed, "ends too early"},
		"fewer elements": {change(Attributes, func(v *vector) { v.Count = 16 }), mesh.Malformed, "bytes too many"},
		"more indices":   {change(Indices, func(v *vector) { v.Count++ }), mesh.Malformed, "cut off"},
		"large index": {change(Indices,
			func(v *vector) { v.Encoded, v.Count = []byte("\xd1\xff\xff\xff\xff\xff\x01\x00\x00\x00\x00"), 1 }), mesh.Malformed,
			"too large"},
		"fewer indices": {change(Indices, func(v *vector) { v.Count-- }), mesh.Malformed, "bytes too many"},
		"cut off": {change(Triangles, func(v *vector) { v.Encoded = v.Encoded[:16] }), mesh.Malformed,
			"ends too early"},
		"another codec": {change(Triangles, func(v *vector) { v.Encoded[0] = 0xa0 }), mesh.Malformed,
			"begins with the byte 0xa0 instead of 0xe1"},
		"version of attributes": {change(Attributes, func(v *vector) { v.Encoded[0] = 0xa2 }), mesh.Unsupported,
			"is of version 2, which is not supported"},
		"version of triangles": {change(Triangles, func(v *vector) { v.Encoded[0] = 0xe0 }), mesh.Unsupported,
			"is of version 0, which is not supported"},
		"version of indices": {change(Indices, func(v *vector) { v.Encoded[0] = 0xd2 }), mesh.Unsupported,
			"is of version 2, which is not supported"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Decode(c.vector.Encoded, c.vector.layout())
			var bad *mesh.Error
			if !errors.As(err, &bad) || bad.Reason != c.reason || !strings.Contains(bad.Message, c.message) {
				t.Errorf("got the error %v, want %v: %q", err, c.reason, c.message)
			}
		})
	}
}

// ofChannel returns an element of version 1 of attributes that is one channel of the given mode.
func ofChannel(mode byte) vector {
	b := append([]byte{version1, 0xaa}, make([]byte, 24)...)
	b[len(b)-1] = mode
	return vector{Mode: Attributes, Count: 1, Stride: 4, Encoded: b}
}

// FuzzDecode checks that any input gives the declared number of bytes or a *mesh.Error.
func FuzzDecode(f *testing.F) {
	for _, v := range vectors(f) {
		f.Add(v.Encoded, string(v.Mode), string(v.Filter), v.Count, v.Stride)
	}
	f.Fuzz(func(t *testing.T, b []byte, mode, filter string, count, stride int) {
		got, err := Decode(b, Layout{Mode: Mode(mode), Filter: Filter(filter), Count: count, Stride: stride})
		var bad *mesh.Error
		switch {
		case err == nil && len(got) != count*stride:
			t.Errorf("got %d bytes, want %d", len(got), count*stride)
		case err != nil && !errors.As(err, &bad):
			t.Errorf("got the error %T: %v", err, err)
		}
	})
}
