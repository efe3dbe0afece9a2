package obj

import (
	"bytes"
	"encoding/hex"
	"math"
	"slices"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/geometry"
	"github.com/meshyard/meshyard/internal/mesh/decode/textscan"
)

// colorOf returns the color of a vertex, or that of the material if the vertex has none.
func (o *file) colorOf(v, material uint32) uint32 {
	if o.colors == nil {
		return material
	}
	r, g, b := float64(o.colors[3*v]), float64(o.colors[3*v+1]), float64(o.colors[3*v+2])
	if math.IsNaN(r + g + b) {
		return material
	}
	if o.brightest > 1.5 { // values from 0 to 255; slightly more than 1 is a rounding error
		r, g, b = r/255, g/255, b/255
	}
	return geometry.RGBA(r, g, b, 1)
}

// growColors extends the colors to n entries.
func (o *file) growColors(n int) {
	if more := n - len(o.colors); more > 0 {
		o.colors = append(o.colors, slices.Repeat([]float32{nan}, more)...)
	}
}

// polypaint reads colors of ZBrush from a comment. It has eight hexadecimal digits for each vertex:
// a mask, which is ignored, red, green and blue. The colors begin with the first vertex.
func (o *file) polypaint(rest []byte) {
	if o.again {
		return
	}
	word, _ := textscan.CutWord(rest)
	o.growColors(len(o.vertices))
	for ; len(word) >= 8 && 3*o.polypainted < len(o.vertices); word = word[8:] {
		var mrgb [4]byte
		if _, err := hex.Decode(mrgb[:], word[:8]); err != nil {
			return
		}
		for i, channel := range mrgb[1:] {
			o.colors[3*o.polypainted+i] = float32(channel) / 255
		}
		o.polypainted++
	}
}

// useMaterial starts the faces of a material. A material that is not defined in this file has no
// color.
func (o *file) useMaterial(rest []byte) {
	color, ok := o.materials[string(bytes.TrimSpace(rest))]
	if !ok {
		color = geometry.NoColor
	}
	run := materialRun{len(o.corners), color}
	last := len(o.runs) - 1
	switch {
	case last >= 0 && o.runs[last].first == run.first:
		o.runs[last] = run
	case last >= 0 && o.runs[last].color != color, last < 0 && color != geometry.NoColor:
		o.runs = append(o.runs, run)
	}
}

// defineMaterial reads an MTL statement: the name, the diffuse color, the opacity or the
// transparency.
func (o *file) defineMaterial(keyword, rest []byte) error {
	if string(keyword) == "newmtl" {
		if int64(len(o.materials)) >= o.limits.Elements {
			return mesh.Errorf(mesh.TooLarge, "The OBJ file defines more than %d materials.", o.limits.Elements)
		}
		if o.materials == nil {
			o.materials = map[string]uint32{}
		}
		o.material = string(bytes.TrimSpace(rest))
		o.materials[o.material] = geometry.NoColor
		return nil
	}
	color, known := o.materials[o.material]
	if !known {
		return nil
	}
	var n [3]float64
	count := 0
	for ; count < len(n); count++ {
		var w []byte
		var ok bool
		w, rest = textscan.CutWord(rest)
		if n[count], ok = textscan.ParseFloat(w); !ok {
			break
		}
	}
	const opaque = 0xFF << 24
	switch {
	case string(keyword) == "Kd" && count == 3:
		color = color&opaque | geometry.RGBA(n[0], n[1], n[2], 0)
	case string(keyword) == "d" && count == 1:
		color = color&^opaque | geometry.Channel(n[0])<<24
	case string(keyword) == "Tr" && count == 1:
		color = color&^opaque | geometry.Channel(1-n[0])<<24
	}
	o.materials[o.material] = color
	return nil
}
