// Package render draws a mesh as an image, in software and on one processor. The same mesh yields
// the same bytes.
package render

import (
	"context"
	"image"

	"github.com/meshyard/meshyard/internal/mesh"
)

// Options are the parameters of an image. Only the dimensions are required.
type Options struct {
	Width, Height int // in pixels, clamped to 16 to 4096
	// Progress is called with values from 0 to 1. It may be nil.
	Progress func(done float64)
}

const (
	// samples is the number of samples for each pixel in each direction.
	samples = 2
	// smoothUpTo is the maximum number of triangles for smooth shading. Triangles of larger meshes
	// are about as small as pixels, so flat shading looks the same.
	smoothUpTo = 200_000
	// askEvery is the amount of work, in samples, between checks of the context.
	askEvery = 1 << 14
)

// Render draws a mesh on a light ground, from the front right and above, as large as fits. The
// error is that of ctx, or a *mesh.Error if the faces overlap so much that drawing would take very
// long. In addition to the mesh, it needs about 14 bytes for each of the four samples of a pixel,
// and with smooth shading 44 bytes for each vertex and 10 for each triangle.
func Render(ctx context.Context, m *mesh.Mesh, o Options) (*image.NRGBA, error) {
	progress := o.Progress
	if progress == nil {
		progress = func(float64) {}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if m.Normals == nil && Smooth(m) {
		m = m.Shaded(mesh.CreaseAngle)
	}
	progress(0.1)
	width, height := min(max(o.Width, 16), 4096)*samples, min(max(o.Height, 16), 4096)*samples
	c := look(m, width, height)
	r := newRaster(width, height, m.Colors != nil)
	g := newGround(c)
	if err := r.draw(ctx, m, c, g, func(done float64) { progress(0.1 + 0.6*done) }); err != nil {
		return nil, err
	}
	g.soften()
	progress(0.75)
	img, err := r.resolve(ctx, c, g)
	progress(1)
	return img, err
}

// Smooth reports whether a mesh is drawn with the normals of mesh.Shaded. Render computes them if
// the mesh has none yet.
func Smooth(m *mesh.Mesh) bool { return !m.Cloud && m.Triangles() <= smoothUpTo }

func (r *raster) draw(ctx context.Context, m *mesh.Mesh, c *camera, g *ground, progress func(float64)) error {
	if m.Cloud {
		return r.points(ctx, m, c, g, progress)
	}
	if err := r.triangles(ctx, m, c, g, progress); err != nil || !r.thin() {
		return err
	}
	return r.strokes(ctx, m, c)
}
