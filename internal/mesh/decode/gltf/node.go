package gltf

import (
	"slices"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/geometry"
)

// node places a mesh and other nodes.
type node struct {
	Children    []ref
	Mesh        ref
	Skin        ref
	Weights     []float64 // of morph targets, instead of those of the mesh
	Matrix      []float64 // in column-major order
	Translation []float64
	Rotation    []float64 // quaternion x, y, z, w
	Scale       []float64
	Extensions  struct {
		Instancing *struct {
			Attributes struct {
				Translation ref `json:"TRANSLATION"`
				Rotation    ref `json:"ROTATION"`
				Scale       ref `json:"SCALE"`
			}
		} `json:"EXT_mesh_gpu_instancing"`
	}
}

// instance is a mesh placed by a transform.
type instance struct {
	skinnedMesh
	to geometry.Transform // of the node; the joints of a skin replace it
}

// skinnedMesh is a mesh with the skin that moves its vertices, if there is one, and the node that
// has weights for its morph targets, if there is one.
type skinnedMesh struct {
	mesh    int
	skin    ref
	weights ref
}

// sceneInstances returns the meshes of the default scene: the first scene if no default is set, all
// root nodes if there is no scene.
func (f *file) sceneInstances() ([]instance, error) {
	child, err := f.checkTree()
	if err != nil {
		return nil, err
	}
	var roots, ends []ref
	for i := range f.nodes {
		if !child[i] {
			ends = append(ends, ref(i+1))
		}
	}
	switch scene, ok := f.index(f.scene, len(f.scenes)); {
	case ok:
		roots = f.scenes[scene].Nodes
	case f.scene != 0:
		return nil, f.missingIndex("scene", f.scene, len(f.scenes))
	case len(f.scenes) > 0:
		roots = f.scenes[0].Nodes
	default:
		roots = ends
	}
	// A joint outside of the scene, which the specification forbids, is not moved.
	f.placed = slices.Repeat([]geometry.Transform{geometry.Identity}, len(f.nodes))
	w := nodeWalker{file: f, seen: make([]bool, len(f.nodes))}
	// Some programs list all nodes in the scene, or a root several times. Each is shown once, at its
	// place below its parent.
	for _, children := range [2]bool{false, true} {
		for _, root := range roots {
			if i, ok := f.index(root, len(f.nodes)); ok && child[i] != children {
				continue
			}
			if err := w.walk(root); err != nil {
				return nil, err
			}
		}
	}
	return w.uses, nil
}

// checkTree checks that no node contains itself, and returns which nodes are children.
func (f *file) checkTree() (child []bool, err error) {
	child = make([]bool, len(f.nodes))
	parents := make([]int, len(f.nodes)) // number of parents that have not been removed
	total := int64(0)
	for _, n := range f.nodes {
		if total += int64(len(n.Children)); total > f.limits.Elements {
			return nil, mesh.Errorf(mesh.TooLarge, "The nodes of the %s file have more than %d children.", f.name,
				f.limits.Elements)
		}
		for _, r := range n.Children {
			c, ok := f.index(r, len(f.nodes))
			if !ok {
				return nil, f.missingIndex("node", r, len(f.nodes))
			}
			child[c] = true
			parents[c]++
		}
	}
	// Nodes without parents are removed until only circles, and what they contain, are left.
	var removed []int
	for i := range f.nodes {
		if !child[i] {
			removed = append(removed, i)
		}
	}
	for next := 0; next < len(removed); next++ {
		for _, r := range f.nodes[removed[next]].Children {
			c := int(r - 1)
			if parents[c]--; parents[c] == 0 {
				removed = append(removed, c)
			}
		}
	}
	for i := range f.nodes {
		if parents[i] > 0 {
			return nil, mesh.Errorf(mesh.Malformed, "Node %d of the %s file is part of a node that contains itself.", i, f.name)
		}
	}
	return child, nil
}

// nodeWalker collects the instances of node trees.
type nodeWalker struct {
	*file
	seen   []bool
	visits int64
	uses   []instance
	stack  []placedNode
}

// placedNode is a node to visit.
type placedNode struct {
	node   ref
	parent geometry.Transform // to the scene
}

