package read

import (
	"context"

	"github.com/meshyard/meshyard/internal/mesh"
)

func readGLTF(context.Context, Source, mesh.Limits, func(float64)) (*mesh.Mesh, error) {
	return nil, mesh.Errorf(mesh.Unsupported, "The format is not read yet.")
}
