package render

import "math"

// depths are the z of the nearest sample of each pixel in camera space, with a frame around them.
// Empty pixels are far below all others.
type depths struct {
	width, height, frame int
	z                    []float32
}

const nothing = -math.MaxFloat32 / 4

func (d *depths) at(x, y int) int { return (y+d.frame)*(d.width+2*d.frame) + x + d.frame }

func (r *raster) depths(c *camera, frame int) *depths {
	d := &depths{width: r.width / samples, height: r.height / samples, frame: frame}
	d.z = make([]float32, (d.width+2*frame)*(d.height+2*frame))
	for i := range d.z {
		d.z[i] = nothing
	}
	distance := float32(c.distance)
	for y := range d.height {
		row := d.z[d.at(0, y):][:d.width]
		for x := range row {
			i := y*samples*r.width + x*samples
			a, b := r.near[i:][:2], r.near[i+r.width:][:2]
			// Positive numbers are ordered as their bits, which are compared faster.
			bits := max(math.Float32bits(a[0]), math.Float32bits(a[1]), math.Float32bits(b[0]), math.Float32bits(b[1]))
			if bits != 0 {
				row[x] = distance - 1/math.Float32frombits(bits)
			}
		}
	}
	return d
}

// step leads from a pixel to two others, on opposite sides of it.
type step struct {
	offset int     // in depths
	scale  float32 // factor from depth differences to slopes
}

// rings are the lengths of steps as fractions of the image.
var rings = []float64{0.006, 0.014, 0.03}

// steps returns the steps from each pixel, and the depths they refer to.
func (r *raster) steps(c *camera) (d *depths, steps []step) {
	size := float64(min(r.width, r.height)) / samples
	d = r.depths(c, int(rings[len(rings)-1]*size)+1)
	for ring, part := range rings {
		for k := range 4 {
			sin, cos := math.Sincos((float64(k) + 0.35*float64(ring)) * math.Pi / 4)
			dx, dy := math.Round(part*size*cos), math.Round(part*size*sin)
			if dx == 0 && dy == 0 {
				continue
			}
			// The length of the step on a plane that faces the viewer.
			length := math.Hypot(dx, dy) * samples * c.distance / c.zoom
			steps = append(steps, step{int(dy)*(d.width+2*d.frame) + int(dx), float32(0.5 / length)})
		}
	}
	return d, steps
}

// relief returns a light factor for a pixel: less than 1 in hollows, which receive less light, and
// more on edges. A pixel is in a hollow if the pixels on opposite sides are on average nearer, so a
// plane is never hollow, whatever its slope.
func (d *depths) relief(at int, steps []step) float32 {
	z := d.z[at]
	if len(steps) == 0 {
		return 1
	}
	var hollow, edge float32
	var bends, sizes float32 // sums of slight bends and of their absolute values
	for _, s := range steps {
		bend := (d.z[at+s.offset] + d.z[at-s.offset] - 2*z) * s.scale
		switch size := abs(bend); {
		case size < 0.5: // in hollows and on edges alike, without a branch that is hard to predict
			bends, sizes = bends+bend, sizes+size
		case bend > 4: // another surface, far in front of this one
			hollow += 4 / bend
		case bend > 1:
			hollow++
		case bend > 0:
			hollow += bend
		case bend > -3: // outside the silhouette
			edge += 0.5
		}
	}
	hollow, edge = hollow+(sizes+bends)/2, edge+(sizes-bends)/2
	n := float32(len(steps))
	return 1 - 0.62*hollow/n + 0.16*edge/n
}
