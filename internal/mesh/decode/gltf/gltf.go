// Package gltf decodes glTF 2.0 files, in JSON and in GLB form.
package gltf

import (
	"context"
	"encoding/binary"
	"io"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/draco"
	"github.com/meshyard/meshyard/internal/mesh/decode/geometry"
	"github.com/meshyard/meshyard/internal/mesh/decode/source"
	"github.com/meshyard/meshyard/internal/mesh/decode/texture"
)

// Constants of the GLB container (glTF 2.0 specification, 4.4).
const (
	magicGLB  = "glTF"
	chunkJSON = 0x4E4F534A
	chunkBIN  = 0x004E4942
)

// file is the state of decoding a glTF 2.0 file (Khronos Group, specification 2.0.1), as JSON or as
// GLB. It never opens other files or URLs: only data URIs and the binary chunk of a GLB are read.
type file struct {
	document
	ctx        context.Context
	name       string // glTF or GLB
	limits     mesh.Limits
	text       source.Source // the JSON
	chunk      *io.SectionReader
	budget     int64                // bytes of memory that may still be reserved
	compressed draco.Limits         // of all compressed data together
	placed     []geometry.Transform // of each node in the scene
	// Data that has been read, by index.
	cached       int64 // number of bytes in bufferCache and viewCache
	bufferCache  map[int][]byte
	viewCache    map[int][]byte
	textureCache map[int]*mesh.Texture
	imageCache   map[imageSource]*mesh.Image
	decoder      *texture.Decoder
	patches      int // number of patches of all shapes
}

// Decode decodes a glTF 2.0 file, as JSON or as GLB, which it detects by the first bytes. It
// returns the triangles of the default scene, without animations.
func Decode(ctx context.Context, src source.Source, limits mesh.Limits, progress func(float64)) (*mesh.Mesh, error) {
	f := &file{ctx: ctx, name: "glTF", limits: limits, text: src, budget: 4*src.Size + 1<<20,
		compressed:  compressedLimits(limits),
		bufferCache: map[int][]byte{}, viewCache: map[int][]byte{}, textureCache: map[int]*mesh.Texture{},
		imageCache: map[imageSource]*mesh.Image{}}
	m := &mesh.Mesh{Format: mesh.GLTF, Up: mesh.UpY, Unit: 1000}
	var magic [4]byte
	if _, err := src.ReadAt(magic[:], 0); err != nil && err != io.EOF {
		return nil, err
	}
	if string(magic[:]) == magicGLB {
		f.name, m.Format = "GLB", mesh.GLB
		if err := f.open(src); err != nil {
			return nil, err
		}
	}
	if progress == nil {
		progress = func(float64) {}
	}
	share := float64(f.text.Size) / float64(src.Size) // share of the JSON in the total work
	if err := f.readJSON(func(done float64) { progress(done * share / 2) }); err != nil {
		return nil, err
	}
	uses, err := f.sceneInstances()
	if err != nil {
		return nil, err
	}
	return m, f.fillMesh(m, uses, func(done float64) { progress(share/2 + done*(1-share/2)) })
}

// open finds the chunks of a GLB file.
func (f *file) open(src source.Source) error {
	header, err := f.readUint32s(src, 0, 3)
	if err != nil {
		return err
	}
	// Bytes behind the declared length are ignored.
	version, end := header[1], int64(header[2])
	switch {
	case version != 2:
		return mesh.Errorf(mesh.Unsupported, "The GLB file is of version %d, and only version 2 is read.", version)
	case end > src.Size:
		return mesh.Errorf(mesh.Malformed, "The GLB file declares a length of %d bytes, but it has %d.", end, src.Size)
	}
	chunks := int64(0)
	for at := int64(12); at < end; {
		if chunks++; chunks > f.limits.Elements {
			return mesh.Errorf(mesh.TooLarge, "The GLB file has more than %d chunks.", f.limits.Elements)
		}
		chunk, err := f.readUint32s(src, at, 2)
		if err != nil {
			return err
		}
		length, kind := int64(chunk[0]), chunk[1]
		at += 8
		if length > end-at {
			return mesh.Errorf(mesh.Malformed, "The GLB file has a chunk of %d bytes at byte %d, where %d are left.", length,
				at-8, max(0, end-at))
		}
		part := io.NewSectionReader(src, at, length)
		switch {
		case at == 20 && kind != chunkJSON:
			return mesh.Errorf(mesh.Malformed, "The GLB file has the chunk 0x%08X first, where its JSON is expected.", kind)
		case at == 20:
			f.text = source.Source{ReaderAt: part, Size: length, Name: src.Name}
		case kind == chunkBIN && f.chunk == nil:
			f.chunk = part
		}
		at += length
	}
	if f.text.Size == src.Size {
		return mesh.Errorf(mesh.Malformed, "The GLB file ends before its JSON.")
	}
	return nil
}

// readUint32s reads n little-endian 32-bit numbers.
func (f *file) readUint32s(src source.Source, at int64, n int) ([]uint32, error) {
	b := make([]byte, 4*n)
	if src.Size-at < int64(len(b)) {
		return nil, mesh.Errorf(mesh.Malformed, "The GLB file ends at byte %d, in the middle of a header.", src.Size)
	}
	if _, err := src.ReadAt(b, at); err != nil && err != io.EOF {
		return nil, err
	}
	words := make([]uint32, n)
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return words, f.ctx.Err()
}
