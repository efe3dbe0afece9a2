package decimate

import (
	"context"
	"math"
)

// spoke is an edge as seen from a vertex.
type spoke struct {
	end   uint32
	faces uint32
	split bool      // two faces have different colors at one of its ends
	at    [2]uint32 // corners of the first face at the vertex and at the other end
}

func (e *spoke) lines() lines {
	switch {
	case e.faces != 2:
		return border | seam
	case e.split:
		return seam
	}
	return 0
}

// gather computes the cost of all edges and marks the vertices on seams: borders, edges with more
// than two faces, and color boundaries. With fence, it first adds planes that hold the seams in
// place to the quadrics.
func (c *collapser) gather(ctx context.Context, fence bool) error {
	c.index()
	c.candidates = c.candidates[:0]
	clear(c.moved)
	if fence {
		for v := range uint32(len(c.positions)) {
			if v%(1<<13) == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			c.fence(v)
		}
	}
	for v := range uint32(len(c.positions)) {
		if v%(1<<13) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		c.lines[v] = 0
		for i := range c.look(v) {
			e := &c.around[i]
			l := e.lines()
			c.lines[v] |= l
			if v < e.end {
				_, cost := c.target(v, e.end)
				if c.colors != nil {
					d := c.positions[v].minus(c.positions[e.end])
					weight := c.quadrics[v].weight() + c.quadrics[e.end].weight()
					cost += weight * d.dot(d) * colored * contrast(c.colors[e.at[0]], c.colors[e.at[1]])
				}
				c.candidates = append(c.candidates, candidate{float32(cost), v<<1 | uint32(l&seam)/uint32(seam), e.end})
			}
		}
	}
	return nil
}

// look returns the edges at a vertex, in c.around, which the next call overwrites.
func (c *collapser) look(v uint32) []spoke {
	c.around = c.around[:0]
	for _, i := range c.incident[c.first[v]:c.first[v+1]] {
		next, last := others(i)
		for _, j := range [2]uint32{next, last} {
			w := c.corners[j]
			slot := c.slots[w]
			if slot >= uint32(len(c.around)) || c.around[slot].end != w {
				c.slots[w] = uint32(len(c.around))
				c.around = append(c.around, spoke{end: w, faces: 1, at: [2]uint32{i, j}})
				continue
			}
			e := &c.around[slot]
			e.faces++
			if c.colors != nil && (c.colors[e.at[0]] != c.colors[i] || c.colors[e.at[1]] != c.colors[j]) {
				e.split = true
			}
		}
	}
	return c.around
}

// fence adds planes through the seams at v, perpendicular to a face there.
func (c *collapser) fence(v uint32) {
	for _, e := range c.look(v) {
		weight := 0.0
		switch l := e.lines(); {
		case l&border != 0:
			weight = bordered
		case l&seam != 0:
			weight = outlined
		default:
			continue
		}
		next, last := others(e.at[0])
		n, _ := c.normal(v, c.corners[next], c.corners[last])
		p := c.positions[v]
		side := c.positions[e.end].minus(p)
		across := side.cross(n)
		length := math.Sqrt(across.dot(across))
		if length > 0 {
			c.quadrics[v].plane(across.times(1/length), p, weight*side.dot(side))
		}
	}
}

// target returns the best position for the collapse of an edge, and its cost.
func (c *collapser) target(a, b uint32) (vector, float64) {
	q := c.quadrics[a]
	q.add(&c.quadrics[b])
	p, r := c.positions[a], c.positions[b]
	middle, side := p.plus(r).times(0.5), p.minus(r)
	if best, ok := q.least(); ok {
		if d := best.minus(middle); d.dot(d) <= 4*side.dot(side) {
			return best, max(0, q.at(best))
		}
	}
	best, cost := middle, q.at(middle)
	for _, x := range [2]vector{p, r} {
		if y := q.at(x); y < cost {
			best, cost = x, y
		}
	}
	return best, max(0, cost)
}
