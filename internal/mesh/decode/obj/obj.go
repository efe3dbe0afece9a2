// Package obj decodes Wavefront OBJ files.
package obj

import (
	"bytes"
	"context"
	"io"
	"math"
	"slices"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/geometry"
	"github.com/meshyard/meshyard/internal/mesh/decode/source"
	"github.com/meshyard/meshyard/internal/mesh/decode/textscan"
)

// Decode decodes a Wavefront OBJ file (Advanced Visualizer manual, appendix B1): vertices, with
// colors after their coordinates as MeshLab writes them or in comments of ZBrush, and faces. It
// never opens other files that the OBJ file names. Materials apply only if MTL statements are in
// the OBJ file itself. Points and lines are ignored. Vertices with a coordinate that is not finite
// are dropped with their faces. If there is no face, the vertices are a point cloud; otherwise
// vertices without a face are dropped.
func Decode(ctx context.Context, src source.Source, limits mesh.Limits, progress func(float64)) (*mesh.Mesh, error) {
	o := file{limits: geometry.IndexableLimits(limits)}
	read := func() error {
		o.Lines = textscan.NewLines(textscan.UTF8Reader(source.NewReader(ctx, src, 0, progress)), "OBJ", continued...)
		for {
			line, err := o.Next()
			if err == io.EOF {
				return nil
			}
			if err == nil {
				err = o.statement(line)
			}
			if err != nil {
				return err
			}
		}
	}
	if err := read(); err != nil {
		return nil, err
	}
	if o.early {
		o.again, o.passed, o.corners, o.runs, o.materials, o.material = true, 0, o.corners[:0], nil, nil, ""
		if err := read(); err != nil {
			return nil, err
		}
	}
	return o.finish(ctx)
}

// continued are the statements that can continue on the next line: those of numbers. Names of
// groups, objects and materials are often paths of Windows, which can end in a backslash.
var continued = []string{"v", "f", "fo", "Kd", "d", "Tr"}

// file is the state of decoding an OBJ file.
type file struct {
	*textscan.Lines
	limits   mesh.Limits
	vertices []float64 // x, y, z
	passed   int64     // number of vertices before the current line
	early    bool      // a face is before one of its vertices
	again    bool      // the file is read again, with all vertices known, because of early faces
	missing  int       // number of vertices with a coordinate that is not finite
	// red, green, blue of each vertex, NaN if it has none; nil while no vertex has a color
	colors      []float32
	brightest   float32  // maximum of all channels
	polypainted int      // number of vertices with a color of ZBrush
	corners     []uint32 // three vertices of each triangle
	runs        []materialRun
	materials   map[string]uint32
	material    string // the material being defined
	hasSurfaces bool   // the file has curved surfaces, which are not supported

	polygon      []uint32
	points       [][3]float64
	emitTriangle func(a, b, c int) // appends a triangle of polygon
}

// materialRun is a run of triangles with the same material.
type materialRun struct {
	first int // index into corners
	color uint32
}

func (o *file) statement(line []byte) error {
	keyword, rest := textscan.CutWord(line)
	switch string(keyword) {
	case "v":
		return o.vertex(rest)
	case "f", "fo":
		return o.face(rest)
	case "usemtl":
		o.useMaterial(rest)
	case "newmtl", "Kd", "d", "Tr":
		return o.defineMaterial(keyword, rest)
	case "#MRGB":
		o.polypaint(rest)
	case "curv", "surf":
		o.hasSurfaces = true
	}
	return nil
}

// vertex reads x y z, followed by w (ignored), or by red green blue and possibly alpha (ignored).
func (o *file) vertex(rest []byte) error {
	o.passed++
	if o.again {
		return nil
	}
	if most := 3 * o.limits.Triangles; int64(len(o.vertices)/3) >= most {
		return mesh.Errorf(mesh.TooLarge, "The OBJ file has too many vertices: at most %d are supported.", most)
	}
	var n [6]float64
	count := 0
	for ; count < len(n); count++ {
		var w []byte
		if w, rest = textscan.CutWord(rest); len(w) == 0 || w[0] == '#' {
			break
		}
		x, ok := textscan.ParseFloat(w)
		switch {
		case ok:
			n[count] = x
		case count < 3 && !textscan.NotFinite(w):
			return mesh.Errorf(mesh.Malformed, "Line %d of the OBJ file has %s where a coordinate is expected.", o.Number,
				textscan.Quote(w))
		default:
			n[count] = math.NaN()
		}
	}
	if count < 3 {
		return mesh.Errorf(mesh.Malformed, "Line %d of the OBJ file has a vertex with %d coordinates in place of three.",
			o.Number, count)
	}
	for _, x := range n[:3] {
		if math.Abs(x) > geometry.MaxCoordinate {
			return mesh.Errorf(mesh.Malformed, "Line %d of the OBJ file has a coordinate farther than %g from zero.", o.Number,
				geometry.MaxCoordinate)
		}
	}
	o.vertices = append(o.vertices, n[0], n[1], n[2])
	if o.isMissing(uint32(len(o.vertices)/3 - 1)) {
		o.missing++
	}
	if count == len(n) {
		o.color([3]float64(n[3:]))
	} else if o.colors != nil {
		o.colors = append(o.colors, nan, nan, nan)
	}
	return nil
}

