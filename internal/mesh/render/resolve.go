package render

import (
	"context"
	"image"
)

// resolve computes pixels from samples.
func (r *raster) resolve(ctx context.Context, c *camera, g *ground) (*image.NRGBA, error) {
	img := image.NewNRGBA(image.Rect(0, 0, r.width/samples, r.height/samples))
	d, steps := r.steps(c)
	up := vector(c.up)
	for y := range d.height {
		if y%64 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		sky, floor := skyAt(float32(y)/float32(d.height)), g.line(float64(y*samples)+1)
		for x := range d.width {
			at := d.at(x, y)
			var pixel shade
			bare := float32(samples * samples)
			if d.z[at] != nothing {
				pixel, bare = r.pixel(y*samples*r.width+x*samples, up, d.relief(at, steps))
			}
			if bare > 0 {
				pixel = pixel.plus(sky, bare*(1-0.42*g.under(floor, float64(x*samples)+1)))
			}
			pixel = shade{0.5, 0.5, 0.5}.plus(pixel, 1./(samples*samples)) // the mean, to be truncated
			p := img.Pix[4*(y*d.width+x):][:4:4]
			p[0], p[1], p[2], p[3] = uint8(pixel.r), uint8(pixel.g), uint8(pixel.b), 255
		}
	}
	return img, nil
}

// shade is a color or a sum of colors, in sRGB from 0 to 255.
type shade struct{ r, g, b float32 }

// plus returns the sum of a color and n times another.
func (s shade) plus(c shade, n float32) shade {
	return shade{s.r + n*c.r, s.g + n*c.g, s.b + n*c.b}
}

func skyAt(part float32) shade {
	return skyTop.plus(shade{skyLow.r - skyTop.r, skyLow.g - skyTop.g, skyLow.b - skyTop.b}, part)
}

// pixel sums the light of the samples of a pixel, whose upper left sample is first, and counts
// empty samples.
func (r *raster) pixel(first int, up direction, relief float32) (total shade, bare float32) {
	if j := first + r.width; r.color == nil && r.near[first] != 0 && r.near[first+1] != 0 && r.near[j] != 0 &&
		r.near[j+1] != 0 {
		if facing, ok := average(r.facing[first], r.facing[first+1], r.facing[j], r.facing[j+1]); ok {
			return total.plus(lit(material, facing, up, relief), samples*samples), 0
		}
	}
	var facing, paint uint32 // of the sample before, which is often the same
	var color shade
	for s := range samples * samples {
		i := first + s/samples*r.width + s%samples
		if r.near[i] == 0 {
			bare++
			continue
		}
		if r.facing[i] != facing || r.color != nil && r.color[i] != paint {
			facing = r.facing[i]
			base := material
			if r.color != nil {
				paint = r.color[i]
				base = shade{float32(paint & 255), float32(paint >> 8 & 255), float32(paint >> 16 & 255)}
			}
			color = lit(base, unpack(facing), up, relief)
		}
		total = total.plus(color, 1)
	}
	return total, bare
}
