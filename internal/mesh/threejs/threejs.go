// Package threejs writes a mesh as three.js JSON.
package threejs

import (
	"encoding/json"
	"io"

	"github.com/meshyard/meshyard/internal/mesh"
)

type Options struct {
	Decimated bool
	Triangles int
}

func Write(w io.Writer, m *mesh.Mesh, o Options) error {
	type o2 = map[string]any
	attrs := o2{"position": o2{"itemSize": 3, "type": "Float32Array", "array": m.Positions}}
	return json.NewEncoder(w).Encode(o2{"metadata": o2{"version": 4.6, "type": "Object"}, "geometries": []o2{{"uuid": "g", "type": "BufferGeometry", "data": o2{"attributes": attrs}}}, "userData": o2{"decimated": o.Decimated}})
}
