// Package threejs writes meshes as JSON for the ObjectLoader of three.js (JSON Object Scene format
// 4).
package threejs

import (
	"errors"
	"io"
	"math"
	"strconv"

	"github.com/meshyard/meshyard/internal/mesh"
)

// Options are properties of the file that the mesh does not contain.
type Options struct {
	Decimated bool // the mesh has fewer triangles than its file
	Triangles int  // in the file
}

// Identifiers of the three parts, unique within one document.
const (
	geometryID = "6d657368-7961-4264-8001-67656f6d0001"
	materialID = "6d657368-7961-4264-8001-6d6174650001"
	objectID   = "6d657368-7961-4264-8001-6f626a650001"
)

// ErrNotFinite reports a number in the mesh that JSON cannot represent.
var ErrNotFinite = errors.New("the mesh has a number that is not finite")

// Write writes a mesh as one Mesh, or Points for a cloud, in the coordinates and the unit of its
// file; the matrix adds the origin. It includes normals if the mesh has them (see mesh.Shaded),
// with four decimals, positions as the shortest decimals that parse to the same single-precision
// numbers, and colors as linear light. The userData of the object contain millimetersPerUnit,
// upAxis ("Y" or "Z"), format, decimated and triangles. The output is deterministic. Write needs
// little memory beyond the mesh. After an error the output is incomplete.
func Write(w io.Writer, m *mesh.Mesh, o Options) error {
	e := &encoder{w: w, b: make([]byte, 0, bufferSize)}
	e.text(`{"metadata":{"version":4.6,"type":"Object","generator":"Meshyard"},"geometries":[{"uuid":"` + geometryID +
		`","type":"BufferGeometry","data":{"attributes":{"position":`)
	e.attribute("Float32Array", 3)
	e.floats(m.Positions)
	e.text("]}")
	if m.Normals != nil {
		e.text(`,"normal":`)
		e.attribute("Float32Array", 3)
		e.normals(m.Normals)
		e.text("]}")
	}
	translucent := translucent(m.Colors)
	if m.Colors != nil {
		e.text(`,"color":`)
		channels := 3
		if translucent {
			channels = 4
		}
		e.attribute("Float32Array", channels)
		e.colors(m.Colors, channels)
		e.text("]}")
	}
	e.text("}")
	if m.Indices != nil {
		e.text(`,"index":`)
		kind := "Uint32Array"
		if m.Vertices() <= math.MaxUint16 {
			kind = "Uint16Array"
		}
		e.text(`{"type":"` + kind + `","array":[`)
		e.indices(m.Indices)
		e.text("]}")
	}
	e.text("}}],")
	e.material(m, translucent)
	e.object(m, o)
	return e.flush()
}

// attribute writes the start of an attribute, up to its numbers.
func (e *encoder) attribute(kind string, size int) {
	e.text(`{"itemSize":` + strconv.Itoa(size) + `,"type":"` + kind + `","array":[`)
}

func (e *encoder) material(m *mesh.Mesh, translucent bool) {
	kind := `"MeshStandardMaterial","roughness":0.7,"metalness":0,"side":2`
	if m.Cloud {
		kind = `"PointsMaterial","size":2,"sizeAttenuation":false`
	}
	e.text(`"materials":[{"uuid":"` + materialID + `","type":` + kind)
	if m.Colors != nil {
		e.text(`,"color":16777215,"vertexColors":true`)
	} else {
		e.text(`,"color":13421772`)
	}
	if translucent {
		e.text(`,"transparent":true`)
	}
	e.text("}],")
}

func (e *encoder) object(m *mesh.Mesh, o Options) {
	kind := "Mesh"
	if m.Cloud {
		kind = "Points"
	}
	e.text(`"object":{"uuid":"` + objectID + `","type":"` + kind + `","geometry":"` + geometryID + `","material":"` +
		materialID +
		`","matrix":[1,0,0,0,0,1,0,0,0,0,1,0`)
	for _, x := range m.Origin {
		e.text(",")
		e.number(x)
	}
	e.text(`,1],"userData":{"format":` + strconv.Quote(string(m.Format)) + `,"millimetersPerUnit":`)
	e.number(m.Unit)
	e.text(`,"upAxis":"` + m.Up.String() + `","decimated":` + strconv.FormatBool(o.Decimated))
	e.text(`,"triangles":` + strconv.Itoa(o.Triangles) + `}}}`)
}

// translucent reports whether a color is not opaque.
func translucent(colors []uint8) bool {
	for c := colors; len(c) >= 4; c = c[4:] {
		if c[3] != 255 {
			return true
		}
	}
	return false
}
