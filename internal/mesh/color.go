package mesh

import "math"

// Linear maps each 8-bit sRGB value (IEC 61966-2-1) to linear light from 0 to 1. glTF and three.js
// store vertex colors as linear light.
var Linear = func() (light [256]float64) {
	for i := range light {
		if x := float64(i) / 255; x <= 0.04045 {
			light[i] = x / 12.92
		} else {
			light[i] = math.Pow((x+0.055)/1.055, 2.4)
		}
	}
	return light
}()

// Encoded converts linear light from 0 to 1 to sRGB from 0 to 1. It clamps values out of range, and
// returns 1 for NaN.
func Encoded(light float64) float64 {
	switch {
	case light <= 0:
		return 0
	case light <= 0.0031308:
		return 12.92 * light
	case light < 1:
		return 1.055*math.Pow(light, 1/2.4) - 0.055
	}
	return 1
}
