package gltf

import (
	"errors"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/meshopt"
)

// meshoptView is the extension EXT_meshopt_compression or KHR_meshopt_compression: the compressed
// data of a buffer view. The buffer of the view itself is for readers that do not know the
// extension, and may have no bytes.
type meshoptView struct {
	Buffer     ref
	ByteOffset integer
	ByteLength integer
	ByteStride integer
	Count      integer
	Mode       meshopt.Mode
	Filter     meshopt.Filter
}

// decompressView returns the decompressed bytes of buffer view i.
func (f *file) decompressView(i int, v *meshoptView) ([]byte, error) {
	b, err := f.section(i, v.Buffer, int64(v.ByteOffset), int64(v.ByteLength))
	if err != nil {
		return nil, err
	}
	count, stride := int64(v.Count), int64(v.ByteStride)
	if stride > 0 && count > f.compressed.Bytes/stride {
		return nil, mesh.Errorf(mesh.TooLarge, "The %s file decompresses to too many bytes in buffer view %d.", f.name, i)
	}
	f.compressed.Bytes -= count * stride
	b, err = meshopt.Decode(b, meshopt.Layout{Mode: v.Mode, Filter: v.Filter, Count: int(count), Stride: int(stride)})
	var told *mesh.Error
	if errors.As(err, &told) {
		return nil, mesh.Errorf(told.Reason, "The %s file has meshopt data in buffer view %d that %s.", f.name, i,
			told.Message)
	}
	return b, err
}
