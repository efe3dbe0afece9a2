package preview

import (
	"context"
	"errors"
	"image"
	"io"

	"github.com/klauspost/compress/gzip"

	"github.com/meshyard/meshyard/internal/image/thumbnail"
	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decimate"
	"github.com/meshyard/meshyard/internal/mesh/decode"
	"github.com/meshyard/meshyard/internal/mesh/measure"
	"github.com/meshyard/meshyard/internal/mesh/render"
	"github.com/meshyard/meshyard/internal/mesh/write/glb"
	"github.com/meshyard/meshyard/internal/mesh/write/threejs"
	"github.com/meshyard/meshyard/internal/project"
	"github.com/meshyard/meshyard/internal/sliced"
)

const (
	// width and height are the dimensions of the rendering from which all other sizes are scaled.
	width, height = 1200, 900
	// maxThreejs is the maximum number of triangles of the three.js JSON.
	maxThreejs = 200_000
	// baseMemory is the memory that a preview of the smallest mesh takes: the program, the image and
	// the samples.
	baseMemory = 150 << 20
)

// Source is the content of a file.
type Source struct {
	io.ReaderAt
	Size int64
}

// Put stores a part. It calls write to produce the content of the part.
type Put func(part Part, write func(io.Writer) error) error

// bytesPerTriangle is the peak memory that processing a mesh takes for each triangle.
const bytesPerTriangle = 130

// LimitsFor returns limits with which a preview takes about the given amount of memory at most.
func LimitsFor(memory int64) mesh.Limits {
	limits := mesh.DefaultLimits
	left := max(1, memory-baseMemory)
	limits.Triangles = min(limits.Triangles, max(1, left/bytesPerTriangle))
	limits.Textures = min(limits.Textures, max(1, left/3*2)) // the rest is for the buffers of a file
	return limits
}

// imageMemory returns how much memory decoding an image may take: all that LimitsFor leaves.
func imageMemory(limits mesh.Limits) int64 { return limits.Textures / 2 * 3 }

// fitTextures downscales the textures of a mesh so that writing them takes no more memory than the
// triangles that the mesh could still have. It removes them if they would take more in any case.
func fitTextures(m *mesh.Mesh, limits mesh.Limits) {
	const perTriangle, perPatch, perByte = 300, 250, 2
	left := (limits.Triangles-int64(m.Triangles()))*bytesPerTriangle - int64(m.Triangles())*perTriangle - int64(
		len(m.Patches))*perPatch
	images := map[*mesh.Image]bool{}
	total, side := int64(0), 0
	for i := range m.Patches {
		img := m.Patches[i].Texture.Image
		if !images[img] {
			images[img] = true
			width, height := img.Size()
			total, side = total+img.Memory(), max(side, width, height)
		}
	}
	for ; total*perByte > left && side > 1; side /= 2 {
		total = 0
		for img := range images {
			*img = *img.Within(side / 2)
			total += img.Memory()
		}
	}
	if total*perByte > left {
		m.Patches = nil
	}
}

// Derive creates all parts of the preview of a file of the given subject and passes each to put,
// which calls write at most once. It reports the progress of each stage, from 0 to 1. It returns a
// *mesh.Error if the file is invalid or exceeds the limits; other errors come from put, src or ctx.
// The result has no parts if there is nothing to show, which is no error: most G-code files have no
// image.
func Derive(ctx context.Context, src Source, subject Subject, limits mesh.Limits, put Put,
	progress func(stage string, done float64)) (Result, error) {
	switch subject {
	case Image:
		progress("decode", 0)
		img, err := thumbnail.Decode(src, src.Size, imageMemory(limits))
		if err != nil {
			return Result{}, asMeshError(err)
		}
		progress("draw", 0.5)
		return putImage(img, put)
	case GCode:
		progress("read", 0)
		facts, picture, err := sliced.Read(src, src.Size)
		if err != nil {
			return Result{}, err
		}
		image, err := decodeEmbedded(picture, limits)
		if err != nil {
			return Result{}, err
		}
		r, err := putEmbedded(image, put)
		if !facts.Empty() {
			r.Printing = (&Printing{Sliced: &facts}).bounded()
		}
		return r, err
	case Design:
		progress("read", 0)
		picture, err := embeddedPicture(ctx, src, limits)
		if err != nil {
			return Result{}, err
		}
		image, err := decodeEmbedded(picture, limits)
		if err != nil {
			return Result{}, err
		}
		return putEmbedded(image, put)
	}
	if mesh.Format(subject) == mesh.ThreeMF {
		return deriveProject(ctx, src, subject, limits, put, progress)
	}
	return deriveMesh(ctx, src, subject, nil, limits, put, progress)
}

// deriveProject makes the preview of a 3MF file, which may be the project of a slicer. The image is
// that of the first plate if the project has one, and else a rendering. A sliced project may have
// no meshes.
func deriveProject(ctx context.Context, src Source, subject Subject, limits mesh.Limits, put Put,
	progress func(stage string, done float64)) (Result, error) {
	facts, picture, err := project.Read(ctx, decode.Source{ReaderAt: src, Size: src.Size}, limits)
	if _, bad := errors.AsType[*mesh.Error](err); err != nil && !bad {
		return Result{}, err
	}
	var image image.Image
	if len(facts.Plates) > 0 {
		if image, err = decodeEmbedded(picture, limits); err != nil {
			return Result{}, err
		}
	}
	r, err := deriveMesh(ctx, src, subject, image, limits, put, progress)
	if _, noMesh := errors.AsType[*mesh.Error](err); noMesh && facts.Sliced() {
		r, err = putEmbedded(image, put)
	}
	if err != nil {
		return Result{}, err
	}
	if !facts.Empty() {
		r.Printing = (&Printing{Project: &facts}).bounded()
	}
	return r, nil
}

