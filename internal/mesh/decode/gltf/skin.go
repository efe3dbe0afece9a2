package gltf

import (
	"github.com/meshyard/meshyard/internal/mesh"
)

// skin is a list of joints that move the vertices of a mesh (specification, 3.7.3).
type skin struct {
	InverseBindMatrices ref
	Joints              []ref
}

// pose is a resolved skin. The nodes of its joints have the pose that they have without an
// animation, see file.placed.
type pose struct {
	joints []ref
	// inverse holds for each joint the transform from the mesh to the joint, at which the mesh was
	// bound to it; empty if all are the identity
	inverse elements
}

// pose resolves a skin.
func (f *file) pose(r ref) (*pose, error) {
	i, ok := f.index(r, len(f.skins))
	if !ok {
		return nil, f.missingIndex("skin", r, len(f.skins))
	}
	s := &f.skins[i]
	for _, joint := range s.Joints {
		if _, ok := f.index(joint, len(f.nodes)); !ok {
			return nil, f.missingIndex("node", joint, len(f.nodes))
		}
	}
	p := &pose{joints: s.Joints}
	if s.InverseBindMatrices == 0 {
		return p, nil
	}
	var err error
	if p.inverse, err = f.accessor(s.InverseBindMatrices, "MAT4"); err != nil {
		return nil, err
	}
	switch {
	case p.inverse.kind != float32s:
		return nil, mesh.Errorf(mesh.Malformed,
			"The %s file has matrices with components of the type %d for skin %d, where floats (%d) are required.", f.name,
			p.inverse.kind, i, float32s)
	case p.inverse.count < len(s.Joints):
		return nil, mesh.Errorf(mesh.Malformed, "The %s file has %d matrices for the %d joints of skin %d.", f.name,
			p.inverse.count, len(s.Joints), i)
	}
	return p, nil
}

// move returns the position of a vertex of a primitive in the scene: the average of where its
// joints move it to, by their weights.
func (f *file) move(p *primitive, pose *pose, v int, at [3]float64) (to [3]float64, err error) {
	joints, weights := p.joints.vector(v), p.weights.vector(v)
	total := weights[0] + weights[1] + weights[2] + weights[3]
	if total == 0 {
		weights, total = [4]float64{1}, 1 // as three.js does
	}
	for i, weight := range weights {
		if weight == 0 {
			continue // its joint can be any number
		}
		joint := int(joints[i])
		if joint >= len(pose.joints) {
			return to, mesh.Errorf(mesh.Malformed, "The %s file has the joint %d in %s, where the skin has %d.", f.name, joint,
				p.location, len(pose.joints))
		}
		moved := at
		if pose.inverse.count > 0 {
			moved = pose.inverse.transform(joint).Apply(moved)
		}
		moved = f.placed[pose.joints[joint]-1].Apply(moved)
		for k := range to {
			to[k] += weight / total * moved[k]
		}
	}
	return to, nil
}
