// Package decode reads mesh files: STL, OBJ, 3MF, PLY, glTF, GLB, OFF and AMF. It detects the
// format and calls the decoder of that format, which has a package of its own. The decoders follow
// the specifications and accept common deviations. They treat every file as hostile: they allocate
// memory for bytes that are present, never for a count that the file declares.
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

// Decode decodes a mesh file. It detects the format by content and, where that is ambiguous, by the
// extension of src.Name. It calls progress, which may be nil, with values that increase from 0 to
// 1.
//
// An error that the file causes is a *mesh.Error; other errors come from src or ctx. Decode checks
// ctx often.
//
// The mesh has at least one triangle, or is a point cloud with at least one point. All positions
// are finite, all indices refer to existing vertices, and the mesh is within the limits.
func Decode(ctx context.Context, src source.Source, limits mesh.Limits,
	progress func(done float64)) (*mesh.Mesh, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if src.Size > limits.Bytes {
		return nil, mesh.Errorf(mesh.TooLarge, "The file has %d bytes, and meshes are made of at most %d.", src.Size,
			limits.Bytes)
	}
	format, err := detectFormat(src)
	if err != nil {
		return nil, err
	}
	report := monotonic(progress)
	m, err := decoders[format](ctx, src, geometry.IndexableLimits(limits), report)
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
	report(1)
	return m, nil
}

// decoders holds the decoder of each format.
var decoders = map[mesh.Format]func(context.Context, source.Source, mesh.Limits, func(float64)) (*mesh.Mesh, error){
	mesh.STL: stl.Decode, mesh.OBJ: obj.Decode, mesh.ThreeMF: threemf.Decode, mesh.PLY: ply.Decode,
	mesh.GLTF: gltf.Decode, mesh.GLB: gltf.Decode, mesh.OFF: off.Decode, mesh.AMF: amf.Decode,
}

// monotonic returns a function that forwards to progress only values that are greater than all
// before, clamped to 0 to 1. Decoders may call it with any value.
func monotonic(progress func(float64)) func(float64) {
	last := -1.0
	return func(done float64) {
		if done = max(0, min(1, done)); done > last && progress != nil { // false for NaN
			last = done
			progress(done)
		}
	}
}
