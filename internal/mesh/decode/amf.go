package decode

import (
	"archive/zip"
	"context"
	"io"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/meshyard/meshyard/internal/mesh"
)

// readAMF reads an AMF file (ISO/ASTM 52915:2016), plain or in a ZIP archive: its constellations and the objects that no constellation
// uses. Colours are those of triangles, vertices, volumes, objects and materials, in this order; formulas of colours, textures and the
// curves of edges are not looked at.
func readAMF(ctx context.Context, src Source, limits mesh.Limits, progress func(float64)) (*mesh.Mesh, error) {
	limits = indexable(limits)
	var r io.Reader = newInput(ctx, src, progress)
	place := "the AMF file"
	if isZIP(src) {
		c, err := openContainer(ctx, "AMF", src, limits, progress)
		if err != nil {
			return nil, err
		}
		// The specification has one file in the archive; any other is not looked at.
		i := slices.IndexFunc(c.list, func(f *zip.File) bool { return strings.EqualFold(path.Ext(f.Name), ".amf") })
		if i < 0 {
			return nil, mesh.Errorf(mesh.Malformed, "The ZIP archive has no AMF file.")
		}
		if r, err = c.open(c.list[i]); err != nil {
			return nil, err
		}
		place = quote([]byte(c.list[i].Name)) + " in the AMF file"
	}
	a := amfFile{xmlScanner: newXMLScanner(r, place, limits), objects: map[int64]*amfObject{}, materials: map[int64]amfColor{}}
	if err := a.read(); err != nil {
		return nil, err
	}
	return a.mesh(ctx)
}

// amfFile is an AMF file while it is read.
type amfFile struct {
	*xmlScanner
	unit      float64
	objects   map[int64]*amfObject // and constellations, which share their ids
	order     []*amfObject
	materials map[int64]amfColor
	elements  int64 // of Limits.Elements
	vertices  int64
	triangles int64
}

// amfObject is an object or a constellation.
type amfObject struct {
	object
	color   amfColor
	colors  []amfColor // of vertices; as long as the last one that has a colour
	painted []amfColor // of triangles; as long as the last one that has a colour
	volumes []amfVolume
	used    bool // by a constellation
	links   []amfLink
}

// amfVolume is the triangles of an object from one on, up to the next volume.
type amfVolume struct {
	first    int
	color    amfColor
	material int64
}

// amfLink is a use of an object that is looked up when all is read.
type amfLink struct {
	id int64
	at transform
}

// amfColor is a colour that may be missing.
type amfColor struct {
	rgba uint32
	some bool
}

// or gives another colour where this one is missing.
func (c amfColor) or(other amfColor) amfColor {
	if c.some {
		return c
	}
	return other
}

// unitsAMF are the units of AMF in millimetres; one that is not said is a millimetre.
var unitsAMF = map[string]float64{"": 1, "micron": 0.001, "millimeter": 1, "inch": 25.4, "feet": 304.8, "meter": 1000}

func (a *amfFile) read() error {
	if err := a.next(); err != nil {
		return err
	}
	if !strings.EqualFold(string(a.local()), "amf") {
		return a.errorf(mesh.Malformed, "has the root element %s where amf is expected", quote(a.tag.name))
	}
	unit, ok := unitsAMF[strings.ToLower(string(a.attr("unit")))]
	if !ok {
		return a.errorf(mesh.Malformed, "has the unknown unit %s", quote(a.attr("unit")))
	}
	a.unit = unit
	err := a.children(func() error {
		switch string(a.local()) {
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
	return a.finish()
}

// mesh makes the mesh.
func (a *amfFile) mesh(ctx context.Context) (*mesh.Mesh, error) {
	for _, o := range a.order {
		for _, l := range o.links {
			to := a.objects[l.id]
			if to == nil {
				return nil, mesh.Errorf(mesh.Malformed, "A constellation of the AMF file uses object %d, which is not there.", l.id)
			}
			to.used = true
			o.uses = append(o.uses, use{&to.object, l.at})
		}
		if err := a.paint(ctx, o); err != nil {
			return nil, err
		}
	}
	s := scene{name: "AMF", limits: a.limits}
	for _, o := range a.order {
		if err := s.count(&o.object, 1); err != nil {
			return nil, err // constellations that contain each other are used, all of them, and would be passed over
		}
		if !o.used {
			s.uses = append(s.uses, use{&o.object, identity})
		}
	}
	m := &mesh.Mesh{Format: mesh.AMF, Unit: a.unit}
	if err := s.fill(ctx, m); err != nil {
		return nil, err
	}
	if m.Triangles() == 0 {
		return nil, mesh.Errorf(mesh.Empty, "The AMF file has no triangles.")
	}
	return m, nil
}

// paint gives the corners of an object their places, now that materials are known.
func (a *amfFile) paint(ctx context.Context, o *amfObject) error {
	if o.shape == nil {
		return nil
	}
	var volume amfColor
	volumes := o.volumes
	for i, v := range o.shape.corners {
		t := i / 3
		for len(volumes) > 0 && volumes[0].first <= t {
			volume = volumes[0].color.or(o.color).or(a.materials[volumes[0].material])
			volumes = volumes[1:]
		}
		color := volume
		if int(v) < len(o.colors) {
			color = o.colors[v].or(color)
		}
		if t < len(o.painted) {
			color = o.painted[t].or(color)
		}
		if !color.some {
			color.rgba = plain
		}
		o.shape.corners[i] = o.shape.at(v, color.rgba)
		if i&0xFFFF == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// turned gives the transform of an instance: it is turned around x, y and z, by degrees, and then moved (section 11 of the specification).
func turned(degrees, delta [3]float64) transform {
	var sin, cos [3]float64
	for i, d := range degrees {
		sin[i], cos[i] = math.Sincos(d * math.Pi / 180)
	}
	x := transform{1, 0, 0, 0, cos[0], sin[0], 0, -sin[0], cos[0]}
	y := transform{cos[1], 0, -sin[1], 0, 1, 0, sin[1], 0, cos[1]}
	z := transform{cos[2], sin[2], 0, -sin[2], cos[2], 0, 0, 0, 1, delta[0], delta[1], delta[2]}
	return x.then(y).then(z)
}
