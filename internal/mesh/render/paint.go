package render

import "github.com/meshyard/meshyard/internal/mesh"

// paint is what a texture shows on the current triangle.
type paint struct {
	patch *mesh.Patch // nil if the triangle has no texture
	level int         // of detail
	// cutoff is the least alpha that is visible, for each sample of a pixel. A texture with an alpha
	// of one half covers half of the samples, so triangles need not be sorted.
	cutoff [samples * samples]uint8
	white  bool // the tints have no effect
}

// texture loads the patch of triangle i, if there is one, from the patches that are left, and
// returns those that are left then.
func (t *face) texture(patches []mesh.Patch, i int) []mesh.Patch {
	for len(patches) > 0 && patches[0].Triangle < i {
		patches = patches[1:]
	}
	if len(patches) == 0 || patches[0].Triangle != i {
		t.patch = nil
		return patches
	}
	p := &patches[0]
	t.patch = p
	t.white = p.Tint[0]&p.Tint[1]&p.Tint[2] == 0xFFFFFFFF
	switch c := p.Texture.Cutoff; p.Texture.Alpha {
	case mesh.AlphaIgnored:
		t.cutoff = [4]uint8{}
	case mesh.AlphaMask:
		t.cutoff = [4]uint8{c, c, c, c}
	case mesh.AlphaBlend:
		t.cutoff = [4]uint8{32, 160, 224, 96}
	}
	return patches[1:]
}

// focus chooses the level of detail for a triangle that covers the given number of samples.
func (t *face) focus(covered float64) {
	uv, img := &t.patch.UV, t.patch.Texture.Image
	width, height := img.Size()
	area := (float64(uv[1][0])-float64(uv[0][0]))*(float64(uv[2][1])-float64(uv[0][1])) -
		(float64(uv[1][1])-float64(uv[0][1]))*(float64(uv[2][0])-float64(uv[0][0]))
	t.level = img.Level(max(area, -area)/2*float64(width)*float64(height), covered)
}

// textured returns the color of the texture at a point of the triangle, and its alpha.
func (t *face) textured(near, wB, wC float32) (color uint32) {
	p, wA := t.patch, 1-wB-wC
	// Texture coordinates times the nearness are linear in the image.
	a, b, c := float64(wA*t.seen[0].near/near), float64(wB*t.seen[1].near/near), float64(wC*t.seen[2].near/near)
	color = p.Texture.Sample(a*float64(p.UV[0][0])+b*float64(p.UV[1][0])+c*float64(p.UV[2][0]),
		a*float64(p.UV[0][1])+b*float64(p.UV[1][1])+c*float64(p.UV[2][1]), t.level)
	if t.white {
		return color
	}
	var product uint32
	for shift := 0; shift < 32; shift += 8 {
		tint := wA*float32(p.Tint[0]>>shift&255) + wB*float32(p.Tint[1]>>shift&255) + wC*float32(p.Tint[2]>>shift&255)
		product |= uint32(float32(color>>shift&255)*min(1, max(0, tint*(1./255)))+0.5) << shift
	}
	return product
}
