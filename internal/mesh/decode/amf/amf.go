// Package amf decodes AMF files.
package amf

import (
	"archive/zip"
	"cmp"
	"context"
	"io"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/geometry"
	"github.com/meshyard/meshyard/internal/mesh/decode/source"
	"github.com/meshyard/meshyard/internal/mesh/decode/textscan"
	"github.com/meshyard/meshyard/internal/mesh/decode/xmlscan"
	"github.com/meshyard/meshyard/internal/mesh/decode/zipfile"
)

// Decode decodes an AMF file (ISO/ASTM 52915:2016), plain or in a ZIP archive: its constellations
// and the objects that no constellation uses. Colors of triangles take precedence over those of
// vertices, volumes, objects and materials, in this order. Decode ignores color formulas, textures
// and curved edges.
func Decode(ctx context.Context, src source.Source, limits mesh.Limits, progress func(float64)) (*mesh.Mesh, error) {
	limits = geometry.IndexableLimits(limits)
	var r io.Reader = source.NewReader(ctx, src, 0, progress)
	place := "the AMF file"
	if zipfile.IsZIP(src) {
		c, err := zipfile.Open(ctx, "AMF", src, limits, progress)
		if err != nil {
			return nil, err
		}
		// The specification allows one file in the archive, whose name does not matter then. Others are
		// ignored, such as the metadata that macOS adds, whose names have the same extension.
		c.Files = slices.DeleteFunc(c.Files, isMetadata)
		i := slices.IndexFunc(c.Files, func(f *zip.File) bool {
			return len(c.Files) == 1 ||
				strings.EqualFold(path.Ext(f.Name), ".amf")
		})
		if i < 0 {
			return nil, mesh.Errorf(mesh.Malformed, "The ZIP archive has no AMF file.")
		}
		if r, err = c.Open(c.Files[i]); err != nil {
			return nil, err
		}
		place = textscan.Quote([]byte(c.Files[i].Name)) + " in the AMF file"
	}
	a := file{Scanner: xmlscan.NewScanner(r, place, limits.Depth), limits: limits, objects: map[string]*object{},
		constellations: map[string]*object{},
		materials:      map[string]optionalColor{}}
	if err := a.read(); err != nil {
		return nil, err
	}
	return a.mesh(ctx)
}

