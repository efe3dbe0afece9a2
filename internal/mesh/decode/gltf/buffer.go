package gltf

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/textscan"
)

// bufferView is a section of a buffer.
type bufferView struct {
	Buffer     ref
	ByteOffset integer
	ByteLength integer
	ByteStride integer
	Extensions struct {
		EXT *meshoptView `json:"EXT_meshopt_compression"`
		KHR *meshoptView `json:"KHR_meshopt_compression"`
	}
}

// meshopt returns how the view is compressed, or nil if it is not.
func (v *bufferView) meshopt() *meshoptView { return cmp.Or(v.Extensions.KHR, v.Extensions.EXT) }

// reserve counts the memory for decoded elements against the budget: views may overlap, and
// accessors may have no bytes in the file, so the file size alone does not bound it.
func (f *file) reserve(count, size int64) error {
	if size > 0 && count > f.budget/size {
		return mesh.Errorf(mesh.TooLarge,
			"The %s file has buffer views that overlap, or accessors without one, of too many bytes.", f.name)
	}
	f.budget -= count * size
	return nil
}

// accessorBytes returns the bytes of an accessor in a buffer view, and the stride.
func (f *file) accessorBytes(r ref, offset, count, size int64, accessor int) ([]byte, int, error) {
	i, ok := f.index(r, len(f.bufferViews))
	if !ok {
		return nil, 0, f.missingIndex("buffer view", r, len(f.bufferViews))
	}
	b, err := f.viewBytes(i)
	if err != nil {
		return nil, 0, err
	}
	stride := size
	if s := int64(f.bufferViews[i].ByteStride); s != 0 {
		stride = s
	}
	there := int64(len(b)) - offset
	if count > 0 && (stride < size || there < size || count-1 > (there-size)/stride) {
		return nil, 0, mesh.Errorf(mesh.Malformed,
			"Accessor %d of the %s file has %d elements of %d bytes, %d apart, from byte %d of a buffer view of %d.", accessor,
			f.name,
			count, size, stride, offset, len(b))
	}
	if count == 0 {
		return nil, int(stride), nil
	}
	return b[offset:], int(stride), nil
}

// viewBytes returns the bytes of a buffer view, which stay in memory.
func (f *file) viewBytes(i int) ([]byte, error) {
	if b, ok := f.viewCache[i]; ok {
		return b, nil
	}
	b, err := f.readView(i)
	if err == nil {
		f.viewCache[i] = b
		if v := &f.bufferViews[i]; v.meshopt() != nil || f.inChunk(v.Buffer) {
			f.cached += int64(len(b)) // others are part of a buffer
		}
	}
	return b, err
}

// readView reads a buffer view, and decompresses it if necessary.
func (f *file) readView(i int) ([]byte, error) {
	v := &f.bufferViews[i]
	if c := v.meshopt(); c != nil {
		return f.decompressView(i, c)
	}
	return f.section(i, v.Buffer, int64(v.ByteOffset), int64(v.ByteLength))
}

// inChunk reports whether a buffer is the binary chunk of a GLB.
func (f *file) inChunk(buffer ref) bool {
	return buffer == 1 && f.chunk != nil && f.buffers[0].URI == ""
}

// section returns the bytes of a section of a buffer, which buffer view i names.
func (f *file) section(i int, r ref, from, length int64) ([]byte, error) {
	buffer, ok := f.index(r, len(f.buffers))
	if !ok {
		return nil, f.missingIndex("buffer", r, len(f.buffers))
	}
	inChunk := f.inChunk(r)
	size, whole := int64(0), []byte(nil)
	if inChunk {
		size = f.chunk.Size()
	} else {
		var err error
		if whole, err = f.bufferBytes(buffer); err != nil {
			return nil, err
		}
		size = int64(len(whole))
	}
	if from > size || length > size-from {
		return nil, mesh.Errorf(mesh.Malformed,
			"Buffer view %d of the %s file is of %d bytes from byte %d, where its buffer has %d.", i, f.name,
			length, from, size)
	}
	if inChunk {
		return f.readUpTo(io.NewSectionReader(f.chunk, from, length), length)
	}
	return whole[from : from+length], nil
}

// bufferBytes returns the bytes of a buffer that is embedded in the JSON.
func (f *file) bufferBytes(i int) ([]byte, error) {
	if b, ok := f.bufferCache[i]; ok {
		return b, nil
	}
	uri := f.buffers[i].URI
	if uri == "" {
		return nil, mesh.Errorf(mesh.Malformed, "Buffer %d of the %s file has no bytes.", i, f.name)
	}
	r, most, err := f.openURI(uri, fmt.Sprintf("buffer %d", i))
	if err != nil {
		return nil, err
	}
	b, err := f.readUpTo(r, min(most, int64(f.buffers[i].ByteLength)))
	if err == nil {
		f.bufferCache[i] = b
		f.cached += int64(len(b))
	}
	return b, err
}

// openURI returns a reader of the data URI and an upper bound of its length. Other URIs are an
// error: Decode never opens external resources.
func (f *file) openURI(uri, what string) (io.Reader, int64, error) {
	if !strings.HasPrefix(uri, dataScheme) {
		return nil, 0, mesh.Errorf(mesh.Unsupported,
			"The %s file keeps %s in another file, %s, and only what is inside of it is read: pack it as GLB.", f.name, what,
			textscan.Quote([]byte(uri)))
	}
	var from, length int64
	if _, err := fmt.Sscanf(uri, dataScheme+"%d,%d", &from, &length); err != nil || from < 0 || length < 0 ||
		from > f.text.Size-length {
		return nil, 0, mesh.Errorf(mesh.Malformed, "The %s file has a data URI that cannot be read in %s.", f.name, what)
	}
	r, ok := decodeURI(f.text, from, length)
	if !ok {
		return nil, 0, mesh.Errorf(mesh.Unsupported, "The %s file has a data URI for %s that is not in base64.", f.name, what)
	}
	return r, length/4*3 + 3, nil
}

// readUpTo reads up to length bytes, fewer at the end of the data.
func (f *file) readUpTo(r io.Reader, length int64) ([]byte, error) {
	if err := f.reserve(length, 1); err != nil {
		return nil, err
	}
	b := make([]byte, length)
	done := 0
	for done < len(b) {
		if err := f.ctx.Err(); err != nil {
			return nil, err
		}
		n, err := io.ReadFull(r, b[done:min(len(b), done+1<<20)])
		done += n
		var corrupt base64.CorruptInputError
		switch {
		case errors.As(err, &corrupt):
			return nil, mesh.Errorf(mesh.Malformed, "A data URI of the %s file is not valid base64 from byte %d on.", f.name,
				int64(corrupt))
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			return b[:done], nil
		case err != nil:
			return nil, err
		}
	}
	return b, nil
}
