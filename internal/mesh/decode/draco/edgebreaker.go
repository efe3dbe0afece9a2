package draco

import "github.com/meshyard/meshyard/internal/mesh"

// splitEvent says that the triangle of a symbol S is adjacent to an edge of another triangle that
// is decoded before it (ParseTopologySplitEvents). Symbols are numbered from the last one.
type splitEvent struct {
	source, split int
	right         bool
}

// edgebreaker decodes triangles that are coded by how each is connected to those before it
// (Edgebreaker Decoder).
type edgebreaker struct {
	cornerTable
	parts    []int32 // of each vertex, the vertex that it was merged into, or itself
	merged   []int32 // the vertices that were merged into others
	vertices int     // how many there can be at most
	triangle int32   // how many there are
	active   []int32 // stack of corners that are opposite to the edges where triangles are added
}

// edgebreaker decodes the connectivity and that of the attributes.
func (d *decoder) edgebreaker() error {
	kind := d.uint8()
	vertices := d.varint31()
	triangles := d.varint31()
	attributes := int(d.uint8())
	symbols := d.varint31()
	vertices += d.varint31() // those that are merged into others
	switch {
	case d.err != nil:
		return d.err
	case kind == traversalPredictive:
		return mesh.Errorf(mesh.Unsupported, "uses the predictive edgebreaker, which is not supported")
	case kind > traversalValence:
		return d.malformed("has an unknown kind of edgebreaker")
	case symbols > triangles:
		return d.malformed("has more symbols than triangles")
	case vertices > 3*triangles:
		return d.malformed("has more vertices than corners")
	}
	if err := d.reserveTriangles(triangles, 4+4+1); err != nil {
		return err
	}
	if err := d.reserve(vertices, 4+4); err != nil {
		return err
	}
	events, err := d.splitEvents(symbols)
	if err != nil {
		return err
	}
	standard := &standardTraversal{}
	if kind == traversalStandard {
		standard.in.b = d.bytes(d.varint())
	}
	starts := d.bitDecoder()
	seams := make([]bitDecoder, attributes)
	for i := range seams {
		seams[i] = d.bitDecoder()
	}
	in := traversal(standard)
	if kind == traversalValence {
		if in, err = d.valenceTraversal(symbols, vertices); err != nil {
			return err
		}
	}
	if d.err != nil {
		return d.err
	}
	e := &edgebreaker{vertices: vertices}
	e.opposite = make([]int32, 3*triangles)
	for c := range e.opposite {
		e.opposite[c] = none
	}
	e.vertex = make([]int32, 3*triangles)
	if err := e.decode(d, in, symbols, events, &starts); err != nil {
		return err
	}
	e.finish(attributes == 0)
	if !e.isValid() {
		return d.malformed("has vertices whose triangles are not adjacent")
	}
	d.table = &e.cornerTable
	if attributes == 0 {
		d.corners, d.points = e.vertex, len(e.first)
		return nil
	}
	return d.splitAttributes(seams)
}

// splitEvents reads the events in which parts of the surface meet that are not neighbors on the
// stack.
func (d *decoder) splitEvents(symbols int) ([]splitEvent, error) {
	count := d.varint31()
	if count > len(d.b)/2 || count > symbols {
		return nil, d.malformed("has too many split events")
	}
	events := make([]splitEvent, count)
	source := 0
	for i := range events {
		source += d.varint31()
		split := source - d.varint31()
		if source >= symbols || split < 0 {
			return nil, d.malformed("has a split event for a triangle that does not exist")
		}
		events[i] = splitEvent{source: source, split: split}
	}
	in := bitReader{b: d.b}
	for i := range events {
		events[i].right = in.bits(1) == 1
	}
	d.bytes(in.size())
	if in.over {
		d.malformed("ends in the middle of its split events")
	}
	return events, d.err
}

// decode adds the triangles (DecodeEdgeBreakerConnectivity).
func (e *edgebreaker) decode(d *decoder, in traversal, symbols int, events []splitEvent, starts *bitDecoder) error {
	// for a symbol S, the corner opposite to the edge that its triangle is adjacent to
	waiting := map[int]int32{}
	for i := range symbols {
		t := in.next()
		if !e.add(t, i, in, waiting) {
			return d.malformed("has triangles that cannot be connected")
		}
		x := 3 * int32(i)
		in.created(t, [3]int32{e.at(x), e.at(x + 1), e.at(x + 2)})
		if t == topologyL || t == topologyR || t == topologyE {
			for id := symbols - i - 1; len(events) > 0 && events[len(events)-1].source >= id; events = events[:len(events)-1] {
				event := events[len(events)-1]
				if event.source != id {
					return d.malformed("has a split event for a triangle that is not at the border")
				}
				edge := previous(x)
				if event.right {
					edge = next(x)
				}
				waiting[symbols-event.split-1] = edge
			}
		}
		if err := interrupted(d.ctx, i); err != nil {
			return err
		}
	}
	for i := len(e.active) - 1; i >= 0; i-- {
		if starts.next() && !e.close(e.active[i]) {
			return d.malformed("has triangles that cannot be connected")
		}
	}
	if 3*int(e.triangle) != len(e.vertex) {
		return d.malformed("has fewer triangles than it declares")
	}
	return nil
}

