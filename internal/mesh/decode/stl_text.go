package decode

import (
	"context"
	"io"
	"math"

	"github.com/meshyard/meshyard/internal/mesh"
)

// bytesPerFacet is about what the shorter facets of text STL files take: how much room is made before any is read.
const bytesPerFacet = 160

// readTextSTL reads a text STL file. Words may be in capitals, normals may be missing, and several solids are one mesh.
func readTextSTL(ctx context.Context, src Source, limits mesh.Limits, progress func(float64)) (*mesh.Mesh, error) {
	t := textSTL{limits: limits, positions: make([]float32, 0, 9*min(src.Size/bytesPerFacet+1, limits.Triangles))}
	// A file of large coordinates is read again, when it is known where they are.
	for range 2 {
		t.words = newWords(decoded(newInput(ctx, src, progress)), "STL")
		t.positions, t.facets = t.positions[:0], 0
		if err := t.read(); err != nil {
			return nil, err
		}
		if origin := t.box.origin(); origin != t.origin {
			t.origin = origin
			continue
		}
		break
	}
	if t.facets > 0 && len(t.positions) == 0 {
		return nil, mesh.Errorf(mesh.Malformed, "None of the %d triangles of the STL file has corners that are finite numbers near enough to zero.", t.facets)
	}
	return &mesh.Mesh{Format: mesh.STL, Unit: 1, Origin: t.origin, Positions: t.positions}, nil
}

// textSTL is a text STL file while it is read.
type textSTL struct {
	*words
	limits    mesh.Limits
	origin    [3]float64
	positions []float32 // less origin
	box       extent
	facets    int64 // those that are left out too

	solid, facet bool // it is inside of one
	corner       [3][3]float64
	corners      int // of the facet
}

func (t *textSTL) read() error {
	var buf [8]byte
	for {
		word, err := t.next()
		switch {
		case err == io.EOF && t.facet:
			return mesh.Errorf(mesh.Malformed, "The STL file ends on line %d inside of a facet.", t.line)
		case err == io.EOF && t.solid:
			return mesh.Errorf(mesh.Malformed, "The STL file ends on line %d before its solid does: there is no \"endsolid\".", t.line)
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		lower := buf[:0]
		for _, c := range word[:min(len(word), len(buf))] {
			lower = append(lower, c|0x20)
		}
		if len(word) > len(buf) {
			lower = nil
		}
		if err := t.keyword(string(lower), word); err != nil {
			return err
		}
	}
}

// keyword reads what follows a word of the format, given in small letters and as it stands in the file.
func (t *textSTL) keyword(lower string, word []byte) error {
	inside := lower != "solid" && lower != "endsolid" && lower != "facet" // words that stand inside of a facet
	switch {
	case inside && !t.facet:
		return mesh.Errorf(mesh.Malformed, "Line %d of the STL file has %s outside of a facet.", t.line, quote(word))
	case !inside && t.facet:
		return mesh.Errorf(mesh.Malformed, "Line %d of the STL file has %s inside of a facet.", t.line, quote(word))
	case lower == "solid", lower == "endsolid":
		t.solid = lower == "solid"
		return t.skipLine() // the name
	case lower == "facet":
		t.facet, t.corners = true, 0
	case lower == "normal":
		for range 3 {
			if _, err := t.here(); err != nil {
				return err
			}
		}
	case lower == "outer", lower == "loop", lower == "endloop":
	case lower == "vertex":
		return t.vertex()
	case lower == "endfacet":
		return t.end()
	default:
		return mesh.Errorf(mesh.Malformed, "Line %d of the STL file has %s, which is no word of the format.", t.line, quote(word))
	}
	return nil
}

func (t *textSTL) vertex() error {
	if t.corners == 3 {
		return mesh.Errorf(mesh.Malformed, "Line %d of the STL file has the fourth vertex of a facet, which has three.", t.line)
	}
	for i := range 3 {
		x, err := t.number("a coordinate")
		if err != nil {
			return err
		}
		t.corner[t.corners][i] = x
	}
	t.corners++
	return nil
}

// end takes the facet that was read.
func (t *textSTL) end() error {
	t.facet = false
	if t.corners != 3 {
		return mesh.Errorf(mesh.Malformed, "Line %d of the STL file ends a facet that has %d vertices in place of three.", t.line, t.corners)
	}
	if t.facets++; t.facets > t.limits.Triangles {
		return mesh.Errorf(mesh.TooLarge, "The STL file has more than %d triangles, which is the most that is read.", t.limits.Triangles)
	}
	for _, p := range t.corner {
		for _, x := range p {
			if !(math.Abs(x) <= farthest) {
				return nil // the facet is left out
			}
		}
	}
	for _, p := range t.corner {
		t.box.add(p)
		t.positions = append(t.positions, float32(p[0]-t.origin[0]), float32(p[1]-t.origin[1]), float32(p[2]-t.origin[2]))
	}
	return nil
}