// isMetadata reports whether a file in an archive is one that the operating system added.
func isMetadata(f *zip.File) bool {
	name := strings.ReplaceAll(f.Name, `\`, "/")
	return strings.HasPrefix(path.Base(name), ".") || slices.Contains(strings.Split(path.Dir(name), "/"), "__MACOSX")
}

// file is the state of decoding an AMF file.
type file struct {
	*xmlscan.Scanner
	limits  mesh.Limits
	unit    float64
	objects map[string]*object
	// Constellations have IDs of their own: Slic3r and PrusaSlicer write both an object and a
	// constellation with the ID 1.
	constellations map[string]*object
	order          []*object
	materials      map[string]optionalColor
	elements       int64 // counts towards Limits.Elements
	vertices       int64
	triangles      int64
}

// object is an object or a constellation.
type object struct {
	geometry.Object
	color          optionalColor
	vertexColors   []optionalColor // of vertices; as long as the last one that has a color
	triangleColors []optionalColor // of triangles; as long as the last one that has a color
	volumes        []volume
	used           bool // by a constellation
	references     []reference
}

// volume is the triangles of an object from first up to the next volume.
type volume struct {
	first    int
	color    optionalColor
	material string
}

// reference is a use of an object by ID, resolved after the whole file has been read.
type reference struct {
	id string
	at geometry.Transform
}

// optionalColor is a color that may be missing.
type optionalColor struct {
	rgba  uint32
	valid bool
}

// or returns c, or other if c is missing.
func (c optionalColor) or(other optionalColor) optionalColor {
	if c.valid {
		return c
	}
	return other
}

// units are the AMF units in millimeters. The default is the millimeter, which some programs
// abbreviate.
var units = map[string]float64{"": 1, "micron": 0.001, "millimeter": 1, "mm": 1, "inch": 25.4, "feet": 304.8,
	"meter": 1000}

func (a *file) read() error {
	if err := a.Next(); err != nil {
		return err
	}
	if !strings.EqualFold(string(a.LocalName()), "amf") {
		return a.Errorf(mesh.Malformed, "has the root element %s where amf is expected", textscan.Quote(a.Tag.Name))
	}
	unit, ok := units[strings.ToLower(string(a.Attr("unit")))]
	if !ok {
		return a.Errorf(mesh.Malformed, "has the unknown unit %s", textscan.Quote(a.Attr("unit")))
	}
	a.unit = unit
	err := a.EachChild(func() error {
		switch string(a.LocalName()) {
		case "object", "constellation":
			return a.object()
		case "material":
			return a.material()
		}
		return nil
	})
	if err != nil {
		return err
	}
	return a.Finish()
}

// mesh builds the mesh.
func (a *file) mesh(ctx context.Context) (*mesh.Mesh, error) {
	for _, o := range a.order {
		for _, l := range o.references {
			to := cmp.Or(a.objects[l.id], a.constellations[l.id])
			if to == nil {
				return nil, mesh.Errorf(mesh.Malformed, "A constellation of the AMF file uses object %s, which does not exist.",
					textscan.Quote([]byte(l.id)))
			}
			to.used = true
			o.Instances = append(o.Instances, geometry.Instance{Object: &to.Object, Transform: l.at})
		}
		if err := a.colorObject(ctx, o); err != nil {
			return nil, err
		}
	}
	s := geometry.Scene{Format: "AMF", Limits: a.limits}
	for _, o := range a.order {
		if err := s.Count(&o.Object, 1); err != nil {
			// constellations that contain each other are all marked as used, so Fill would not
			// visit them
			return nil, err
		}
		if !o.used {
			s.Instances = append(s.Instances, geometry.Instance{Object: &o.Object, Transform: geometry.Identity})
		}
	}
	m := &mesh.Mesh{Format: mesh.AMF, Unit: a.unit}
	if err := s.Fill(ctx, m); err != nil {
		return nil, err
	}
	if m.Triangles() == 0 {
		return nil, mesh.Errorf(mesh.Empty, "The AMF file has no triangles.")
	}
	return m, nil
}

// colorObject replaces the vertices of triangles by output vertices with their colors, now that
// the materials are known.
func (a *file) colorObject(ctx context.Context, o *object) error {
	if o.Shape == nil {
		return nil
	}
	var volume optionalColor
	volumes := o.volumes
	for i, v := range o.Shape.Corners {
		t := i / 3
		for len(volumes) > 0 && volumes[0].first <= t {
			volume = volumes[0].color.or(o.color).or(a.materials[volumes[0].material])
			volumes = volumes[1:]
		}
		color := volume
		if int(v) < len(o.vertexColors) {
			color = o.vertexColors[v].or(color)
		}
		if t < len(o.triangleColors) {
			color = o.triangleColors[t].or(color)
		}
		if !color.valid {
			color.rgba = geometry.NoColor
		}
		o.Shape.Corners[i] = o.Shape.Output(v, color.rgba)
		if i&0xFFFF == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// instanceTransform returns the transform of an instance: factors, then rotations around x, y and z
// in radians, then a translation (section 11 of the specification).
func instanceTransform(factors, angles, delta [3]float64) geometry.Transform {
	var sin, cos [3]float64
	for i, angle := range angles {
		sin[i], cos[i] = math.Sincos(angle)
	}
	scale := geometry.Transform{factors[0], 0, 0, 0, factors[1], 0, 0, 0, factors[2]}
	x := geometry.Transform{1, 0, 0, 0, cos[0], sin[0], 0, -sin[0], cos[0]}
	y := geometry.Transform{cos[1], 0, -sin[1], 0, 1, 0, sin[1], 0, cos[1]}
	z := geometry.Transform{cos[2], sin[2], 0, -sin[2], cos[2], 0, 0, 0, 1, delta[0], delta[1], delta[2]}
	return scale.Then(x).Then(y).Then(z)
}