// add adds the triangle of symbol i (NewActiveCornerReached) and reports whether that is possible.
func (e *edgebreaker) add(t topology, i int, in traversal, waiting map[int]int32) bool {
	if t == topologyE {
		e.active = append(e.active, none)
	}
	if len(e.active) == 0 {
		return false
	}
	x := 3 * e.triangle
	e.triangle++
	top := &e.active[len(e.active)-1]
	a := *top
	*top = x
	switch t {
	case topologyE:
		return e.addVertex(x) && e.addVertex(x+1) && e.addVertex(x+2)
	case topologyL, topologyR:
		tip, left, right := x+1, x, x+2
		if t == topologyR {
			tip, left, right = x+2, x+1, x
		}
		if !e.join(tip, a) || !e.addVertex(tip) {
			return false
		}
		e.vertex[left] = e.at(next(a))
		e.vertex[right] = e.at(previous(a))
		e.first[e.vertex[right]] = right
		return true
	case topologyC:
		v := e.at(next(a))
		b := next(e.first[v])
		if !e.join(a, x+1) || !e.join(b, x+2) {
			return false
		}
		e.vertex[x], e.vertex[x+1], e.vertex[x+2] = v, e.at(next(b)), e.at(previous(a))
		e.first[e.vertex[x+2]] = x + 2
		return true
	case topologyS:
		b := a
		e.active = e.active[:len(e.active)-1]
		if edge, ok := waiting[i]; ok {
			e.active = append(e.active, edge)
		}
		if len(e.active) == 0 {
			return false
		}
		top = &e.active[len(e.active)-1]
		a, *top = *top, x
		into, from := e.at(previous(a)), e.at(next(b))
		if !e.join(a, x+2) || !e.join(b, x+1) || into == from {
			return false
		}
		e.vertex[x], e.vertex[x+1], e.vertex[x+2] = into, e.at(next(a)), e.at(previous(b))
		e.first[e.vertex[x+2]] = x + 2
		in.merged(into, from)
		e.first[into], e.first[from] = e.first[from], none
		e.parts[from] = into
		e.merged = append(e.merged, from)
		return true
	}
	return false
}

// close adds a triangle between three edges, the first of which is opposite to a
// (ProcessInteriorEdges), and reports whether that is possible.
func (e *edgebreaker) close(a int32) bool {
	x := 3 * e.triangle
	if int(x) >= len(e.vertex) {
		return false
	}
	e.triangle++
	n := e.at(next(a))
	b := next(e.first[n])
	v := e.at(next(b))
	c := next(e.first[v])
	if !e.join(x, a) || !e.join(x+1, b) || !e.join(x+2, c) {
		return false
	}
	e.vertex[x], e.vertex[x+1], e.vertex[x+2] = v, e.at(next(c)), n
	return true
}

// addVertex adds a vertex with one corner.
func (e *edgebreaker) addVertex(c int32) bool {
	if len(e.first) == e.vertices {
		return false
	}
	v := int32(len(e.first))
	e.vertex[c], e.first, e.parts = v, append(e.first, c), append(e.parts, v)
	return true
}

// join makes the edges opposite to two corners one, if both are on the boundary.
func (e *edgebreaker) join(a, b int32) bool {
	if a == b || e.opposite[a] != none || e.opposite[b] != none {
		return false
	}
	e.opposite[a], e.opposite[b] = b, a
	return true
}

// at returns the vertex of a corner.
func (e *edgebreaker) at(c int32) int32 {
	v := e.vertex[c]
	for e.parts[v] != v {
		e.parts[v] = e.parts[e.parts[v]] // halves the path
		v = e.parts[v]
	}
	e.vertex[c] = v
	return v
}

// finish stores the final vertex of each corner. If compact is set, it moves the last vertices to
// the places of those that were merged into others.
func (e *edgebreaker) finish(compact bool) {
	for c := range e.vertex {
		e.at(int32(c))
	}
	if !compact {
		return
	}
	place := e.parts // of each vertex; no longer needed for what it was
	tenant := make([]int32, len(e.first))
	for v := range tenant {
		tenant[v], place[v] = int32(v), int32(v)
	}
	for _, free := range e.merged {
		for e.first[len(e.first)-1] == none {
			e.first = e.first[:len(e.first)-1]
		}
		last := len(e.first) - 1
		if last < int(free) {
			continue
		}
		e.first[free], tenant[free] = e.first[last], tenant[last]
		place[tenant[free]] = free
		e.first = e.first[:last]
	}
	for c, v := range e.vertex {
		e.vertex[c] = place[v]
	}
}
