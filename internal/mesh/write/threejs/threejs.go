// Package threejs writes meshes as the JSON that three.js reads with ObjectLoader (JSON Object Scene format 4).
package threejs

import (
	"errors"
	"io"
	"math"
	"strconv"

	"github.com/meshyard/meshyard/internal/mesh"
)

// Options are what the mesh does not know of itself.
type Options struct {
	Decimated bool // the mesh has fewer triangles than its file
	Triangles int  // of the file
}

// Identifiers of the three parts. They need be unique in one document only.
const (
	geometryID = "6d657368-7961-4264-8001-67656f6d0001"
	materialID = "6d657368-7961-4264-8001-6d6174650001"
	objectID   = "6d657368-7961-4264-8001-6f626a650001"
)

// ErrNotFinite tells of a number in the mesh that JSON cannot write.
var ErrNotFinite = errors.New("the mesh has a number that is not finite")

// Write writes a mesh as one Mesh, or Points where it is a cloud, in the coordinates and the unit of its file; its matrix adds the origin.
// Normals are written where the mesh has them (see mesh.Shaded), with four decimals; positions as the shortest decimals that give the same
// single-precision numbers; colours as light. The userData of the object tell millimetersPerUnit, upAxis ("Y" or "Z"), format, decimated
// and triangles. The same mesh gives the same bytes. It needs little memory beside the mesh. What was written before an error is no
// document.
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

// attribute starts an attribute up to its numbers.
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
	e.text(`"object":{"uuid":"` + objectID + `","type":"` + kind + `","geometry":"` + geometryID + `","material":"` + materialID +
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

// translucent tells whether something shines through a colour.
func translucent(colors []uint8) bool {
	for c := colors; len(c) >= 4; c = c[4:] {
		if c[3] != 255 {
			return true
		}
	}
	return false
}
