package draco

import "github.com/meshyard/meshyard/internal/mesh"

// The methods of predicting a value from those before it.
const (
	predictNone            = -2
	predictDifference      = 0
	predictParallelogram   = 1
	predictParallelograms  = 4 // constrained multi-parallelogram
	predictTextureCoords   = 5 // portable
	predictGeometricNormal = 6
)

// The transforms of the differences between predictions and values.
const (
	transformWrap              = 1
	transformCanonicalizedOcta = 3
)

// maxParallelograms is the number of parallelograms by which a value is predicted at most.
const maxParallelograms = 4

// predictor restores the values of an attribute from their differences to predictions (Prediction
// Decoder).
type predictor struct {
	d         *decoder
	s         *sequence
	width     int // of a value
	count     int // of values
	method    int8
	transform uint8
	least     int32 // transformWrap: the range of the values
	most      int32
	creases   [maxParallelograms]bitDecoder // predictParallelograms: which are not used
	flags     [maxParallelograms]int        // how many bits each decoder has
	turns     []bool                        // predictTextureCoords: sides of vertices, last one first
}

// read reads the data that the method needs (DecodePredictionData).
func (p *predictor) read() error {
	switch p.method {
	case predictNone:
		return p.d.err
	case predictDifference, predictParallelogram:
	case predictParallelograms:
		for i := range p.creases {
			if p.flags[i] = p.d.varint31(); p.flags[i] > 0 {
				p.creases[i] = p.d.bitDecoder()
			}
		}
	case predictTextureCoords:
		if err := p.readTurns(); err != nil {
			return err
		}
	case predictGeometricNormal:
		if p.transform != transformCanonicalizedOcta {
			break
		}
		p.d.bytes(8)
		p.d.bitDecoder()
		return p.d.err
	default:
		return mesh.Errorf(mesh.Unsupported, "has an attribute with the prediction method %d, which is not supported",
			p.method)
	}
	switch p.transform {
	case transformWrap:
		p.least, p.most = int32(p.d.uint32()), int32(p.d.uint32())
		if size := int64(p.most) - int64(p.least); size < 0 || size >= 1<<31-1 {
			return p.d.malformed("has an attribute with an invalid range")
		}
	case transformCanonicalizedOcta:
		p.d.bytes(8)
	default:
		return mesh.Errorf(mesh.Unsupported, "has an attribute with the transform %d, which is not supported", p.transform)
	}
	return p.d.err
}

// readTurns reads the orientations of triangles (DecodePredictionData_TexCoords).
func (p *predictor) readTurns() error {
	n := p.d.uint32()
	bits := p.d.bitDecoder()
	if int64(n) > int64(p.count) {
		return p.d.malformed("has more orientations than texture coordinates")
	}
	if err := p.d.reserve(int(n), 1); err != nil {
		return err
	}
	p.turns = make([]bool, n)
	turn := true
	for i := range p.turns {
		turn = turn == bits.next()
		p.turns[i] = turn
	}
	return nil
}

// restore replaces differences by values.
func (p *predictor) restore(values []int32) error {
	switch {
	case p.method == predictNone || p.count == 0:
		return nil
	case p.method == predictGeometricNormal || p.transform != transformWrap:
		return p.d.malformed("has normals where something else is expected")
	case p.s.table == nil && p.method != predictDifference:
		return p.d.malformed("predicts values by triangles, but has only points")
	case p.method == predictTextureCoords && (p.d.positions == nil || p.width != 2):
		return p.d.malformed("has texture coordinates that cannot be predicted")
	}
	for i := range p.count {
		var predicted [4]int32
		ok := false
		switch p.method {
		case predictParallelogram:
			ok = i > 0 && p.parallelogram(values, i, p.s.corners[i], &predicted)
		case predictParallelograms:
			ok = i > 0 && p.parallelograms(values, i, &predicted)
		case predictTextureCoords:
			p.textureCoords(values, i, &predicted)
			ok = true
		}
		value := values[i*p.width:][:p.width]
		if !ok && i > 0 {
			copy(predicted[:], values[(i-1)*p.width:i*p.width])
		}
		for k := range value {
			value[k] = p.wrap(predicted[k], value[k])
		}
		if err := interrupted(p.d.ctx, i); err != nil {
			return err
		}
	}
	return p.d.err
}

// wrap returns the value for a prediction and the difference to it (Prediction Wrap Transform).
func (p *predictor) wrap(predicted, difference int32) int32 {
	v := min(max(predicted, p.least), p.most) + difference
	switch size := p.most - p.least + 1; {
	case v > p.most:
		return v - size
	case v < p.least:
		return v + size
	}
	return v
}

// parallelogram predicts value i as the corner of a parallelogram with the triangle opposite to c,
// and reports whether all values of that triangle are known (ComputeParallelogramPrediction).
func (p *predictor) parallelogram(values []int32, i int, c int32, predicted *[4]int32) bool {
	c = p.s.table.opposite[c]
	if c == none {
		return false
	}
	tip, right, left := p.s.value(c), p.s.value(next(c)), p.s.value(previous(c))
	if tip >= i || right >= i || left >= i {
		return false
	}
	for k := range p.width {
		predicted[k] = values[right*p.width+k] + values[left*p.width+k] - values[tip*p.width+k]
	}
	return true
}

// parallelograms predicts value i as the average of parallelograms around its vertex (Multi
// Parallelogram Prediction Decoder).
func (p *predictor) parallelograms(values []int32, i int, predicted *[4]int32) bool {
	var all [maxParallelograms][4]int32
	n := 0
	start := p.s.corners[i]
	for c, left := start, true; c != none; {
		if p.parallelogram(values, i, c, &all[n]) {
			if n++; n == maxParallelograms {
				break
			}
		}
		if left {
			if c = p.s.table.swingLeft(c); c == none {
				left, c = false, p.s.table.swingRight(start)
			}
		} else {
			c = p.s.table.swingRight(c)
		}
		if c == start {
			break
		}
	}
	used := int32(0)
	for _, one := range all[:n] {
		if p.flags[n-1]--; p.flags[n-1] < 0 {
			p.d.malformed("has too few bits for the parallelograms")
			return false
		}
		if !p.creases[n-1].next() {
			used++
			for k := range one {
				predicted[k] += one[k]
			}
		}
	}
	if used == 0 {
		return false
	}
	for k := range predicted {
		predicted[k] /= used
	}
	return true
}
