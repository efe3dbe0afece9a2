package mesh

import "math"

// Linear gives the light that each value of sRGB (IEC 61966-2-1) stands for, from 0 to 1. glTF and three.js keep the colours of vertices so.
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

// Encoded gives light from 0 to 1 as sRGB has it, from 0 to 1 too. What is out of range is brought to its end, what is no number to 1.
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
