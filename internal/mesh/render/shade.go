package render

import (
	"context"
	"image"
	"math"
)

// The look of what has no colours of its own, and of the ground, as sRGB from 0 to 255.
var (
	material = [3]float64{172, 186, 206}
	skyTop   = [3]float64{250, 251, 253}
	skyLow   = [3]float64{226, 230, 236}
)

// lamp is a light from far away, by the direction towards it in camera space.
type lamp struct {
	from     [3]float64
	strength float64
}

var lamps = []lamp{
	{unit([3]float64{-0.5, 0.65, 0.9}), 0.6},  // key, from the upper left
	{unit([3]float64{0.95, 0.1, 0.45}), 0.16}, // fill, from the right
}

const (
	ambient = 0.5
	shine   = 0.16
)

// gleam is the direction in which the key light is mirrored to the viewer.
var gleam = unit(sum(lamps[0].from, [3]float64{0, 0, 1}))

// light gives how bright a surface is, as a factor of its colour, and what it mirrors of the key light.
func light(n, up [3]float64) (diffuse, specular float64) {
	diffuse = ambient * (0.78 + 0.22*dot(n, up)) // the sky is brighter than the floor
	for _, l := range lamps {
		diffuse += l.strength * math.Max(0, dot(n, l.from))
	}
	specular = math.Max(0, dot(n, gleam))
	for range 5 { // to the power of 32
		specular *= specular
	}
	return diffuse, shine * specular
}

// lights is how bright surfaces are, by where they face.
type lights struct {
	up     [3]float64
	factor []float32 // 0: not found yet
	gloss  []float32
}

func newLights(up [3]float64) *lights {
	return &lights{up, make([]float32, 1<<(2*facingBits)), make([]float32, 1<<(2*facingBits))}
}

func (l *lights) of(facing uint32) (factor, gloss float32) {
	k := facing & (1<<(2*facingBits) - 1)
	if l.factor[k] == 0 {
		diffuse, specular := light(unpack(facing), l.up)
		l.factor[k], l.gloss[k] = float32(diffuse), float32(255*specular)
	}
	return l.factor[k], l.gloss[k]
}

// resolve makes pixels of samples.
func (r *raster) resolve(ctx context.Context, c *camera, g *ground) (*image.NRGBA, error) {
	width, height := r.width/samples, r.height/samples
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	cavity := r.cavities(c, width, height)
	table := newLights(c.up)
	plain := [3]float32{float32(material[0]), float32(material[1]), float32(material[2])}
	for y := range height {
		if y%64 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		sky := float64(y) / float64(height)
		for x := range width {
			var total [3]float32
			bare := 0
			relief := cavity[y*width+x]
			for s := range samples * samples {
				i := (y*samples+s/samples)*r.width + x*samples + s%samples
				if r.near[i] == 0 {
					bare++
					continue
				}
				factor, gloss := table.of(r.facing[i])
				base := plain
				if r.color != nil {
					p := r.color[i]
					base = [3]float32{float32(p & 255), float32(p >> 8 & 255), float32(p >> 16 & 255)}
				}
				for k := range total {
					total[k] += min(255, (base[k]*factor+gloss)*relief)
				}
			}
			if bare > 0 {
				dark := 1 - 0.42*g.under(float64(x*samples)+1, float64(y*samples)+1)
				for k := range total {
					total[k] += float32(bare) * float32((skyTop[k]+(skyLow[k]-skyTop[k])*sky)*dark)
				}
			}
			p := img.Pix[img.PixOffset(x, y):]
			for k := range total {
				p[k] = uint8(total[k]/(samples*samples) + 0.5)
			}
			p[3] = 255
		}
	}
	return img, nil
}

// cavities gives a factor for each pixel: less than 1 in hollows, where less light comes, and more on edges. A place is hollow as far as those on two opposite
// sides of it are on average nearer than itself, so a plane is not, however it is turned.
func (r *raster) cavities(c *camera, width, height int) []float32 {
	factors := make([]float32, width*height)
	depth := make([]float32, width*height) // camera space's z; -Inf where nothing is
	nothing := float32(math.Inf(-1))
	for y := range height {
		for x := range width {
			i := (y*samples)*r.width + x*samples
			near := max(r.near[i], r.near[i+1], r.near[i+r.width], r.near[i+r.width+1])
			depth[y*width+x] = nothing
			if near > 0 {
				depth[y*width+x] = float32(c.distance - 1/float64(near))
			}
		}
	}
	size := float64(min(width, height))
	type step struct {
		dx, dy int
		reach  float32 // in camera space: differences beyond it are another surface's
	}
	var steps []step
	for ring, at := range []float64{0.006, 0.014, 0.03} {
		for k := range 4 {
			angle := (float64(k) + 0.35*float64(ring)) * math.Pi / 4
			dx, dy := math.Round(at*size*math.Cos(angle)), math.Round(at*size*math.Sin(angle))
			if dx == 0 && dy == 0 {
				continue
			}
			// What the step is on a plane that faces the viewer.
			length := math.Hypot(dx, dy) * samples * c.distance / c.zoom
			steps = append(steps, step{int(dx), int(dy), float32(length)})
		}
	}
	for y := range height {
		for x := range width {
			i := y*width + x
			z := depth[i]
			if z == nothing {
				continue
			}
			var hollow, edge float32
			for _, s := range steps {
				ax, ay, bx, by := x+s.dx, y+s.dy, x-s.dx, y-s.dy
				if ax < 0 || bx < 0 || ay < 0 || by < 0 || ax >= width || bx >= width || ay >= height || by >= height {
					continue
				}
				a, b := depth[ay*width+ax], depth[by*width+bx]
				bend := ((a - z) + (b - z)) / 2 / s.reach
				switch {
				case bend > 0:
					hollow += min(bend, 1) / max(1, bend*0.25)
				case bend > -3: // beyond, the silhouette
					edge += min(-bend, 0.5)
				}
			}
			n := float32(max(1, len(steps)))
			factors[i] = 1 - 0.62*min(1, hollow/n) + 0.16*min(1, edge/n)
		}
	}
	return factors
}
