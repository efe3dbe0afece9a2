package stl

import (
	"context"
	"io"
	"math"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/geometry"
	"github.com/meshyard/meshyard/internal/mesh/decode/source"
	"github.com/meshyard/meshyard/internal/mesh/decode/textscan"
)

// bytesPerFacet is roughly the size of the shortest facets of text STL files. It determines how
// much memory is reserved at the start.
const bytesPerFacet = 160

// decodeText decodes a text STL file. Keywords may be in upper case, normals and the end of the
// last solid may be missing, and several solids form one mesh. Lines outside of facets that do not
// begin with a keyword are ignored, such as comments, colors and units; so is text behind a solid,
// such as the byte 0x1A with which programs of DOS end a file.
func decodeText(ctx context.Context, src source.Source, limits mesh.Limits,
	progress func(float64)) (*mesh.Mesh, error) {
	t := textFile{limits: limits, positions: make([]float32, 0, 9*min(src.Size/bytesPerFacet+1, limits.Triangles))}
	// A second pass is needed if the coordinates are far from zero and an origin must be
	// subtracted.
	for range 2 {
		t.Words = textscan.NewWords(textscan.UTF8Reader(source.NewReader(ctx, src, 0, progress)), "STL")
		t.positions, t.facets, t.ended = t.positions[:0], 0, false
		if err := t.read(); err != nil {
			return nil, err
		}
		if origin := t.box.Origin(); origin != t.origin {
			t.origin = origin
			continue
		}
		break
	}
	if t.facets > 0 && len(t.positions) == 0 {
		return nil, mesh.Errorf(mesh.Malformed,
			"None of the %d triangles of the STL file has corners that are finite numbers near enough to zero.", t.facets)
	}
	return &mesh.Mesh{Format: mesh.STL, Unit: 1, Origin: t.origin, Positions: t.positions}, nil
}

// textFile is the state of decoding a text STL file.
type textFile struct {
	*textscan.Words
	limits    mesh.Limits
	origin    [3]float64
	positions []float32 // relative to origin
	box       geometry.Bounds
	facets    int64 // including those that are dropped

	facet   bool // the position is inside a facet
	ended   bool // the last solid has ended
	corner  [3][3]float64
	corners int // of the current facet
}

func (t *textFile) read() error {
	var buf [len("endsolid") + 1]byte
	for {
		word, err := t.Next()
		switch {
		case err == io.EOF && t.facet:
			return mesh.Errorf(mesh.Malformed, "The STL file ends on line %d inside a facet.", t.Line)
		case err == io.EOF && t.facets == 0 && !t.ended:
			return mesh.Errorf(mesh.Malformed, "The STL file ends on line %d without a facet or \"endsolid\".", t.Line)
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		lower := appendLower(buf[:0], word)
		if string(lower) == "end" { // some programs write "end solid"
			next, err := t.NextInLine()
			if err != nil {
				return err
			}
			lower = appendLower(lower, next)
		}
		if err := t.keyword(lower, word); err != nil {
			return err
		}
	}
}

// appendLower appends a word in lower case to a keyword, or no more than one byte more than any
// keyword has.
func appendLower(keyword, word []byte) []byte {
	for _, c := range word[:min(len(word), cap(keyword)-len(keyword))] {
		keyword = append(keyword, c|0x20)
	}
	return keyword
}

// keyword handles a keyword, given in lower case and as written in the file.
func (t *textFile) keyword(lower, word []byte) error {
	switch string(lower) {
	case "solid", "endsolid":
		if !t.facet {
			t.ended = string(lower) == "endsolid"
			return t.SkipLine() // the name of the solid
		}
		return t.misplaced(word, " inside a facet")
	case "facet":
		if t.facet {
			return t.misplaced(word, " inside a facet")
		}
		t.facet, t.corners = true, 0
		return nil
	case "normal", "outer", "loop", "vertex", "endloop", "endfacet":
		if t.facet {
			return t.inFacet(lower)
		}
		if !t.ended {
			return t.misplaced(word, " outside of a facet")
		}
	default:
		if t.facet && word[0] != '#' {
			return t.misplaced(word, ", which is not a keyword of the format")
		}
	}
	return t.SkipLine()
}

// inFacet handles a keyword inside a facet.
func (t *textFile) inFacet(lower []byte) error {
	switch string(lower) {
	case "normal":
		for range 3 {
			if _, err := t.NextInLine(); err != nil {
				return err
			}
		}
	case "vertex":
		return t.vertex()
	case "endfacet":
		return t.end()
	}
	return nil
}

func (t *textFile) vertex() error {
	if t.corners == 3 {
		return mesh.Errorf(mesh.Malformed, "Line %d of the STL file has the fourth vertex of a facet, which has three.",
			t.Line)
	}
	for i := range 3 {
		x, err := t.Number("a coordinate")
		if err != nil {
			return err
		}
		t.corner[t.corners][i] = x
	}
	t.corners++
	return nil
}

func (t *textFile) misplaced(word []byte, where string) error {
	return mesh.Errorf(mesh.Malformed, "Line %d of the STL file has %s%s.", t.Line, textscan.Quote(word), where)
}

// end adds the current facet.
func (t *textFile) end() error {
	t.facet = false
	if t.corners != 3 {
		return mesh.Errorf(mesh.Malformed, "Line %d of the STL file ends a facet that has %d vertices instead of three.",
			t.Line, t.corners)
	}
	if t.facets++; t.facets > t.limits.Triangles {
		return mesh.Errorf(mesh.TooLarge, "The STL file has too many triangles: at most %d are supported.",
			t.limits.Triangles)
	}
	for _, p := range t.corner {
		for _, x := range p {
			if !(math.Abs(x) <= geometry.MaxCoordinate) {
				return nil // drop the facet
			}
		}
	}
	for _, p := range t.corner {
		t.box.Add(p)
		t.positions = append(t.positions, float32(p[0]-t.origin[0]), float32(p[1]-t.origin[1]), float32(p[2]-t.origin[2]))
	}
	return nil
}
