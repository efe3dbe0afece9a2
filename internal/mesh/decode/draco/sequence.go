package draco

import "context"

// The orders in which the vertices of an attribute are coded.
const (
	traverseDepthFirst       = 0
	traversePredictionDegree = 1
)

// sequence is the order in which the values of attributes are coded: one for each vertex of their
// connectivity, which is nil if the values are coded in the order of the points.
type sequence struct {
	table   *cornerTable
	corners []int32 // a corner with each value, by which it is predicted
	values  []int32 // number of the value of each vertex
}

// value returns the number of the value at a corner.
func (s *sequence) value(c int32) int { return int(s.values[s.table.vertex[c]]) }

// walker walks from triangle to triangle and numbers the vertices that it reaches.
type walker struct {
	*sequence
	visited []bool // triangles
}

// newSequence walks over all triangles (Mesh Traversal Sequencer).
func newSequence(ctx context.Context, t *cornerTable, order uint8) (*sequence, error) {
	w := walker{&sequence{table: t, corners: make([]int32, 0, len(t.first)), values: make([]int32, len(t.first))},
		make([]bool, len(t.vertex)/3)}
	for v := range w.values {
		w.values[v] = none
	}
	walk := w.depthFirst
	if order == traversePredictionDegree {
		walk = (&degreeWalker{walker: w, degrees: make([]uint8, len(t.first))}).walk
	}
	for i := range w.visited {
		if !w.visited[i] {
			walk(int32(3 * i))
		}
		if err := interrupted(ctx, i); err != nil {
			return nil, err
		}
	}
	return w.sequence, nil
}

// visit assigns the next number to the vertex of a corner and reports whether it had none.
func (w *walker) visit(c int32) bool {
	v := w.table.vertex[c]
	if w.values[v] != none {
		return false
	}
	w.values[v] = int32(len(w.corners))
	w.corners = append(w.corners, c)
	return true
}

// isVisited reports whether the triangle of a corner has been visited or does not exist.
func (w *walker) isVisited(c int32) bool { return c == none || w.visited[c/3] }

// depthFirst visits the triangles that are connected to that of a corner, first those on the right
// (Edgebreaker Traverser).
func (w *walker) depthFirst(c int32) {
	w.visit(next(c))
	w.visit(previous(c))
	for stack := []int32{c}; len(stack) > 0; {
		c, stack = stack[len(stack)-1], stack[:len(stack)-1]
		for !w.isVisited(c) {
			w.visited[c/3] = true
			right, left := w.table.rightCorner(c), w.table.leftCorner(c)
			isNew := w.visit(c)
			switch {
			case isNew && !w.table.isOpen(w.table.vertex[c]), w.isVisited(left):
				c = right
			case w.isVisited(right):
				c = left
			default:
				stack = append(stack, left)
				c = right
			}
		}
	}
}

// degreeWalker prefers triangles whose vertices can be predicted best (Edgebreaker Traversal
// Prediction Degree).
type degreeWalker struct {
	walker
	degrees []uint8    // how often each new vertex has been considered: 0, 1 or more
	stacks  [3][]int32 // corners, by their priority
	best    int        // lower bound of the priorities
}

// walk visits the triangles that are connected to that of a corner.
func (w *degreeWalker) walk(c int32) {
	w.stacks[0], w.best = append(w.stacks[0], c), 0
	w.visit(next(c))
	w.visit(previous(c))
	w.visit(c)
	for c = w.pop(); c != none; c = w.pop() {
		for !w.isVisited(c) {
			w.visited[c/3] = true
			w.visit(c)
			right, left := w.table.rightCorner(c), w.table.leftCorner(c)
			c = none
			hasRight := !w.isVisited(right)
			if !w.isVisited(left) {
				priority := w.priority(left)
				if !hasRight && priority <= w.best {
					c = left
					continue
				}
				w.push(left, priority)
			}
			if hasRight {
				priority := w.priority(right)
				if priority <= w.best {
					c = right
					continue
				}
				w.push(right, priority)
			}
		}
	}
}

// priority returns the priority of a corner (ComputePriority).
func (w *degreeWalker) priority(c int32) int {
	v := w.table.vertex[c]
	switch {
	case w.values[v] != none:
		return 0
	case w.degrees[v] == 0:
		w.degrees[v] = 1
		return 2
	}
	return 1
}

func (w *degreeWalker) push(c int32, priority int) {
	w.stacks[priority] = append(w.stacks[priority], c)
	w.best = min(w.best, priority)
}

// pop returns the corner of the best priority, or none (PopNextCornerToTraverse).
func (w *degreeWalker) pop() int32 {
	for i := w.best; i < len(w.stacks); i++ {
		if last := len(w.stacks[i]) - 1; last >= 0 {
			c := w.stacks[i][last]
			w.stacks[i], w.best = w.stacks[i][:last], i
			return c
		}
	}
	return none
}
