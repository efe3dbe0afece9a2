package threejs

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
)

// written is the relevant part of a document.
type written struct {
	Metadata   struct{ Type string }
	Geometries []struct {
		Type string
		Data struct {
			Attributes struct{ Position, Normal, Color *list }
			Index      *list
		}
	}
	Materials []struct {
		Type                      string
		VertexColors, Transparent bool
	}
	Object struct {
		Type     string
		Matrix   []float64
		UserData struct {
			Format, UpAxis     string
			MillimetersPerUnit float64
			Decimated          bool
			Triangles          int
		}
	}
}

type list struct {
	ItemSize int
	Type     string
	Array    []float64
}

// blocks checks that no write exceeds the buffer size.
type blocks struct {
	t *testing.T
	bytes.Buffer
}

func (b *blocks) Write(p []byte) (int, error) {
	if len(p) > bufferSize {
		b.t.Errorf("%d bytes are written at once", len(p))
	}
	return b.Buffer.Write(p)
}

func write(t *testing.T, m *mesh.Mesh, o Options) (w written) {
	t.Helper()
	b := blocks{t: t}
	if err := Write(&b, m, o); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b.Bytes(), &w); err != nil {
		t.Fatalf("%v in %s", err, b.Bytes()[:min(b.Len(), 2000)])
	}
	return w
}

func TestWrite(t *testing.T) {
	m := &mesh.Mesh{
		Format: mesh.OBJ, Unit: 25.4, Origin: [3]float64{1e9, 0, -0.5},
		Positions: []float32{0, 1.5, -2e-7, 0.1, 16777216, 3.4e38, 1e-45, 123.456, -1},
		Normals:   []float32{0, 0, 1, -0.70710677, 0.70710677, 0, 0.00004, -0.00006, -1},
		Indices:   []uint32{0, 1, 2, 2, 1, 0},
		Colors:    []uint8{255, 0, 188, 255, 1, 2, 3, 255, 0, 0, 0, 255},
	}
	w := write(t, m, Options{Decimated: true, Triangles: 77})
	g := w.Geometries[0].Data
	for i, x := range m.Positions {
		if got := float32(g.Attributes.Position.Array[i]); got != x {
			t.Errorf("position %d is %v, want %v", i, got, x)
		}
	}
	if want := []float64{0, 0, 1, -0.7071, 0.7071, 0, 0, -0.0001, -1}; !slices.Equal(g.Attributes.Normal.Array, want) {
		t.Errorf("the normals are %v, want %v", g.Attributes.Normal.Array, want)
	}
	if want := []float64{0, 1, 2, 2, 1, 0}; !slices.Equal(g.Index.Array, want) || g.Index.Type != "Uint16Array" {
		t.Errorf("the indices are %v", g.Index)
	}
	if c := g.Attributes.Color; c.ItemSize != 3 || len(c.Array) != 9 || c.Array[0] != 1 || c.Array[1] != 0 ||
		math.Abs(c.Array[2]-0.5029) > 1e-4 {
		t.Errorf("the colors are %v", c)
	}
	if w.Metadata.Type != "Object" || w.Geometries[0].Type != "BufferGeometry" || w.Object.Type != "Mesh" ||
		!w.Materials[0].VertexColors ||
		w.Materials[0].Type != "MeshStandardMaterial" || w.Materials[0].Transparent {
		t.Errorf("got %+v", w)
	}
	if want := []float64{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1e9, 0, -0.5, 1}; !slices.Equal(w.Object.Matrix, want) {
		t.Errorf("the matrix is %v, want %v", w.Object.Matrix, want)
	}
	if u := w.Object.UserData; u.Format != "obj" || u.UpAxis != "Z" || u.MillimetersPerUnit != 25.4 || !u.Decimated ||
		u.Triangles != 77 {
		t.Errorf("userData are %+v", u)
	}
}

