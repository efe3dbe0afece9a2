// Package decode makes meshes of files: STL, OBJ, 3MF, PLY, glTF, GLB, OFF and AMF, each from what its specification says and what programs
// write. It trusts nothing that a file says of itself: memory is taken for bytes that are there, and never for a number that was read.
package decode

import (
	"context"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/amf"
	"github.com/meshyard/meshyard/internal/mesh/decode/geometry"
	"github.com/meshyard/meshyard/internal/mesh/decode/gltf"
	"github.com/meshyard/meshyard/internal/mesh/decode/obj"
	"github.com/meshyard/meshyard/internal/mesh/decode/off"
	"github.com/meshyard/meshyard/internal/mesh/decode/ply"
	"github.com/meshyard/meshyard/internal/mesh/decode/source"
	"github.com/meshyard/meshyard/internal/mesh/decode/stl"
	"github.com/meshyard/meshyard/internal/mesh/decode/threemf"
)

// Source is the file to decode.
type Source = source.Source

// Read makes the mesh of a file. Its content decides the format where it can, the ending of its name else. Progress, which may be nil, is
// told how much is done, from 0 to 1 and never less than before. What is wrong with the file is a *mesh.Error; other errors are those of
// the source and of the context, which is asked often. A mesh that is given has a triangle or is a cloud with a point, all its positions
// are finite, all its indices are of its vertices, and it is within the limits.
func Decode(ctx context.Context, src source.Source, limits mesh.Limits, progress func(done float64)) (*mesh.Mesh, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if src.Size > limits.Bytes {
		return nil, mesh.Errorf(mesh.TooLarge, "The file has %d bytes, and meshes are made of at most %d.", src.Size, limits.Bytes)
	}
	format, err := detectFormat(src)
	if err != nil {
		return nil, err
	}
	tell := monotonic(progress)
	m, err := decoders[format](ctx, src, geometry.IndexableLimits(limits), tell)
	if err != nil {
		return nil, err
	}
	if err := geometry.Validate(m, format.Title(), limits); err != nil {
		return nil, err
	}
	switch format {
	case mesh.OBJ, mesh.OFF, mesh.PLY:
		m.Up = guessUp(m)
	}
	tell(1)
	return m, nil
}

// readerOf gives what reads a format.
var decoders = map[mesh.Format]func(context.Context, source.Source, mesh.Limits, func(float64)) (*mesh.Mesh, error){
	mesh.STL: stl.Decode, mesh.OBJ: obj.Decode, mesh.TMF: threemf.Decode, mesh.PLY: ply.Decode,
	mesh.GLTF: gltf.Decode, mesh.GLB: gltf.Decode, mesh.OFF: off.Decode, mesh.AMF: amf.Decode,
}

// rising makes a report that goes from 0 to 1 and never back of one that readers may call with anything.
func monotonic(progress func(float64)) func(float64) {
	last := -1.0
	return func(done float64) {
		if done = max(0, min(1, done)); done > last && progress != nil { // not a number is not more
			last = done
			progress(done)
		}
	}
}
