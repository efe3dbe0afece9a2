package decode

import (
	"context"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
)

// checked is a reader as Read calls it.
func checked(format mesh.Format) reader {
	return func(ctx context.Context, src Source, limits mesh.Limits, progress func(float64)) (*mesh.Mesh, error) {
		m, err := readerOf[format](ctx, src, limits, rising(progress))
		if err == nil {
			err = check(m, title(format), limits)
		}
		if err != nil {
			return nil, err
		}
		return m, nil
	}
}

func FuzzSTL(f *testing.F) {
	f.Add([]byte("solid a\n" + facetText + "endsolid\n"))
	f.Add([]byte("SOLID\n" + strings.ReplaceAll(strings.ToUpper(facetText), " 0", " 1e9") + "ENDSOLID"))
	f.Add(binarySTLOf("solid", 2, facet{[9]float32{3: 1, 7: 1}, 0x8001}, facet{[9]float32{float32(math.NaN())}, 0}))
	f.Add(binarySTLOf("COLOR=rgba", 1, facet{[9]float32{3: 1, 7: 1}, 31}))
	fuzz(f, "stl", checked(mesh.STL))
}

func FuzzPLY(f *testing.F) {
	f.Add([]byte(plainPLY))
	f.Add([]byte(headerText + "element face 1\nproperty list int uint vertex_indices\n" + vertexHeader + "property float red\nproperty float green\nproperty float blue\n" +
		"end_header\n4 0 1 2 3\n" + strings.ReplaceAll(vertexText, "\n", " 1 .5 nan\n")))
	f.Add([]byte(headerText + vertexHeader + "element tristrips 1\nproperty list int int vertex_indices\nproperty uchar red\nproperty uchar green\nproperty uchar blue\n" +
		"end_header\n" + strings.ReplaceAll(vertexText, "1", "1e9") + "8 0 1 2 -1 0 2 3 -1 7 8 9"))
	f.Add(plyBytes(binary.LittleEndian, vertexHeader+"element camera 1\nproperty list short double a\nproperty char b\n"+faceHeader,
		[12]float32{3: 1, 6: 1, 7: 1, 10: 1}, int16(1), float64(1), int8(1), uint8(3), [3]int32{0, 1, 2}, uint8(3), [3]int32{0, 2, 3}))
	f.Add(plyBytes(binary.BigEndian, "element vertex 3\nproperty double x\nproperty double y\nproperty double z\n", [9]float64{1e9, 1e9, 1e9, 3: 1e9 + 1}))
	fuzz(f, "ply", checked(mesh.PLY))
}

func FuzzOFF(f *testing.F) {
	f.Add([]byte(plainOFF))
	f.Add([]byte("STCNOFF # far\n3 1 0\n1e9 1e9 0 0 0 1 1 0 0 .5 1 1\n1e9 1 0 0 0 1 1 0 0 .5 1 1\n1 1e9 0 0 0 1 1 0 0 .5 1 1\n3 0 1 2 255 0 0\n"))
	f.Add([]byte("OFF 8 1\n0 0 0\n2 0 0\n2 2 0\n1 1 0\n0 2 0\n8 8 8\n9 9 9\n7 7 7\n5 0 1 2 3 4 .5 .5 .5\n"))
	fuzz(f, "off", checked(mesh.OFF))
}
