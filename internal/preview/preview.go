// Package preview derives the preview of a file: an image, three.js JSON, GLB, and measurements of
// the mesh. The result is deterministic: the same bytes with the same subject and the same Version
// of this pipeline always yield the same output.
package preview

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/preview/cad"
)

// Version is the version of the pipeline. Increment it with every change that alters the output for
// the same input.
const Version = 14

// Subject is the kind of content that a file is treated as: a mesh format, a CAD format, Image,
// GCode or Design. A file with an empty subject has no preview.
type Subject string

// The subjects other than mesh and CAD formats.
const (
	Image  Subject = "image"
	GCode  Subject = "gcode"
	Design Subject = "design" // of a CAD program that embeds an image: FreeCAD and Fusion
)

// CAD returns the CAD format of a subject, or "" if it has none. A converter must make a mesh of
// such a file first.
func (s Subject) CAD() cad.Format {
	if format := cad.Format(s); format.Known() {
		return format
	}
	return ""
}

// ImageTypes are the content types of the images that can be decoded.
var ImageTypes = []string{"image/png", "image/vnd.mozilla.apng", "image/jpeg", "image/gif", "image/webp"}

// otherImages are the names of image formats that cannot be decoded, by content type.
var otherImages = map[string]string{
	"image/avif": "AVIF", "image/heic": "HEIC", "image/heic-sequence": "HEIC", "image/heif": "HEIF",
	"image/heif-sequence": "HEIF",
	"image/tiff":          "TIFF", "image/bmp": "BMP", "image/jxl": "JPEG XL", "image/jp2": "JPEG 2000",
	"image/jpx": "JPEG 2000", "image/jpm": "JPEG 2000",
}

// Hint returns why a file with a name and a content type has no preview, and what its owner can do.
// The reason is empty if no file of this kind has one.
func Hint(name, contentType string) (reason Reason, what string) {
	base, _, _ := strings.Cut(contentType, ";")
	if format := otherImages[base]; format != "" {
		return ImageFormat, fmt.Sprintf(
			"Previews of %s images are not supported. To show this image, upload it as JPEG, PNG or WebP.", format)
	}
	if format := cad.FormatOf(name); format != "" {
		return NoConverter, fmt.Sprintf(
			"Previews of %s files are not supported here. To show this part, also upload it as STL or 3MF.", format.Title())
	}
	return "", ""
}

// SubjectOf returns the subject of a file, by its name and its sniffed content type, or "" if the
// file has no preview. CAD files have one only if there is a converter.
func SubjectOf(name, contentType string, converts bool) Subject {
	if base, _, _ := strings.Cut(contentType, ";"); slices.Contains(ImageTypes, base) {
		return Image
	}
	switch ending := strings.ToLower(path.Ext(name)); ending {
	case ".gcode", ".gco", ".g", ".gx", ".bgcode":
		return GCode
	case ".fcstd", ".f3d":
		return Design
	}
	if format := cad.FormatOf(name); format != "" && converts {
		return Subject(format)
	}
	return Subject(mesh.FormatOf(name))
}

// Part is one of the objects that a preview consists of.
type Part struct {
	Name        string
	ContentType string
	Gzip        bool // the object is compressed with gzip
}

// Object returns the name of the object.
func (p Part) Object() string {
	if p.Gzip {
		return p.Name + ".gz"
	}
	return p.Name
}

// The parts other than the image.
var (
	Threejs = Part{Name: "model.json", ContentType: "application/json", Gzip: true}
	GLB     = Part{Name: "model.glb", ContentType: "model/gltf-binary"}
)

// ImagePart returns the part for the image in a size, encoded as png or jpg. The size
// thumbnail.Full is the original from which the other sizes are scaled.
func ImagePart(size, format string) Part {
	if format == "jpg" {
		return Part{Name: size + ".jpg", ContentType: "image/jpeg"}
	}
	return Part{Name: size + ".png", ContentType: "image/png"}
}

// PartName returns a name for a part that is unique among everything derived from the same content,
// by this pipeline and others.
func (s Subject) PartName(version int32, part string) string {
	return fmt.Sprintf("%s.%d.%s", s, version, part)
}

// Result describes a finished preview.
type Result struct {
	ImageFormat   string // the encoding of the image, png or jpg; empty: there is no image
	Width, Height int32  // of the image
	Threejs, GLB  bool
	Mesh          *Mesh     // nil if the subject is not a mesh format
	Printing      *Printing // nil if a slicer says nothing
}

// Mesh holds the measurements of a mesh. See measure.Facts.
type Mesh struct {
	Format     mesh.Format `json:"format"`
	Up         string      `json:"up"` // the up axis: X, Y or Z
	Triangles  int64       `json:"triangles"`
	Vertices   int64       `json:"vertices"` // distinct positions
	Components int64       `json:"components"`
	Min        [3]float64  `json:"min"` // of the bounding box, in the coordinates of the file
	Max        [3]float64  `json:"max"`
	Size       [3]float64  `json:"size"`   // of the bounding box, in mm
	Volume     *float64    `json:"volume"` // in mm³; nil if it is undefined
	Area       float64     `json:"area"`   // in mm²
	Watertight bool        `json:"watertight"`
	Manifold   bool        `json:"manifold"`
	Decimated  bool        `json:"decimated"` // the three.js JSON has fewer triangles than the file
	// Textured means that the GLB has textures.
	Textured bool `json:"textured,omitempty"`
	// Fingerprint is the same for the same shape, regardless of its position, rotation, scale and file
	// format.
	Fingerprint string    `json:"fingerprint"`
	Keys        []string  `json:"keys"`       // meshes of the same shape share at least one key
	Descriptor  []float64 `json:"descriptor"` // used to compare shapes, see SameShape
}
