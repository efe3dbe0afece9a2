package draco

// topology is what a triangle shares with those before it (Edgebreaker Decoder).
type topology uint8

// The values of topology, in the order in which the valence traversal numbers them.
const (
	topologyC   topology = iota // two edges that meet in a vertex, which it closes
	topologyS                   // two edges of different parts, which it connects
	topologyL                   // an edge, to continue on the left
	topologyR                   // an edge, to continue on the right
	topologyE                   // nothing
	topologyBad                 // a symbol that does not exist
)

// The ways in which symbols are coded.
const (
	traversalStandard   = 0
	traversalPredictive = 1
	traversalValence    = 2
)

// traversal decodes the topology of each triangle. created is called after each with its corner 0,
// and merged when one vertex becomes a part of another.
type traversal interface {
	next() topology
	created(t topology, v [3]int32)
	merged(into, from int32)
}

// standardTraversal is a traversal of one or three bits for each triangle
// (ParseEdgebreakerStandardSymbol).
type standardTraversal struct{ in bitReader }

func (s *standardTraversal) next() topology {
	t := topologyC
	if s.in.bits(1) == 1 {
		t = topologyS + topology(s.in.bits(2))
	}
	if s.in.over {
		return topologyBad
	}
	return t
}

func (*standardTraversal) created(topology, [3]int32) {}
func (*standardTraversal) merged(_, _ int32)          {}

// The valences that have contexts of their own. Smaller and larger ones share those.
const (
	minValence = 2
	maxValence = 7
)

// valenceTraversal is a traversal in which the coding of a symbol depends on the number of edges
// that the active vertex has until then (Edgebreaker Traversal Valence Decoder).
type valenceTraversal struct {
	contexts [maxValence - minValence + 1][]topology // read from the end
	active   int                                     // -1 before the first symbol
	valences []int32                                 // of each vertex
}

// valenceTraversal reads the symbols of all contexts. There are count triangles with symbols.
func (d *decoder) valenceTraversal(count, vertices int) (*valenceTraversal, error) {
	if err := d.reserve(count+4*vertices, 1); err != nil {
		return nil, err
	}
	v := &valenceTraversal{active: -1, valences: make([]int32, vertices)}
	for i := range v.contexts {
		n := d.varint31()
		if count -= n; count < 0 {
			return nil, d.malformed("has more symbols than triangles")
		}
		values, err := d.readSymbols(n, 1, true)
		if err != nil {
			return nil, err
		}
		v.contexts[i] = make([]topology, n)
		for k, value := range values {
			v.contexts[i][k] = topology(min(value, uint32(topologyBad)))
		}
	}
	return v, d.err
}

func (v *valenceTraversal) next() topology {
	if v.active < 0 {
		return topologyE
	}
	in := &v.contexts[v.active]
	last := len(*in) - 1
	if last < 0 {
		return topologyBad
	}
	t := (*in)[last]
	*in = (*in)[:last]
	return t
}

func (v *valenceTraversal) created(t topology, vertices [3]int32) {
	more := [...][3]int32{topologyC: {0, 1, 1}, topologyS: {0, 1, 1}, topologyL: {1, 2, 1}, topologyR: {1, 1, 2},
		topologyE: {2, 2, 2}}[t]
	for k, vertex := range vertices {
		v.valences[vertex] += more[k]
	}
	v.active = int(min(max(v.valences[vertices[1]], minValence), maxValence)) - minValence
}

func (v *valenceTraversal) merged(into, from int32) { v.valences[into] += v.valences[from] }
