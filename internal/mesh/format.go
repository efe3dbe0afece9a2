package mesh

import (
	"path"
	"strings"
)

// Format is a mesh file format, written as its usual extension in lower case.
type Format string

// The supported formats.
const (
	STL     Format = "stl"
	OBJ     Format = "obj"
	ThreeMF Format = "3mf"
	PLY     Format = "ply"
	GLTF    Format = "gltf"
	GLB     Format = "glb"
	OFF     Format = "off"
	AMF     Format = "amf"
)

// Formats lists the supported formats.
var Formats = []Format{STL, OBJ, ThreeMF, PLY, GLTF, GLB, OFF, AMF}

// FormatOf returns the format for the extension of a file name, ignoring case, or "" if it is not
// the extension of a mesh format.
func FormatOf(name string) Format {
	ending := Format(strings.ToLower(strings.TrimPrefix(path.Ext(name), ".")))
	for _, f := range Formats {
		if f == ending {
			return f
		}
	}
	return ""
}

// Title returns the name of the format for messages: STL, glTF, 3MF.
func (f Format) Title() string {
	if f == GLTF {
		return "glTF"
	}
	return strings.ToUpper(string(f))
}
