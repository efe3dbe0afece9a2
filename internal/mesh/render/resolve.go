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
		sky := skyAt(float32(y) / float32(d.height))
		for x := range d.width {
			at := d.at(x, y)
			total, bare := r.pixel(y*samples*r.width+x*samples, up, d.relief(at, steps))
			if bare > 0 {
				shaded := bare * (1 - 0.42*float32(g.under(float64(x*samples)+1, float64(y*samples)+1)))
				for k := range total {
					total[k] += shaded * sky[k]
				}
			}
			p := img.Pix[4*(y*d.width+x):][:4:4]
			for k, v := range total {
				p[k] = uint8(v/(samples*samples) + 0.5)
			}
			p[3] = 255
		}
	}
	return img, nil
}

func skyAt(part float32) (sky [3]float32) {
	for k := range sky {
		sky[k] = skyTop[k] + (skyLow[k]-skyTop[k])*part
	}
	return sky
}

// pixel sums the light of the samples of a pixel, whose upper left sample is first, and counts
// empty samples.
func (r *raster) pixel(first int, up direction, relief float32) (total [3]float32, bare float32) {
	if j := first + r.width; r.color == nil && r.near[first] != 0 && r.near[first+1] != 0 && r.near[j] != 0 && r.near[j+1] != 0 {
		if facing, ok := average(r.facing[first], r.facing[first+1], r.facing[j], r.facing[j+1]); ok {
			factor, gloss := light(facing, up)
			for k := range total {
				total[k] = samples * samples * film((material[k]*factor+gloss)*relief)
			}
			return total, 0
		}
	}
	var facing, paint uint32 // of the sample before, which is often the same
	var shade [3]float32
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
				base = [3]float32{float32(paint & 255), float32(paint >> 8 & 255), float32(paint >> 16 & 255)}
			}
			factor, gloss := light(unpack(facing), up)
			for k := range shade {
				shade[k] = film((base[k]*factor + gloss) * relief)
			}
		}
		for k := range total {
			total[k] += shade[k]
		}
	}
	return total, bare
}
