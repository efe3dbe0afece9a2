package decode

import (
	"bytes"
	"context"
	"math"
	"strings"

	"github.com/meshyard/meshyard/internal/mesh"
)

// readOFF reads a text OFF file of three dimensions with what its first word says that vertices have besides: normals, colours, texture
// coordinates. Colours of faces are read where vertices have none; an index of a colour map, which is another file, is none. A file
// without faces is a cloud. The format is that of Geomview's object file format OFF; binary ones are not read.
func readOFF(ctx context.Context, src Source, limits mesh.Limits, progress func(float64)) (*mesh.Mesh, error) {
	o := offFile{polygons: newPolygons(mesh.OFF, limits)}
	o.open = func() *words {
		w := newWords(decoded(newInput(ctx, src, progress)), "OFF")
		w.comments = true
		return w
	}
	if err := o.counts(); err != nil {
		return nil, err
	}
	const leastVertex, leastFace = int64(len("0 0 0\n")), int64(len("3 0 1 2\n"))
	if o.vertexCount > (src.Size+1)/leastVertex || o.faceCount > src.Size {
		return nil, mesh.Errorf(mesh.Malformed, "Line %d of the OFF file promises %d vertices and %d faces, which cannot be in %d bytes.",
			o.line, o.vertexCount, o.faceCount, src.Size)
	}
	if err := o.vertices(o.vertexCount, o.points); err != nil {
		return nil, err
	}
	o.expect(min(o.faceCount, src.Size/leastFace))
	for range o.faceCount {
		if err := o.face(); err != nil {
			return nil, err
		}
	}
	return o.finish(), nil
}

// offFile is an OFF file while it is read.
type offFile struct {
	*words
	*polygons
	open                   func() *words // at the start of the file
	header                 string        // what the first word has before OFF
	vertexCount, faceCount int64
}

// headerOFF tells whether a word is the first one of an OFF file, and gives the letters before OFF: ST for texture coordinates, C for
// colours, N for normals, 4 for a fourth coordinate and n for another number of dimensions.
func headerOFF(word []byte) (letters string, ok bool) {
	before, ok := bytes.CutSuffix(word, []byte("OFF"))
	rest := string(before)
	for _, letter := range []string{"ST", "C", "N", "4", "n"} {
		rest = strings.TrimPrefix(rest, letter)
	}
	return string(before), ok && rest == ""
}

// counts reads the header and the numbers of vertices and faces behind it, on its line or another one. The number of edges may be
// missing. The header may be missing too.
func (o *offFile) counts() error {
	o.words = o.open()
	word, err := o.next()
	if err != nil {
		return o.ends(err, "OFF")
	}
	letters, ok := headerOFF(word)
	switch {
	case ok && strings.ContainsAny(letters, "4n"):
		return mesh.Errorf(mesh.Unsupported, "The OFF file is of another number of dimensions than three: it begins with %s.", quote(word))
	case ok:
		o.header = letters
		if word, err = o.next(); err != nil {
			return o.ends(err, "the number of vertices")
		}
		if string(word) == "BINARY" {
			return mesh.Errorf(mesh.Unsupported, "The OFF file is a binary one, and only text is read.")
		}
	}
	if o.vertexCount, ok = parseIndex(word); !ok || o.vertexCount < 0 {
		return mesh.Errorf(mesh.Malformed, "Line %d of the OFF file has %s where OFF or the number of vertices is expected.", o.line, quote(word))
	}
	if o.faceCount, err = o.whole("the number of faces"); err != nil {
		return err
	}
	if o.faceCount < 0 {
		return mesh.Errorf(mesh.Malformed, "Line %d of the OFF file has %d where the number of faces is expected.", o.line, o.faceCount)
	}
	return o.skipLine()
}

// points reads the vertices. Each has a line, which may have more than is known of.
func (o *offFile) points(box *extent) error {
	if o.m.Origin != [3]float64{} { // they are read again
		if err := o.counts(); err != nil {
			return err
		}
	}
	for range o.vertexCount {
		var p [3]float64
		for i := range p {
			x, err := o.number("a coordinate")
			if err != nil {
				return err
			}
			p[i] = x
		}
		if err := o.vertex(p, box); err != nil {
			return err
		}
		if strings.Contains(o.header, "C") {
			if err := o.vertexColor(); err != nil {
				return err
			}
		}
		if err := o.skipLine(); err != nil {
			return err
		}
	}
	return nil
}

// vertexColor reads the colour behind a vertex and its normal, three or four numbers with or without two texture coordinates behind them.
func (o *offFile) vertexColor() error {
	n, err := o.numbersHere()
	if err != nil {
		return err
	}
	if strings.Contains(o.header, "N") {
		n = n[min(3, len(n)):]
	}
	if strings.Contains(o.header, "ST") {
		n = n[:max(0, len(n)-2)]
	}
	if len(n) >= 3 {
		o.color(colorOfNumbers(n))
	}
	return nil
}

// face reads a face: the number of its corners, the corners, and its colour on the rest of the line.
func (o *offFile) face() error {
	n, err := o.whole("the number of corners of a face")
	if err != nil {
		return err
	}
	if n < 1 {
		return mesh.Errorf(mesh.Malformed, "Line %d of the OFF file has a face with %d corners.", o.line, n)
	}
	o.corners = o.corners[:0]
	for range n {
		v, err := o.whole("a corner of a face")
		if err != nil {
			return err
		}
		if v < 0 || v >= o.vertexCount {
			return mesh.Errorf(mesh.Malformed, "Line %d of the OFF file has a face with the vertex %d: there are %d vertices, counted from 0.",
				o.line, v, o.vertexCount)
		}
		o.corners = append(o.corners, v)
	}
	color := uint32(plain)
	if o.m.Colors == nil {
		numbers, err := o.numbersHere()
		if err != nil {
			return err
		}
		if len(numbers) == 3 || len(numbers) == 4 {
			color = colorOfNumbers(numbers)
		}
	}
	if err := o.polygons.face(color); err != nil {
		return err
	}
	return o.skipLine()
}

// numbersHere gives the numbers on the rest of the line, at most nine.
func (o *offFile) numbersHere() ([]float64, error) {
	var n [9]float64
	for i := range n {
		word, err := o.here()
		if err != nil {
			return nil, err
		}
		x, ok := parseFloat(word)
		if !ok {
			return n[:i:i], nil
		}
		n[i] = x
	}
	return n[:], nil
}

func colorOfNumbers(n []float64) uint32 {
	c := [4]float64{n[0], n[1], n[2], math.NaN()}
	if len(n) >= 4 {
		c[3] = n[3]
	}
	return guessColor(c)
}
