// Package threemf decodes 3MF files.
package threemf

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/geometry"
	"github.com/meshyard/meshyard/internal/mesh/decode/source"
	"github.com/meshyard/meshyard/internal/mesh/decode/textscan"
	"github.com/meshyard/meshyard/internal/mesh/decode/texture"
	"github.com/meshyard/meshyard/internal/mesh/decode/zipfile"
)

// usualModel is the part with the build in the files of all programs. Cura and PrusaSlicer read it
// without the relationship that the specification requires.
const usualModel = "3D/3dmodel.model"

// Decode decodes a 3MF file (core specification 1.3, with the materials and properties and the
// production extension): the items of the build, with the colors of base materials, color groups
// and textures, also in multi-properties, and those of the filaments of Bambu Studio and
// OrcaSlicer. Composites have no color. Beam lattices, slices, and items and volumes of slicers
// that are not printed are ignored.
func Decode(ctx context.Context, src source.Source, limits mesh.Limits, progress func(float64)) (*mesh.Mesh, error) {
	c, err := zipfile.Open(ctx, "3MF", src, limits, progress)
	if err != nil {
		return nil, err
	}
	p := file{Archive: c, ctx: ctx, limits: geometry.IndexableLimits(limits), objects: map[resourceID]*geometry.Object{},
		auxiliary: map[resourceID]bool{},
		unprinted: map[int64][]span{}, parts: map[string]bool{}, decoder: texture.NewDecoder(limits.Textures,
			limits.Textures)}
	relations, err := p.relationships("")
	if err != nil {
		return nil, err
	}
	start := strings.ToLower(cmp.Or(relations[relationshipModel], usualModel))
	if relations[relationshipModel] == "" && p.File(start) == nil {
		return nil, mesh.Errorf(mesh.Malformed,
			"The ZIP archive has no 3D model as a 3MF file has: its relationships (_rels/.rels) name none.")
	}
	own, err := p.relationships(start)
	if err != nil {
		return nil, err
	}
	if relations[relationshipEncrypted] != "" || own[relationshipEncrypted] != "" {
		return nil, mesh.Errorf(mesh.Encrypted, "The 3MF file is encrypted.")
	}
	if err := p.readVolumes(); err != nil {
		return nil, err
	}
	if err := p.readFilaments(); err != nil {
		return nil, err
	}
	if err := p.model(start); err != nil {
		return nil, err
	}
	// Only the first part has build items. Parts that it refers to may refer to others.
	for len(p.referred) > 0 {
		next := p.referred[len(p.referred)-1]
		p.referred = p.referred[:len(p.referred)-1]
		if err := p.model(next); err != nil {
			return nil, err
		}
	}
	return p.mesh()
}

// file is the state of decoding a 3MF file.
type file struct {
	*zipfile.Archive
	ctx        context.Context
	limits     mesh.Limits
	unit       float64
	objects    map[resourceID]*geometry.Object
	auxiliary  map[resourceID]bool // objects of the type other
	unprinted  map[int64][]span    // triangles of each object of the first part
	parts      map[string]bool     // parts that have been read or are in referred
	referred   []string            // parts that remain to be read
	references []reference
	elements   int64 // counts towards Limits.Elements
	vertices   int64
	triangles  int64
	beams      bool       // the file has beam lattices, which are not supported
	booleans   bool       // the file has boolean operations, which are not supported
	required   string     // the namespace of a required extension that is not supported
	filaments  *filaments // nil if the file is no project with colors of filaments
	decoder    *texture.Decoder
	coords     int // number of texture coordinates
	patches    int // number of triangles with a texture
}

// resourceID identifies a resource: IDs are unique within a part.
type resourceID struct {
	part string
	id   int64
}

// reference is a use of an object by ID, resolved after all parts have been read. Without an owner
// it is an item of the build.
type reference struct {
	owner     *geometry.Object
	from      resourceID // of the owner
	to        resourceID
	at        geometry.Transform
	unprinted bool // an item that is not printed
}

// mesh builds the mesh.
func (p *file) mesh() (*mesh.Mesh, error) {
	s := geometry.Scene{Format: "3MF", Limits: p.limits}
	// If no item is printed, all are shown rather than nothing.
	anyPrinted := slices.ContainsFunc(p.references, func(l reference) bool { return l.owner == nil && !l.unprinted })
	colors := painter{file: p}
	for _, l := range p.references {
		o := p.objects[l.to]
		switch {
		case o == nil:
			return nil, mesh.Errorf(mesh.Malformed, "The 3MF file uses object %d of %s, which does not exist.", l.to.id,
				textscan.Quote([]byte(l.to.part)))
		case l.unprinted && anyPrinted:
		case l.owner == nil:
			s.Instances = append(s.Instances, geometry.Instance{Object: o, Transform: l.at})
			colors.item(l)
		case p.auxiliary[l.to]:
			// Bambu Studio and OrcaSlicer write modifiers, negative volumes and the places of supports as
			// such components. They are not printed.
		default:
			l.owner.Instances = append(l.owner.Instances, geometry.Instance{Object: o, Transform: l.at})
			colors.component(l)
		}
	}
	if len(s.Instances) == 0 {
		return nil, mesh.Errorf(mesh.Empty, "The build of the 3MF file has no items, so there is nothing to show.")
	}
	triangles, err := s.Triangles()
	if err != nil {
		return nil, err
	}
	// After the limit is checked, copies for colors need no more memory than the mesh.
	if err := colors.paint(s.Instances); err != nil {
		return nil, err
	}
	p.limitTextures(triangles)
	m := &mesh.Mesh{Format: mesh.ThreeMF, Unit: p.unit}
	if err := s.Fill(p.ctx, m); err != nil {
		return nil, err
	}
	if m.Triangles() == 0 {
		switch {
		case p.booleans:
			return nil, mesh.Errorf(mesh.Unsupported,
				"The 3MF file has only boolean operations on its objects, which are not supported.")
		case p.required != "":
			return nil, mesh.Errorf(mesh.Unsupported,
				"The 3MF file has no triangles, and requires the extension %s, which is not supported.",
				textscan.Quote([]byte(extensionName(p.required))))
		case p.beams:
			return nil, mesh.Errorf(mesh.Empty, "The 3MF file has only beam lattices, which are not shown, and no triangles.")
		}
		return nil, mesh.Errorf(mesh.Empty, "The 3MF file has no triangles.")
	}
	return m, nil
}

// limitTextures sets the memory for textures beside a number of triangles.
func (p *file) limitTextures(triangles int64) {
	left := p.limits.TexturesBeside(triangles)
	p.decoder.Limit(left, left)
}

// resolvePart returns the part that a path in another part refers to, and queues it for reading.
func (p *file) resolvePart(from string, to []byte) (string, error) {
	if to == nil {
		return from, nil
	}
	inside, ok := p.reference(path.Dir(from), string(to))
	if !ok {
		return "", mesh.Errorf(mesh.Malformed, "The 3MF file refers to %s, which leads out of the package.",
			textscan.Quote(to))
	}
	inside = strings.ToLower(inside) // part names are case-insensitive
	if !p.parts[inside] {
		p.parts[inside] = true
		p.referred = append(p.referred, inside)
	}
	return inside, nil
}

// countElement counts an element towards Limits.Elements.
func (p *file) countElement() error {
	if p.elements++; p.elements > p.limits.Elements {
		return mesh.Errorf(mesh.TooLarge,
			"The 3MF file has more than %d objects, components, items and groups of properties.", p.limits.Elements)
	}
	return nil
}
