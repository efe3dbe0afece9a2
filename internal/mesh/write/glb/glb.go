// Package glb writes meshes as GLB, the binary form of glTF 2.0 (Khronos Group, specification
// 2.0.1).
package glb

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math"

	"github.com/meshyard/meshyard/internal/mesh"
)

// Options are the parameters of Write.
type Options struct {
	// Exact stores positions and normals in single precision. Otherwise positions are quantized
	// with an error of less than 1/65534 of the longest side of the box, and normals to 8 bits.
	// That halves the file but requires a reader with KHR_mesh_quantization.
	Exact bool
}

// Errors for a mesh that cannot be written.
var (
	ErrNotFinite = errors.New("the mesh has a number that is not finite")
	ErrEmpty     = errors.New("the mesh has no vertex")
	ErrTooLarge  = errors.New("the mesh needs more bytes than a GLB file can count")
)

// Constants of the container and of accessors (specification, 4.4, 3.6.2.2 and 5.11.5).
const (
	magic, version      = 0x46546C67, 2
	chunkJSON, chunkBIN = 0x4E4F534A, 0x004E4942
	int8s, int16s       = 5120, 5122
	uint16s, uint32s    = 5123, 5125
	float32s            = 5126
	vertexData, corners = 34962, 34963
)

// Write writes a mesh as one node with one mesh of one primitive: triangles, or points for a cloud.
// The triangles of each texture are another primitive. Write downscales the images of the textures
// until they take at most 32 MiB. If there are more than 1024 textures, it leaves all of them out.
// textured reports whether the file has textures. The node converts Z up to Y up and the unit to
// meters. Write includes normals if the mesh has them (see mesh.Shaded), and colors as linear
// light. The output is deterministic. If the mesh cannot be written, Write returns an error and
// writes nothing. It needs little memory beyond the mesh, or that of a copy if the mesh has
// textures.
func Write(w io.Writer, m *mesh.Mesh, o Options) (textured bool, err error) {
	if m.Vertices() == 0 {
		return false, ErrEmpty
	}
	l, err := newLayout(m, o)
	if err != nil {
		return false, err
	}
	text, err := json.Marshal(l.document())
	if err != nil {
		return false, err
	}
	for len(text)%4 != 0 {
		text = append(text, ' ')
	}
	total := 12 + 8 + int64(len(text)) + 8 + l.length
	if total > math.MaxUint32 {
		return false, ErrTooLarge
	}
	e := &encoder{w: w, b: make([]byte, 0, bufferSize)}
	for _, word := range []uint32{magic, version, uint32(total), uint32(len(text)), chunkJSON} {
		e.b = binary.LittleEndian.AppendUint32(e.b, word)
	}
	e.b = append(e.b, text...)
	for _, word := range []uint32{uint32(l.length), chunkBIN} {
		e.b = binary.LittleEndian.AppendUint32(e.b, word)
	}
	l.write(e)
	return len(l.pictures) > 0, e.flush()
}
