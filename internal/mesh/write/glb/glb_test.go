package glb_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/meshtest"
	"github.com/meshyard/meshyard/internal/mesh/meshtest/decoded"
	"github.com/meshyard/meshyard/internal/mesh/write/glb"
)

// again writes a mesh and decodes the result.
func again(t *testing.T, m *mesh.Mesh, o glb.Options) *mesh.Mesh {
	t.Helper()
	var b bytes.Buffer
	if _, err := glb.Write(&b, m, o); err != nil {
		t.Fatal(err)
	}
	out, err := decoded.File(t, "", b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestWrite decodes every model of the test data, writes it and decodes it again.
func TestWrite(t *testing.T) {
	for _, r := range meshtest.Meshes(t) {
		m, err := decoded.File(t, r.Name, r.Bytes(t))
		if err != nil {
			continue
		}
		t.Run(r.Name, func(t *testing.T) {
			checkSame(t, m, again(t, m.Shaded(mesh.CreaseAngle), glb.Options{}), 1./32768)
			checkSame(t, m, again(t, m.Shaded(mesh.CreaseAngle), glb.Options{Exact: true}), 1e-6)
		})
	}
}

// checkSame checks that got has the triangles of m in meters and with Y up, with an error of at
// most part of the box.
func checkSame(t *testing.T, m, got *mesh.Mesh, part float64) {
	t.Helper()
	if got.Triangles() != m.Triangles() || got.Cloud != m.Cloud {
		t.Fatalf("got %d triangles, cloud: %v, colors: %d", got.Triangles(), got.Cloud, len(got.Colors))
	}
	s := m.Box().Size()
	slack := part * max(s[0], s[1], s[2])
	corner := func(of *mesh.Mesh, v uint32) [3]float64 {
		p := of.At(v)
		return [3]float64{float64(p[0]) + of.Origin[0], float64(p[1]) + of.Origin[1], float64(p[2]) + of.Origin[2]}
	}
	check := func(v, w uint32) {
		want, is := corner(m, v), corner(got, w)
		if m.Up == mesh.UpZ {
			want = [3]float64{want[0], want[2], -want[1]}
		}
		for i := range want {
			// A node has double precision; decoders may not.
			if off := math.Abs(is[i]*1000/m.Unit - want[i]); off > slack+1e-6*math.Abs(want[i]) {
				t.Fatalf("a corner is %v, want %v in units of %v mm", is, want, m.Unit)
			}
		}
		if m.Colors != nil {
			is := []uint8{255, 255, 255, 255} // all white decodes as no colors
			if got.Colors != nil {
				is = got.Colors[4*w:][:4]
			}
			for i, c := range m.Colors[4*v:][:4] {
				if d := int(c) - int(is[i]); d < -1 || d > 1 {
					t.Fatalf("a color is %v, want %v", is, m.Colors[4*v:][:4])
				}
			}
		}
	}
	for i := range m.Triangles() {
		a, b, c := m.Corners(i)
		x, y, z := got.Corners(i)
		check(a, x)
		check(b, y)
		check(c, z)
	}
	for v := range uint32(m.Vertices()) {
		if m.Cloud {
			check(v, v)
		}
	}
}

// TestIndices checks the index size on both sides of the limit: the greatest 16-bit index is
// reserved.
func TestIndices(t *testing.T) {
	for vertices, want := range map[int]int{65535: 5123, 65536: 5125} {
		m := &mesh.Mesh{Unit: 1, Positions: make([]float32, 3*vertices), Indices: []uint32{0, 1, uint32(vertices - 1)}}
		m.Positions[3*vertices-3] = 1000
		var b bytes.Buffer
		if _, err := glb.Write(&b, m, glb.Options{}); err != nil {
			t.Fatal(err)
		}
		var doc struct {
			Accessors []struct{ ComponentType int }
		}
		text := b.Bytes()[20:]
		if err := json.Unmarshal(text[:binary.LittleEndian.Uint32(b.Bytes()[12:])], &doc); err != nil {
			t.Fatal(err)
		}
		if got := doc.Accessors[len(doc.Accessors)-1].ComponentType; got != want {
			t.Errorf("with %d vertices the indices are of type %d, want %d", vertices, got, want)
		}
		if box := again(t, m, glb.Options{}).Box(); math.Abs(box.Max[0]-1) > 1e-6 {
			t.Errorf("with %d vertices the box is %v", vertices, box)
		}
	}
}

// TestFlat writes a mesh without extent.
func TestFlat(t *testing.T) {
	m := &mesh.Mesh{Unit: 1, Cloud: true, Positions: []float32{5, 6, 7}, Origin: [3]float64{1e6, 0, 0}}
	if got, want := again(t, m, glb.Options{}).Box().Min, [3]float64{1000.005, 0.007, -0.006}; !near(got[:], want[:]) {
		t.Errorf("a point is at %v, want %v", got, want)
	}
}

func near(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) < 1e-9 })
}

func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		mesh *mesh.Mesh
		want error
	}{
		"empty": {&mesh.Mesh{}, glb.ErrEmpty},
		"NaN":   {&mesh.Mesh{Positions: []float32{0, 0, float32(math.NaN())}}, glb.ErrNotFinite},
		"normal": {&mesh.Mesh{Positions: []float32{0, 0, 0}, Normals: []float32{0, 0, float32(math.Inf(1))}},
			glb.ErrNotFinite},
		"origin": {&mesh.Mesh{Positions: []float32{0, 0, 0}, Origin: [3]float64{math.Inf(1)}}, glb.ErrNotFinite},
	} {
		var b bytes.Buffer
		if _, err := glb.Write(&b, c.mesh, glb.Options{}); !errors.Is(err, c.want) || b.Len() > 0 {
			t.Errorf("%s: got the error %v and %d bytes", name, err, b.Len())
		}
	}
	r, w := io.Pipe()
	r.Close()
	if _, err := glb.Write(w, &mesh.Mesh{Positions: make([]float32, 99_999)}, glb.Options{}); err != io.ErrClosedPipe {
		t.Errorf("a writer that fails: got the error %v", err)
	}
}
