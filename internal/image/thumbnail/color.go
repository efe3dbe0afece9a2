package thumbnail

import (
	"image"
	"math"

	"github.com/meshyard/meshyard/internal/image/imagemeta"
)

// profile converts the colors of an image to light: the linear values of sRGB.
type profile struct {
	curves [3][256]float64 // from the values of the image to 0 to 1
	matrix matrix
}

type matrix [3][3]float64

func (m matrix) times(n matrix) (product matrix) {
	for i := range 3 {
		for j := range 3 {
			for k := range 3 {
				product[i][j] += m[i][k] * n[k][j]
			}
		}
	}
	return product
}

// toLinear converts XYZ, adapted to D50 as in ICC profiles, to the linear values of sRGB. It is the
// inverse of the colorants of sRGB IEC 61966-2.1.
var toLinear = matrix{
	{3.1338561, -1.6168667, -0.4906146},
	{-0.9787684, 1.9161415, 0.0334540},
	{0.0719453, -0.2289914, 1.4052427},
}

// The primaries of ITU-T H.273 that wide-gamut images have, from linear values to those of sRGB.
// All have the white point D65.
var primaries = map[uint8]matrix{
	9: { // ITU-R BT.2020
		{1.6604910, -0.5876411, -0.0728499},
		{-0.1245505, 1.1328999, -0.0083494},
		{-0.0181508, -0.1005789, 1.1187297},
	},
	12: { // Display P3
		{1.2249402, -0.2249404, 0},
		{-0.0420569, 1.0420571, 0},
		{-0.0196376, -0.0786361, 1.0982735},
	},
}

// profileOf returns the profile of an image. ok is false if it has none that is supported: its
// colors are taken for those of sRGB.
func profileOf(info imagemeta.Info) (p profile, ok bool) {
	const sRGBTransfer = 13
	if m, known := primaries[info.Primaries]; known && info.Transfer == sRGBTransfer {
		p.matrix = m
		for i := range p.curves {
			for v := range 256 {
				p.curves[i][v] = linear(float64(v) / 255)
			}
		}
		return p, true
	}
	if info.Primaries != 0 {
		return p, false
	}
	return readICC(info.ICC)
}

// toSRGB converts the colors of an image with a profile in place.
func toSRGB(img *image.RGBA, info imagemeta.Info) {
	p, ok := profileOf(info)
	if !ok || p.isSRGB() {
		return
	}
	var encoded [4097]uint8
	for i := range encoded {
		encoded[i] = uint8(math.Round(255 * nonlinear(float64(i)/float64(len(encoded)-1))))
	}
	for at := 0; at+4 <= len(img.Pix); at += 4 {
		pixel := img.Pix[at : at+4 : at+4]
		a := uint32(pixel[3])
		if a == 0 {
			continue
		}
		var in [3]uint8
		for i := range in {
			in[i] = uint8(min(255, (uint32(pixel[i])*255+a/2)/a))
		}
		light := p.light(in)
		for i := range light {
			c := uint32(encoded[int(max(0, min(1, light[i]))*float64(len(encoded)-1)+0.5)])
			pixel[i] = uint8((c*a + 127) / 255)
		}
	}
}

// light returns the linear values of sRGB for a color. They can be outside of 0 to 1.
func (p *profile) light(c [3]uint8) (out [3]float64) {
	r, g, b := p.curves[0][c[0]], p.curves[1][c[1]], p.curves[2][c[2]]
	for i, row := range p.matrix {
		out[i] = row[0]*r + row[1]*g + row[2]*b
	}
	return out
}

// isSRGB reports whether a profile changes colors by less than can be seen, as that of sRGB does.
func (p *profile) isSRGB() bool {
	steps := []uint8{0, 51, 102, 153, 204, 255}
	for _, r := range steps {
		for _, g := range steps {
			for _, b := range steps {
				c := [3]uint8{r, g, b}
				for i, light := range p.light(c) {
					if math.Abs(255*nonlinear(max(0, min(1, light)))-float64(c[i])) > 2 {
						return false
					}
				}
			}
		}
	}
	return true
}

// linear and nonlinear are the transfer function of sRGB (IEC 61966-2-1) and its inverse.
func linear(v float64) float64 {
	if v <= 0.04045 {
		return v / 12.92
	}
	return math.Pow((v+0.055)/1.055, 2.4)
}

func nonlinear(v float64) float64 {
	if v <= 0.0031308 {
		return 12.92 * v
	}
	return 1.055*math.Pow(v, 1/2.4) - 0.055
}
