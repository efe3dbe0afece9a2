package amf

import (
	"archive/zip"
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

// readAMF reads an AMF file (ISO/ASTM 52915:2016), plain or in a ZIP archive: its constellations and the objects that no constellation
// uses. Colours are those of triangles, vertices, volumes, objects and materials, in this order; formulas of colours, textures and the
// curves of edges are not looked at.
func Decode(ctx context.Context, src source.Source, limits mesh.Limits, progress func(float64)) (*mesh.Mesh, error) {
	limits = geometry.IndexableLimits(limits)
	var r io.Reader = source.NewReader(ctx, src, 0, progress)
	place := "the AMF file"
	if zipfile.IsZIP(src) {
		c, err := zipfile.Open(ctx, "AMF", src, limits, progress)
		if err != nil {
			return nil, err
		}
		// The specification has one file in the archive; any other is not looked at.
		i := slices.IndexFunc(c.Files, func(f *zip.File) bool { return strings.EqualFold(path.Ext(f.Name), ".amf") })
		if i < 0 {
			return nil, mesh.Errorf(mesh.Malformed, "The ZIP archive has no AMF file.")
		}
		if r, err = c.Open(c.Files[i]); err != nil {
			return nil, err
		}
		place = textscan.Quote([]byte(c.Files[i].Name)) + " in the AMF file"
	}
	a := file{Scanner: xmlscan.NewScanner(r, place, limits.Depth), limits: limits, objects: map[int64]*object{}, materials: map[int64]optionalColor{}}
	if err := a.read(); err != nil {
		return nil, err
	}
	return a.mesh(ctx)
}

// amfFile is an AMF file while it is read.
type file struct {
	*xmlscan.Scanner
	limits    mesh.Limits
	unit      float64
	objects   map[int64]*object // and constellations, which share their ids
	order     []*object
	materials map[int64]optionalColor
	elements  int64 // of Limits.Elements
	vertices  int64
	triangles int64
}

// amfObject is an object or a constellation.
type object struct {
	geometry.Object
	color          optionalColor
	vertexColors   []optionalColor // of vertices; as long as the last one that has a colour
	triangleColors []optionalColor // of triangles; as long as the last one that has a colour
	volumes        []volume
	used           bool // by a constellation
	references     []reference
}

// amfVolume is the triangles of an object from one on, up to the next volume.
type volume struct {
	first    int
	color    optionalColor
	material int64
}

// amfLink is a use of an object that is looked up when all is read.
type reference struct {
	id int64
	at geometry.Transform
}

// amfColor is a colour that may be missing.
type optionalColor struct {
	rgba  uint32
	valid bool
}

// or gives another colour where this one is missing.
func (c optionalColor) or(other optionalColor) optionalColor {
	if c.valid {
		return c
	}
	return other
}

// unitsAMF are the units of AMF in millimetres; one that is not said is a millimetre.
var units = map[string]float64{"": 1, "micron": 0.001, "millimeter": 1, "inch": 25.4, "feet": 304.8, "meter": 1000}

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

// mesh makes the mesh.
func (a *file) mesh(ctx context.Context) (*mesh.Mesh, error) {
	for _, o := range a.order {
		for _, l := range o.references {
			to := a.objects[l.id]
			if to == nil {
				return nil, mesh.Errorf(mesh.Malformed, "A constellation of the AMF file uses object %d, which is not there.", l.id)
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
			return nil, err // constellations that contain each other are used, all of them, and would be passed over
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

// paint gives the corners of an object their places, now that materials are known.
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

// turned gives the transform of an instance: it is turned around x, y and z, by degrees, and then moved (section 11 of the specification).
func instanceTransform(degrees, delta [3]float64) geometry.Transform {
	var sin, cos [3]float64
	for i, d := range degrees {
		sin[i], cos[i] = math.Sincos(d * math.Pi / 180)
	}
	x := geometry.Transform{1, 0, 0, 0, cos[0], sin[0], 0, -sin[0], cos[0]}
	y := geometry.Transform{cos[1], 0, -sin[1], 0, 1, 0, sin[1], 0, cos[1]}
	z := geometry.Transform{cos[2], sin[2], 0, -sin[2], cos[2], 0, 0, 0, 1, delta[0], delta[1], delta[2]}
	return x.Then(y).Then(z)
}