// walk visits a tree that was not visited before, each node before its children. The tree may have
// any depth, because the bones of a rope or a tail form a long chain. A node with several parents,
// which the specification forbids, is visited below each, as f3d and Assimp do.
func (w *nodeWalker) walk(root ref) error {
	if i, ok := w.index(root, len(w.nodes)); ok && w.seen[i] {
		return nil
	}
	w.stack = append(w.stack[:0], placedNode{root, geometry.Identity})
	for len(w.stack) > 0 {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		p := w.stack[len(w.stack)-1]
		w.stack = w.stack[:len(w.stack)-1]
		i, ok := w.index(p.node, len(w.nodes))
		if !ok {
			return w.missingIndex("node", p.node, len(w.nodes))
		}
		if w.visits++; w.visits > w.limits.Elements {
			return mesh.Errorf(mesh.TooLarge, "The %s file shows its nodes more than %d times.", w.name, w.limits.Elements)
		}
		w.seen[i] = true
		n := &w.nodes[i]
		at, ok := n.transform()
		if !ok {
			return mesh.Errorf(mesh.Malformed, "Node %d of the %s file has a transform of the wrong length.", i, w.name)
		}
		at = at.Then(p.parent)
		w.placed[i] = at
		if n.Mesh != 0 {
			m, ok := w.index(n.Mesh, len(w.meshes))
			if !ok {
				return w.missingIndex("mesh", n.Mesh, len(w.meshes))
			}
			shown := skinnedMesh{mesh: m, skin: n.Skin}
			if n.Weights != nil {
				shown.weights = p.node
			}
			if err := w.addInstances(i, shown, at); err != nil {
				return err
			}
		}
		for _, child := range slices.Backward(n.Children) {
			w.stack = append(w.stack, placedNode{child, at})
		}
	}
	return nil
}

// addInstances appends the instances of the mesh of a node: one, or as many as the attributes of
// the extension EXT_mesh_gpu_instancing have elements.
func (w *nodeWalker) addInstances(node int, shown skinnedMesh, at geometry.Transform) error {
	var attributes [3]elements // translations, rotations and scales
	count := 1
	if e := w.nodes[node].Extensions.Instancing; e != nil {
		given := [3]ref{e.Attributes.Translation, e.Attributes.Rotation, e.Attributes.Scale}
		first := true
		for i, kind := range [3]string{"VEC3", "VEC4", "VEC3"} {
			if given[i] == 0 {
				continue
			}
			var err error
			if attributes[i], err = w.accessor(given[i], kind); err != nil {
				return err
			}
			if n := attributes[i].count; !first && n != count {
				return mesh.Errorf(mesh.Malformed, "Node %d of the %s file has instances with %d and with %d elements.", node,
					w.name, count, n)
			}
			count, first = attributes[i].count, false
		}
	}
	if int64(len(w.uses)+count) > w.limits.Elements {
		return mesh.Errorf(mesh.TooLarge, "The %s file shows its meshes more than %d times.", w.name, w.limits.Elements)
	}
	for i := range count {
		values := [3][4]float64{{}, {0, 0, 0, 1}, {1, 1, 1}}
		for k := range attributes {
			if attributes[k].width > 0 {
				values[k] = attributes[k].vector(i)
			}
		}
		own := placement(values[0][:3], values[1][:], values[2][:3])
		w.uses = append(w.uses, instance{shown, own.Then(at)})
	}
	return nil
}

// transform returns the transform of a node relative to its parent. ok is false if a member has the
// wrong length.
func (n *node) transform() (t geometry.Transform, ok bool) {
	if m := n.Matrix; m != nil {
		if len(m) != 16 {
			return geometry.Identity, false
		}
		return *transformOf(m), true
	}
	move, r, s := []float64{0, 0, 0}, []float64{0, 0, 0, 1}, []float64{1, 1, 1}
	for _, given := range []struct{ from, to *[]float64 }{{&n.Translation, &move}, {&n.Rotation, &r}, {&n.Scale, &s}} {
		if *given.from == nil {
			continue
		}
		if len(*given.from) != len(*given.to) {
			return geometry.Identity, false
		}
		*given.to = *given.from
	}
	return placement(move, r, s), true
}

// transformOf returns the transform of an affine matrix in column-major order.
func transformOf(m []float64) *geometry.Transform {
	return &geometry.Transform{m[0], m[1], m[2], m[4], m[5], m[6], m[8], m[9], m[10], m[12], m[13], m[14]}
}

// placement returns the transform that scales, rotates by a quaternion and then moves.
func placement(move, r, s []float64) geometry.Transform {
	x, y, z, w := r[0], r[1], r[2], r[3]
	return geometry.Transform{
		s[0] * (1 - 2*(y*y+z*z)), s[0] * 2 * (x*y + w*z), s[0] * 2 * (x*z - w*y),
		s[1] * 2 * (x*y - w*z), s[1] * (1 - 2*(x*x+z*z)), s[1] * 2 * (y*z + w*x),
		s[2] * 2 * (x*z + w*y), s[2] * 2 * (y*z - w*x), s[2] * (1 - 2*(x*x+y*y)),
		move[0], move[1], move[2],
	}
}

// index returns the index of a reference and whether it is less than count.
func (f *file) index(r ref, count int) (int, bool) {
	return int(r - 1), r > 0 && int64(r) <= int64(count)
}

// missingIndex returns the error for a reference that is missing or out of range.
func (f *file) missingIndex(what string, r ref, count int) error {
	if r == 0 {
		return mesh.Errorf(mesh.Malformed, "The %s file names no %s where one is needed.", f.name, what)
	}
	return mesh.Errorf(mesh.Malformed, "The %s file refers to %s %d, where there are %d.", f.name, what, r-1, count)
}
