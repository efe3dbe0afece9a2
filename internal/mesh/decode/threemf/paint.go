package threemf

// maxPainted is the highest number of a painted extruder.
const maxPainted = 63

// paintedExtruder returns the extruder that most of a painted triangle is printed by, 0 if that is
// the extruder of the object, and -1 if the code is invalid. The code is a tree of the parts of the
// triangle, in hexadecimal digits from the last one to the first. The lower two bits of a digit are
// the number of sides that are split. Without a split, the upper two are the extruder, or 3 if it
// is 3 plus the next digit, which continues after F. The parts of a split are taken as equal.
func paintedExtruder(code []byte) int {
	c := paintCode{rest: code}
	if !c.part(1) || len(c.rest) > 0 {
		return -1
	}
	most := 0
	for extruder, share := range c.shares {
		if share > c.shares[most] {
			most = extruder
		}
	}
	return most
}

// paintCode is the state of reading the code of a painted triangle.
type paintCode struct {
	rest   []byte
	shares [maxPainted + 1]float64 // the share of each extruder
}

// part reads a part with a share of the triangle. It reports whether the code is valid.
func (c *paintCode) part(share float64) bool {
	digit, ok := c.next()
	if !ok {
		return false
	}
	if sides := digit & 3; sides > 0 {
		for range sides + 1 {
			if !c.part(share / float64(sides+1)) {
				return false
			}
		}
		return true
	}
	extruder := digit >> 2
	if extruder == 3 {
		for more := uint32(15); more == 15; extruder += more {
			if more, ok = c.next(); !ok || extruder > maxPainted {
				return false
			}
		}
	}
	if extruder > maxPainted {
		return false
	}
	c.shares[extruder] += share
	return true
}

// next returns the value of the next digit.
func (c *paintCode) next() (uint32, bool) {
	if len(c.rest) == 0 {
		return 0, false
	}
	digit := hexDigit(c.rest[len(c.rest)-1])
	c.rest = c.rest[:len(c.rest)-1]
	return digit, digit < 16
}
