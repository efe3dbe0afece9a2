package render

// The colors of a mesh without colors and of the ground, as sRGB from 0 to 255.
var (
	material = shade{176, 190, 210}
	skyTop   = shade{250, 251, 253}
	skyLow   = shade{226, 230, 236}
)

// Lights at infinity, as directions towards them in camera space.
var (
	key  = vector(unit([3]float64{-0.5, 0.65, 0.9})) // from the upper left
	fill = vector(unit([3]float64{0.95, 0.1, 0.45})) // from the right
	// gleam is the direction of normals that reflect the key light to the viewer.
	gleam = vector(unit(sum(unit([3]float64{-0.5, 0.65, 0.9}), [3]float64{0, 0, 1})))
)

// The intensity of lights, as factors of a color.
const (
	keyLight  = 0.66
	fillLight = 0.18
	skyLight  = 0.44 // from all sides
	overhead  = 0.11 // more from above, less from below
	shine     = 0.16
)

// light returns the brightness of a surface with a normal: a factor of its color, and the specular
// reflection of the key light.
func light(facing, up direction) (factor, gloss float32) {
	factor = skyLight + overhead*facing.dot(up)
	if k := facing.dot(key); k > 0 {
		factor += keyLight * k
	}
	if f := facing.dot(fill); f > 0 {
		factor += fillLight * f
	}
	if mirrored := facing.dot(gleam); mirrored > 0.8 { // less is negligible
		for range 5 { // to the power of 32
			mirrored *= mirrored
		}
		gloss = 255 * shine * mirrored
	}
	return factor, gloss
}

// lit returns the color of a surface with a normal and a color. relief is a factor of its light.
func lit(color shade, facing, up direction, relief float32) shade {
	factor, gloss := light(facing, up)
	factor, gloss = factor*relief, gloss*relief
	return shade{film(color.r*factor + gloss), film(color.g*factor + gloss), film(color.b*factor + gloss)}
}

// film is a tone curve that keeps bright shades distinct.
func film(strength float32) float32 {
	const bright = 185
	if strength <= bright {
		return strength
	}
	beyond := strength - bright
	return bright + beyond*(255-bright)/(255-bright+beyond)
}
