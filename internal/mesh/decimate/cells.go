package decimate

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// finest is the minimum side of a cell in a frame, so that three coordinates fit into one key.
const finest = 1.0 / (1 << 19)

// The hash is random in each process, so that no file can be made whose vertices all collide. Cells
// are numbered in order of first use, so results do not depend on it.
var salt, factor = rand.Uint64(), rand.Uint64() | 1

// cells numbers the occupied cells of a grid.
type cells struct {
	side  float64
	keys  []uint64
	slots []uint32 // cell + 1; open addressing
	shift int
}

func newCells(guess int) *cells {
	g := &cells{}
	g.grow(bits.Len(uint(guess)*3/2 + 16))
	return g
}

// reset empties the grid.
func (g *cells) reset(side float64) {
	g.side, g.keys = max(side, finest), g.keys[:0]
	clear(g.slots)
}

func (g *cells) grow(log int) {
	g.slots, g.shift = make([]uint32, 1<<log), 64-log
	for i, key := range g.keys {
		g.slots[g.find(key)] = uint32(i) + 1
	}
}

// find returns the slot of a key, or the free slot for it.
func (g *cells) find(key uint64) int {
	h, l := bits.Mul64(key^salt, factor)
	at := int((h ^ l) * 0x9E3779B97F4A7C15 >> g.shift)
	for g.slots[at] != 0 && g.keys[g.slots[at]-1] != key {
		at = (at + 1) & (len(g.slots) - 1)
	}
	return at
}

// key returns the key of the cell that contains p. Coordinates are from -1 to 1.
func (g *cells) key(p vector) uint64 {
	return uint64((p[0]+1)/g.side)<<42 | uint64((p[1]+1)/g.side)<<21 | uint64((p[2]+1)/g.side)
}

// look returns the number of the cell that contains p, if it is occupied.
func (g *cells) look(p vector) (cell uint32, ok bool) {
	cell = g.slots[g.find(g.key(p))]
	return cell - 1, cell != 0
}

// of returns the number of the cell that contains p, and assigns the next one if it is not
// occupied.
func (g *cells) of(p vector) uint32 {
	key := g.key(p)
	at := g.find(key)
	if g.slots[at] != 0 {
		return g.slots[at] - 1
	}
	g.keys = append(g.keys, key)
	g.slots[at] = uint32(len(g.keys))
	if len(g.keys) > len(g.slots)*2/3 {
		g.grow(65 - g.shift)
	}
	return uint32(len(g.keys) - 1)
}

// middle returns the center of a cell.
func (g *cells) middle(cell uint32) vector {
	key := g.keys[cell]
	at := func(k uint64) float64 { return (float64(k&(1<<21-1))+0.5)*g.side - 1 }
	return vector{at(key >> 42), at(key >> 21), at(key)}
}

// search finds a cell size that yields a number in a range. The number must decrease with the size.
type search struct {
	side      float64
	low, high float64 // sizes that yielded too many and too few, or 0
}

// next chooses a size after the last one yielded n, where about goal are wanted; the number of
// occupied cells is proportional to the inverse square of the size. It returns false if no
// improvement is expected.
func (s *search) next(n, goal float64) bool {
	if n > goal {
		s.low = s.side
	} else {
		s.high = s.side
	}
	guess := s.side * max(0.2, min(5, math.Sqrt(max(n, 1)/max(goal, 1))))
	if s.low > 0 && s.high > 0 && (guess <= s.low*1.01 || guess >= s.high/1.01) {
		guess = math.Sqrt(s.low * s.high)
	}
	done := s.high > 0 && s.low > 0 && s.high < s.low*1.001 || guess < finest && s.side <= finest || guess > 4
	s.side = max(guess, finest)
	return !done
}
