// Package glb writes a mesh as GLB.
package glb

import (
	"io"

	"github.com/meshyard/meshyard/internal/mesh"
)

type Options struct{}

func Write(w io.Writer, m *mesh.Mesh, _ Options) error {
	_, err := w.Write([]byte("glTF"))
	return err
}
