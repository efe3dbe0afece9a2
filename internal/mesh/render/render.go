// Package render draws a mesh as a picture: in software, on one processor, and to the same bytes each time.
package render

import (
	"context"
	"image"

	"github.com/meshyard/meshyard/internal/mesh"
)

// Options say how a picture is made. The zero value of all but the sizes is right.
type Options struct {
	Width, Height int // pixels, brought into 16 to 4096
	// Progress is told how much is done, from 0 to 1; it may be nil.
	Progress func(done float64)
}

const (
	// samples are taken in each pixel, so many across and down.
	samples = 2
	// smoothUpTo is the largest number of triangles that get normals of their own for each corner. Those of larger meshes are about as
	// small as pixels, and flat shading shows the same.
	smoothUpTo = 200_000
	// askEvery is after how much work, in samples, the context is asked.
	askEvery = 1 << 14
)

// Render draws a mesh on a light ground, seen from the front right and above, as large as fits. The
// error is that of the context, or a *mesh.Error where the faces overlap so much that drawing them
// would take very long. Beyond the mesh it takes some 14 bytes a sample, of which there are four a
// pixel.
func Render(ctx context.Context, m *mesh.Mesh, o Options) (*image.NRGBA, error) {
	progress := o.Progress
	if progress == nil {
		progress = func(float64) {}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !m.Cloud && m.Normals == nil && m.Triangles() <= smoothUpTo {
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

func (r *raster) draw(ctx context.Context, m *mesh.Mesh, c *camera, g *ground, progress func(float64)) error {
	if m.Cloud {
		return r.points(ctx, m, c, g, progress)
	}
	if err := r.triangles(ctx, m, c, g, progress); err != nil || !r.thin() {
		return err
	}
	return r.strokes(ctx, m, c)
}