var nan = float32(math.NaN())

// isMissing reports whether a vertex has a coordinate that is not finite.
func (o *file) isMissing(v uint32) bool { return !geometry.Finite([3]float64(o.vertices[3*v : 3*v+3])) }

// color sets the color of the last vertex.
func (o *file) color(c [3]float64) {
	o.growColors(len(o.vertices) - 3)
	for _, x := range c {
		o.colors = append(o.colors, float32(x))
		if float32(x) > o.brightest {
			o.brightest = float32(x)
		}
	}
}

// face reads the corners of a polygon. It ignores the texture coordinate and the normal after the
// slashes. It leaves out a face that is before one of its vertices: then the file is read again.
func (o *file) face(rest []byte) error {
	o.polygon = o.polygon[:0]
	known := int64(len(o.vertices) / 3)
	for {
		var w []byte
		if w, rest = textscan.CutWord(rest); len(w) == 0 || w[0] == '#' {
			break
		}
		number := w
		if slash := bytes.IndexByte(w, '/'); slash >= 0 {
			number = w[:slash]
		}
		index, ok := textscan.ParseInt(number)
		v := index - 1
		if index < 0 {
			v = o.passed + index
		}
		if ok && v >= known && !o.again {
			o.early = true
			return nil
		}
		if !ok || index == 0 || v < 0 || v >= known {
			return mesh.Errorf(mesh.Malformed,
				"Line %d of the OBJ file has a face with vertex %s, where %d vertices are known, counted from 1.",
				o.Number, textscan.Quote(number), known)
		}
		o.polygon = append(o.polygon, uint32(v))
	}
	n := len(o.polygon)
	if n < 3 {
		return nil // a point or an edge, which some programs write as a face
	}
	if o.missing > 0 && slices.ContainsFunc(o.polygon, o.isMissing) {
		return nil
	}
	if int64(len(o.corners)/3+n-2) > o.limits.Triangles {
		return mesh.Errorf(mesh.TooLarge, "The OBJ file has too many triangles: at most %d are supported.",
			o.limits.Triangles)
	}
	if n == 3 {
		o.corners = append(o.corners, o.polygon...)
		return nil
	}
	o.points = o.points[:0]
	for _, v := range o.polygon {
		o.points = append(o.points, [3]float64(o.vertices[3*v:3*v+3]))
	}
	if o.emitTriangle == nil {
		o.emitTriangle = func(a, b, c int) { o.corners = append(o.corners, o.polygon[a], o.polygon[b], o.polygon[c]) }
	}
	geometry.Triangulate(o.points, o.emitTriangle)
	return nil
}

// finish builds the mesh.
func (o *file) finish(ctx context.Context) (*mesh.Mesh, error) {
	vertices := len(o.vertices) / 3
	switch {
	case len(o.corners) > 0:
	case o.hasSurfaces:
		return nil, mesh.Errorf(mesh.Unsupported, "The OBJ file has no faces, only curved surfaces, which are not supported.")
	case vertices == 0:
		return nil, mesh.Errorf(mesh.Empty, "The OBJ file has no vertices.")
	case vertices == o.missing:
		return nil, mesh.Errorf(mesh.Malformed,
			"None of the %d vertices of the OBJ file has coordinates that are finite numbers.", vertices)
	}
	s := &geometry.Shape{Vertices: o.vertices, Corners: o.corners}
	if len(o.corners) == 0 {
		for v := range uint32(vertices) {
			if !o.isMissing(v) {
				s.Output(v, o.colorOf(v, geometry.NoColor))
			}
		}
	}
	color, runs := uint32(geometry.NoColor), o.runs
	for i, v := range s.Corners {
		for len(runs) > 0 && runs[0].first <= i {
			color, runs = runs[0].color, runs[1:]
		}
		s.Corners[i] = s.Output(v, o.colorOf(v, color))
		if i&0xFFFF == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	m := &mesh.Mesh{Format: mesh.OBJ, Unit: 1, Cloud: len(s.Corners) == 0}
	err := geometry.Assemble(ctx, "OBJ", m, s.Triangles(), len(s.Sources),
		func(visit func(*geometry.Shape, geometry.Transform) error) error { return visit(s, geometry.Identity) })
	if err != nil {
		return nil, err
	}
	if m.Cloud {
		m.Indices = nil
	}
	return m, nil
}
