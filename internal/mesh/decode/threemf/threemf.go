package threemf

import (
	"context"
	"path"
	"strings"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/geometry"
	"github.com/meshyard/meshyard/internal/mesh/decode/source"
	"github.com/meshyard/meshyard/internal/mesh/decode/textscan"
	"github.com/meshyard/meshyard/internal/mesh/decode/zipfile"
)

// largestPicture is how many bytes a picture that a file carries of itself may have. A larger one is left.
const maxThumbnail = 8 << 20

// read3MF reads a 3MF file: what its build says is to be printed, each use of an object at its place, with colours of base materials and
// colour groups. Properties of other kinds (textures, composites, multi-properties) give no colour, beam lattices and slices no triangles.
// The format is that of the 3MF core specification 1.3, with the materials and properties and the production extension.
func Decode(ctx context.Context, src source.Source, limits mesh.Limits, progress func(float64)) (*mesh.Mesh, error) {
	c, err := zipfile.Open(ctx, "3MF", src, limits, progress)
	if err != nil {
		return nil, err
	}
	p := file{Archive: c, ctx: ctx, limits: geometry.IndexableLimits(limits), objects: map[resourceID]*geometry.Object{}, parts: map[string]bool{}}
	relations, err := p.relationships("")
	if err != nil {
		return nil, err
	}
	start, ok := relations[relationshipModel]
	start = strings.ToLower(start)
	if !ok {
		return nil, mesh.Errorf(mesh.Malformed, "The ZIP archive has no 3D model as a 3MF file has: its relationships (_rels/.rels) name none.")
	}
	own, err := p.relationships(start)
	if err != nil {
		return nil, err
	}
	if relations[relationshipEncrypted] != "" || own[relationshipEncrypted] != "" {
		return nil, mesh.Errorf(mesh.Unsupported, "The 3MF file is encrypted.")
	}
	if err := p.model(start); err != nil {
		return nil, err
	}
	// Only the first part has items; those that it refers to may refer to others.
	for len(p.referred) > 0 {
		next := p.referred[len(p.referred)-1]
		p.referred = p.referred[:len(p.referred)-1]
		if err := p.model(next); err != nil {
			return nil, err
		}
	}
	m, err := p.mesh()
	if err != nil {
		return nil, err
	}
	for _, picture := range []string{relations[relationshipThumbnail], own[relationshipThumbnail]} {
		if m.Picture == nil && picture != "" {
			m.Picture = p.readThumbnail(picture)
		}
	}
	return m, nil
}

// threeMF is a 3MF file while it is read.
type file struct {
	*zipfile.Archive
	ctx        context.Context
	limits     mesh.Limits
	unit       float64
	objects    map[resourceID]*geometry.Object
	parts      map[string]bool // that are read or will be
	referred   []string        // parts that are still to be read
	references []reference
	elements   int64 // of Limits.Elements
	vertices   int64
	triangles  int64
	beams      bool // there are beams, which are not shown
}

// partID is a resource: ids are unique in a part.
type resourceID struct {
	part string
	id   int64
}

// link is a use whose object is looked up when all parts are read. It is one of the build's items where it has no owner.
type reference struct {
	owner *geometry.Object
	to    resourceID
	at    geometry.Transform
}

// mesh makes the mesh.
func (p *file) mesh() (*mesh.Mesh, error) {
	s := geometry.Scene{Format: "3MF", Limits: p.limits}
	for _, l := range p.references {
		o := p.objects[l.to]
		switch {
		case o == nil:
			return nil, mesh.Errorf(mesh.Malformed, "The 3MF file uses object %d of %s, which is not there.", l.to.id, textscan.Quote([]byte(l.to.part)))
		case l.owner == nil:
			s.Instances = append(s.Instances, geometry.Instance{Object: o, Transform: l.at})
		default:
			l.owner.Instances = append(l.owner.Instances, geometry.Instance{Object: o, Transform: l.at})
		}
	}
	if len(s.Instances) == 0 {
		return nil, mesh.Errorf(mesh.Empty, "The build of the 3MF file has no items, so there is nothing to show.")
	}
	m := &mesh.Mesh{Format: mesh.TMF, Unit: p.unit}
	if err := s.Fill(p.ctx, m); err != nil {
		return nil, err
	}
	if m.Triangles() == 0 {
		if p.beams {
			return nil, mesh.Errorf(mesh.Empty, "The 3MF file has only beam lattices, which are not shown, and no triangles.")
		}
		return nil, mesh.Errorf(mesh.Empty, "The 3MF file has no triangles.")
	}
	return m, nil
}

// refer gives the part that a path in a part means, and sees that it is read.
func (p *file) resolvePart(from string, to []byte) (string, error) {
	if to == nil {
		return from, nil
	}
	inside, ok := p.reference(path.Dir(from), string(to))
	if !ok {
		return "", mesh.Errorf(mesh.Malformed, "The 3MF file refers to %s, which leads out of the package.", textscan.Quote(to))
	}
	inside = strings.ToLower(inside) // else one part would be two
	if !p.parts[inside] {
		p.parts[inside] = true
		p.referred = append(p.referred, inside)
	}
	return inside, nil
}

// tally counts one of what a file may hold in any number.
func (p *file) countElement() error {
	if p.elements++; p.elements > p.limits.Elements {
		return mesh.Errorf(mesh.TooLarge, "The 3MF file has more than %d objects, components, items and groups of properties.", p.limits.Elements)
	}
	return nil
}
