// Package off decodes OFF files (Geomview).
package off

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"strings"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/geometry"
	"github.com/meshyard/meshyard/internal/mesh/decode/source"
	"github.com/meshyard/meshyard/internal/mesh/decode/textscan"
)

// Decode decodes a text OFF file (Geomview's object file format) in three dimensions, with the
// normals, colors and texture coordinates that the header declares for vertices. It uses face
// colors if vertices have none, and ignores indices of a color map, which is a separate file. It
// drops vertices with a coordinate that is not finite, and their faces. A file without faces is a
// point cloud. Binary OFF files are not supported.
func Decode(ctx context.Context, src source.Source, limits mesh.Limits, progress func(float64)) (*mesh.Mesh, error) {
	o := file{Faces: geometry.NewFaces(mesh.OFF, limits)}
	o.open = func() *textscan.Words {
		w := textscan.NewWords(textscan.UTF8Reader(source.NewReader(ctx, src, 0, progress)), "OFF")
		w.Comments = true
		return w
	}
	if err := o.readCounts(); err != nil {
		return nil, err
	}
	const leastVertex, leastFace = int64(len("0 0 0\n")), int64(len("3 0 1 2\n"))
	if o.vertexCount > (src.Size+1)/leastVertex || o.faceCount > src.Size {
		return nil, mesh.Errorf(mesh.Malformed,
			"Line %d of the OFF file promises %d vertices and %d faces, which cannot be in %d bytes.",
			o.Line, o.vertexCount, o.faceCount, src.Size)
	}
	if err := o.ReadVertices(o.vertexCount, o.readVertices); err != nil {
		return nil, err
	}
	o.Grow(min(o.faceCount, src.Size/leastFace))
	for range o.faceCount {
		if err := o.readFace(); err != nil {
			return nil, err
		}
	}
	return o.Finish(), nil
}

// file is the state of decoding an OFF file.
type file struct {
	*textscan.Words
	*geometry.Faces
	open                   func() *textscan.Words // returns the words from the start of the file
	header                 string                 // the letters before OFF in the header
	vertexCount, faceCount int64
}

// ParseHeader reports whether a word is the header of an OFF file and returns the letters before
// OFF: ST for texture coordinates, C for colors, N for normals, 4 for a fourth coordinate, n for
// another number of dimensions. They may have any order: MeshLab writes CSTOFF. The number of
// vertices may follow without a space, as in the data set ModelNet.
func ParseHeader(word []byte) (letters string, count []byte, ok bool) {
	before, count, ok := bytes.Cut(word, []byte("OFF"))
	if _, number := textscan.ParseInt(count); len(count) > 0 && !number {
		return "", nil, false
	}
	rest := string(before)
	for _, letter := range []string{"ST", "C", "N", "4", "n"} {
		rest = strings.Replace(rest, letter, "", 1)
	}
	return string(before), count, ok && rest == ""
}

// readCounts reads the optional header and the numbers of vertices and faces, which may be on
// different lines. The number of edges is optional.
func (o *file) readCounts() error {
	o.Words = o.open()
	word, err := o.Next()
	if err != nil {
		return o.UnexpectedEnd(err, "OFF")
	}
	letters, count, ok := ParseHeader(word)
	switch {
	case ok && strings.Contains(letters, "4"):
		return mesh.Errorf(mesh.Unsupported, "The OFF file is of another number of dimensions than three: it begins with %s.",
			textscan.Quote(word))
	case ok:
		o.header = letters
		if strings.Contains(letters, "n") {
			if dimensions, err := o.Integer("the number of dimensions"); err != nil || dimensions != 3 {
				return cmp.Or(err, mesh.Errorf(mesh.Unsupported,
					"The OFF file is of %d dimensions, and only files of three are read.", dimensions))
			}
		}
		if word = count; len(count) > 0 {
			break
		}
		if word, err = o.Next(); err != nil {
			return o.UnexpectedEnd(err, "the number of vertices")
		}
		if string(word) == "BINARY" {
			return mesh.Errorf(mesh.Unsupported, "The OFF file is a binary one, and only text is read.")
		}
	}
	if o.vertexCount, ok = textscan.ParseInt(word); !ok || o.vertexCount < 0 {
		return mesh.Errorf(mesh.Malformed, "Line %d of the OFF file has %s where OFF or the number of vertices is expected.",
			o.Line, textscan.Quote(word))
	}
	if o.faceCount, err = o.Integer("the number of faces"); err != nil {
		return err
	}
	if o.faceCount < 0 {
		return mesh.Errorf(mesh.Malformed, "Line %d of the OFF file has %d where the number of faces is expected.", o.Line,
			o.faceCount)
	}
	return o.SkipLine()
}

// readVertices reads the vertices, one on each line. It ignores the rest of the line.
func (o *file) readVertices(box *geometry.Bounds) error {
	if o.Mesh.Origin != [3]float64{} { // this is the second pass
		if err := o.readCounts(); err != nil {
			return err
		}
	}
	for range o.vertexCount {
		var p [3]float64
		for i := range p {
			x, err := o.Number("a coordinate")
			if err != nil {
				return err
			}
			p[i] = x
		}
		if err := o.AddVertex(p, box); err != nil {
			return err
		}
		if strings.Contains(o.header, "C") {
			if err := o.readVertexColor(); err != nil {
				return err
			}
		}
		if err := o.SkipLine(); err != nil {
			return err
		}
	}
	return nil
}

// readVertexColor reads the color after a vertex and its normal: three or four numbers, optionally
// followed by two texture coordinates.
func (o *file) readVertexColor() error {
	n, err := o.numbersInLine()
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
		o.SetColor(parseColor(n))
	}
	return nil
}

// readFace reads a face: the number of its corners, the corners, and an optional color.
func (o *file) readFace() error {
	n, err := o.Integer("the number of corners of a face")
	if err != nil {
		return err
	}
	if n < 1 {
		return mesh.Errorf(mesh.Malformed, "Line %d of the OFF file has a face with %d corners.", o.Line, n)
	}
	o.Corners = o.Corners[:0]
	for range n {
		v, err := o.Integer("a corner of a face")
		if err != nil {
			return err
		}
		if v < 0 || v >= o.vertexCount {
			return mesh.Errorf(mesh.Malformed,
				"Line %d of the OFF file has a face with the vertex %d: there are %d vertices, counted from 0.",
				o.Line, v, o.vertexCount)
		}
		o.Corners = append(o.Corners, v)
	}
	color := uint32(geometry.NoColor)
	if o.Mesh.Colors == nil {
		numbers, err := o.numbersInLine()
		if err != nil {
			return err
		}
		if len(numbers) == 3 || len(numbers) == 4 {
			color = parseColor(numbers)
		}
	}
	if err := o.Faces.AddFace(color); err != nil {
		return err
	}
	return o.SkipLine()
}

// numbersInLine returns the numbers on the rest of the line, at most nine.
func (o *file) numbersInLine() ([]float64, error) {
	var n [9]float64
	for i := range n {
		word, err := o.NextInLine()
		if err != nil {
			return nil, err
		}
		x, ok := textscan.ParseFloat(word)
		if !ok {
			return n[:i:i], nil
		}
		n[i] = x
	}
	return n[:], nil
}

func parseColor(n []float64) uint32 {
	c := [4]float64{n[0], n[1], n[2], math.NaN()}
	if len(n) >= 4 {
		c[3] = n[3]
	}
	return geometry.NormalizeColor(c)
}
