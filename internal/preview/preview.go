// Package preview derives from the bytes of a file what people look at before they download it: a
// picture, three.js JSON, GLB, and facts of the mesh. What is derived is a function of the bytes,
// of what they are taken for, and of the version of this pipeline, to the byte.
package preview

import (
	"fmt"
	"path"
	"strings"

	"github.com/meshyard/meshyard/internal/mesh"
)

// Version is the version of the pipeline. Increment it with every change that alters the output for
// the same input.
const Version = 3

// Subject is what a file is taken for: a format of meshes, Image or GCode. Nothing is derived of a
// file of no subject.
type Subject string

// The subjects that are no formats of meshes.
const (
	Image Subject = "image"
	GCode Subject = "gcode"
)

// SubjectOf returns what a file is taken for. contentType is what its bytes show.
func SubjectOf(name, contentType string) Subject {
	if strings.HasPrefix(contentType, "image/") && !strings.Contains(contentType, "svg") {
		return Image
	}
	switch ending := strings.ToLower(path.Ext(name)); ending {
	case ".gcode", ".gco", ".g":
		return GCode
	}
	return Subject(mesh.FormatOf(name))
}

// Part is one of the things that are derived and kept as objects.
type Part struct {
	Name        string
	ContentType string
	Gzip        bool // the object is compressed
}

// Object names the object of the part.
func (p Part) Object() string {
	if p.Gzip {
		return p.Name + ".gz"
	}
	return p.Name
}

// The parts, beside the picture.
var (
	Threejs = Part{Name: "model.json", ContentType: "application/json", Gzip: true}
	GLB     = Part{Name: "model.glb", ContentType: "model/gltf-binary"}
)

// Picture returns the part for the picture of the given size, encoded as png or jpg. The size
// thumbnail.Full is the original from which the other sizes are scaled.
func Picture(size, written string) Part {
	if written == "jpg" {
		return Part{Name: size + ".jpg", ContentType: "image/jpeg"}
	}
	return Part{Name: size + ".png", ContentType: "image/png"}
}

// PartName returns a name for a part that is unique among everything derived from the same content,
// by this pipeline and others.
func (s Subject) PartName(version int32, part string) string {
	return fmt.Sprintf("%s.%d.%s", s, version, part)
}

// Result says what was derived.
type Result struct {
	Picture       string // how the picture is written, png or jpg; empty: there is none
	Width, Height int32  // of the picture
	Threejs, GLB  bool
	Mesh          *Mesh // nil where the subject is no mesh
}

// Mesh is what is known of a mesh.
type Mesh struct {
	Format     mesh.Format `json:"format"`
	Up         string      `json:"up"` // the axis that points up, X, Y or Z
	Triangles  int64       `json:"triangles"`
	Vertices   int64       `json:"vertices"` // different places
	Components int64       `json:"components"`
	Min        [3]float64  `json:"min"` // of the box, in the coordinates of the file
	Max        [3]float64  `json:"max"`
	Size       [3]float64  `json:"size"`   // of the box, mm
	Volume     *float64    `json:"volume"` // mm³; nil where the mesh encloses none
	Area       float64     `json:"area"`   // mm²
	Watertight bool        `json:"watertight"`
	Manifold   bool        `json:"manifold"`
	Decimated  bool        `json:"decimated"` // the three.js JSON has fewer triangles
	// Fingerprint is the same for the same shape, wherever it stands, however it is turned and
	// scaled, and in whatever format.
	Fingerprint string    `json:"fingerprint"`
	Keys        []string  `json:"keys"`       // meshes of the same shape share at least one key
	Descriptor  []float64 `json:"descriptor"` // used to compare shapes, see SameShape
}