func TestWriteCloud(t *testing.T) {
	w := write(t, &mesh.Mesh{Cloud: true, Unit: 1000, Up: mesh.UpY, Positions: []float32{1, 2, 3},
		Colors: []uint8{0, 0, 0, 51}}, Options{})
	g := w.Geometries[0].Data
	if w.Object.Type != "Points" || w.Materials[0].Type != "PointsMaterial" || !w.Materials[0].Transparent ||
		g.Index != nil || g.Attributes.Normal != nil ||
		!slices.Equal(g.Attributes.Color.Array, []float64{0, 0, 0, 0.2}) || w.Object.UserData.UpAxis != "Y" {
		t.Errorf("got %+v", w)
	}
}

// TestWriteLarge writes many of the longest numbers, which fill the buffer often.
func TestWriteLarge(t *testing.T) {
	m := &mesh.Mesh{Unit: 1}
	const n = 70_000
	for i := range uint32(n) {
		x := -math.Float32frombits(1<<23 + i*7919%(100<<23)) // about -1.2345678e-38
		m.Positions = append(m.Positions, x, -x, x)
		m.Normals = append(m.Normals, -0.57735, 0.57735, -0.57735)
		m.Colors = append(m.Colors, uint8(i), uint8(i>>8), 3, 100)
		m.Indices = append(m.Indices, i, n-1-i, 0)
	}
	w := write(t, m, Options{})
	g := w.Geometries[0].Data
	if g.Index.Type != "Uint32Array" || len(g.Index.Array) != 3*n || len(g.Attributes.Color.Array) != 4*n ||
		len(g.Attributes.Normal.Array) != 3*n {
		t.Fatalf("got %d indices of %s, %d colors, %d normals", len(g.Index.Array), g.Index.Type,
			len(g.Attributes.Color.Array),
			len(g.Attributes.Normal.Array))
	}
	for i, x := range m.Positions {
		if got := float32(g.Attributes.Position.Array[i]); got != x {
			t.Fatalf("position %d is %v, want %v", i, got, x)
		}
	}
	for i, v := range m.Indices {
		if got := g.Index.Array[i]; got != float64(v) {
			t.Fatalf("index %d is %v, want %v", i, got, v)
		}
	}
}

// TestNormals writes every normal near a rounding step.
func TestNormals(t *testing.T) {
	var xs []float32
	for i := -20_000; i <= 20_000; i++ {
		xs = append(xs, float32(i)/20_000*1.0001)
	}
	e := &encoder{w: io.Discard, b: make([]byte, 0, 1<<20)}
	e.normals(xs)
	if bytes.Contains(e.b, []byte("-0,")) {
		t.Error("a zero has a sign")
	}
	var got []float64
	if err := json.Unmarshal([]byte("["+string(e.b)+"]"), &got); err != nil {
		t.Fatal(err)
	}
	for i, x := range xs {
		want := max(-1, min(1, float64(x)))
		if math.Abs(got[i]-want) > 0.501/decimals || got[i] != math.Round(got[i]*decimals)/decimals {
			t.Fatalf("%v is written as %v", x, got[i])
		}
	}
}

func TestWriteRefused(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	three := []float32{0, 0, 0}
	for name, m := range map[string]*mesh.Mesh{
		"NaN":      {Positions: []float32{0, nan, 0}},
		"infinity": {Positions: []float32{0, 0, inf}},
		"normal":   {Positions: three, Normals: []float32{nan, 0, 0}},
		"origin":   {Positions: three, Origin: [3]float64{0, math.Inf(1), 0}},
		"unit":     {Positions: three, Unit: math.NaN()},
	} {
		if err := Write(io.Discard, m, Options{}); !errors.Is(err, ErrNotFinite) {
			t.Errorf("%s: got the error %v", name, err)
		}
	}
	r, w := io.Pipe()
	r.Close()
	if err := Write(w, &mesh.Mesh{Positions: make([]float32, 99_999)}, Options{}); err != io.ErrClosedPipe {
		t.Errorf("a writer that fails: got the error %v", err)
	}
}