// asMeshError converts an error of an image to a *mesh.Error. It returns other errors unchanged.
func asMeshError(err error) error {
	if bad, ok := errors.AsType[*thumbnail.Error](err); ok {
		return mesh.Errorf(mesh.Malformed, "%s", bad.Message)
	}
	return err
}

// putImage stores the image of a file: the file itself, or the one that is embedded in it.
func putImage(img image.Image, put Put) (Result, error) {
	whole, format := thumbnail.Normalize(img)
	size := whole.Bounds()
	r := Result{ImageFormat: format, Width: int32(size.Dx()), Height: int32(size.Dy())}
	return r, put(ImagePart(thumbnail.Full, format), func(w io.Writer) error { return thumbnail.Encode(w, whole, format) })
}

// decodeEmbedded decodes an image that is embedded in a file, which may be nil. The file is valid
// without it, so an image that cannot be decoded is ignored. Previews are not rendered from
// toolpaths.
func decodeEmbedded(picture []byte, limits mesh.Limits) (image.Image, error) {
	if picture == nil {
		return nil, nil
	}
	img, err := thumbnail.DecodeEmbedded(picture, imageMemory(limits))
	if _, bad := errors.AsType[*thumbnail.Error](err); bad {
		return nil, nil
	}
	return img, err
}

// putEmbedded stores an image, which may be nil, as the only part.
func putEmbedded(img image.Image, put Put) (Result, error) {
	if img == nil {
		return Result{}, nil
	}
	return putImage(img, put)
}

// deriveMesh makes the preview of a mesh. picture is its image; if it is nil, the mesh is rendered.
func deriveMesh(ctx context.Context, src Source, subject Subject, picture image.Image, limits mesh.Limits, put Put,
	progress func(stage string, done float64)) (Result, error) {
	at := func(stage string) func(float64) { return func(done float64) { progress(stage, done) } }
	m, err := decode.Decode(ctx, decode.Source{ReaderAt: src, Size: src.Size, Name: "file." + string(subject)}, limits,
		at("read"))
	if err != nil {
		return Result{}, err
	}
	shaded := m
	if render.Smooth(m) {
		shaded = m.Shaded(mesh.CreaseAngle)
	}
	var r Result
	if picture != nil {
		r, err = putImage(picture, put)
	} else {
		r, err = putRendering(ctx, shaded, put, at("draw"))
	}
	if err != nil {
		return Result{}, err
	}
	r.Threejs, r.GLB = true, true
	fitTextures(m, limits)
	shaded.Patches = m.Patches
	found, err := measure.Of(ctx, m, at("measure"))
	if err != nil {
		return Result{}, err
	}
	r.Mesh = &Mesh{
		Format: m.Format, Up: m.Up.String(), Triangles: int64(found.Triangles), Vertices: int64(found.Vertices),
		Components: int64(found.Components),
		Min:        found.Box.Min, Max: found.Box.Max, Size: found.Size, Volume: found.Volume, Area: found.Area,
		Watertight: found.Watertight,
		Manifold:   found.Manifold, Fingerprint: found.Fingerprint, Keys: found.Keys, Descriptor: found.Descriptor,
	}
	if err := keepModel(ctx, m, shaded, r.Mesh, put, at); err != nil {
		return Result{}, err
	}
	return r, nil
}

// putRendering renders a mesh and stores the image.
func putRendering(ctx context.Context, shaded *mesh.Mesh, put Put, progress func(float64)) (Result, error) {
	img, err := render.Render(ctx, shaded, render.Options{Width: width, Height: height, Progress: progress})
	if err != nil {
		return Result{}, err
	}
	r := Result{ImageFormat: thumbnail.PNG, Width: width, Height: height}
	return r, put(ImagePart(thumbnail.Full, thumbnail.PNG),
		func(w io.Writer) error { return thumbnail.Encode(w, img, thumbnail.PNG) })
}

// keepModel stores a mesh as GLB and as three.js JSON. The latter has no textures, and is decimated
// to at most maxThreejs triangles, which browsers can display smoothly. shaded is the mesh with
// normals, if they are computed yet.
func keepModel(ctx context.Context, m, shaded *mesh.Mesh, about *Mesh, put Put,
	at func(stage string) func(float64)) error {
	if shaded.Normals == nil {
		shaded = m.Shaded(mesh.CreaseAngle)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	at("write GLB")(0)
	err := put(GLB, func(w io.Writer) (err error) {
		about.Textured, err = glb.Write(w, shaded, glb.Options{})
		return err
	})
	if err != nil {
		return err
	}
	m.Patches, shaded.Patches = nil, nil // frees the textures
	small := shaded
	if n := max(m.Triangles(), cloudPoints(m)); n > maxThreejs {
		fewer, err := decimate.To(ctx, m, maxThreejs, at("decimate"))
		if err != nil {
			return err
		}
		small, about.Decimated = fewer.Shaded(mesh.CreaseAngle), true
	}
	at("write three.js JSON")(0)
	return put(Threejs, func(w io.Writer) error {
		z := gzip.NewWriter(w)
		return errors.Join(threejs.Write(z, small, threejs.Options{Decimated: about.Decimated, Triangles: m.Triangles()}),
			z.Close())
	})
}

func cloudPoints(m *mesh.Mesh) int {
	if m.Cloud {
		return m.Vertices()
	}
	return 0
}

// SameShape reports whether two meshes have the same shape.
func SameShape(a, b *Mesh) bool { return measure.Same(a.Descriptor, b.Descriptor) }
