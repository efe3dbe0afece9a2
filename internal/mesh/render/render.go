// Package render draws a mesh as a picture: in software, on one processor, and to the same bytes each time.
package render

import (
	"context"
	"image"

	"github.com/meshyard/meshyard/internal/mesh"
)

// Options say how a picture is made. The zero value of all but the sizes is right.
type Options struct {
	Width, Height int // pixels, 16 to 4096
	// Progress is told how much is done, from 0 to 1; it may be nil.
	Progress func(done float64)
}

const (
	// samples are taken in each pixel, so many across and down.
	samples = 2
	// smoothUpTo is the largest number of triangles that get normals of their own for each corner. Those of larger meshes are about as small as
	// pixels, and flat shading shows the same.
	smoothUpTo = 200_000
	// askEvery is after how many triangles, or rows, the context is asked.
	askEvery = 1 << 14
)

// Render draws a mesh on a light ground, seen from the front right and above, as large as fits. The only error is that of the context. Beyond the mesh it takes some 14 bytes a
// sample, of which there are four a pixel.
func Render(ctx context.Context, m *mesh.Mesh, o Options) (*image.NRGBA, error) {
	progress := o.Progress
	if progress == nil {
		progress = func(float64) {}
	}
	if !m.Cloud && m.Normals == nil && m.Triangles() <= smoothUpTo {
		m = m.Shaded(mesh.CreaseAngle)
	}
	progress(0.1)
	c := look(m, o.Width*samples, o.Height*samples)
	ground := newGround(c)
	r, err := rasterize(ctx, m, c, ground, func(done float64) { progress(0.1 + 0.6*done) })
	if err != nil {
		return nil, err
	}
	ground.soften()
	progress(0.75)
	img, err := r.resolve(ctx, c, ground)
	progress(1)
	return img, err
}

// rasterize finds what is seen of a mesh.
func rasterize(ctx context.Context, m *mesh.Mesh, c *camera, g *ground, progress func(float64)) (*raster, error) {
	r := newRaster(int(c.width), int(c.height), m.Colors != nil)
	if m.Cloud {
		return r, r.points(ctx, m, c, g, progress)
	}
	if err := r.triangles(ctx, m, c, g, progress); err != nil {
		return nil, err
	}
	return r, r.lines(ctx, m, c)
}
