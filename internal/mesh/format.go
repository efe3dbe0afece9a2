package mesh

import (
	"path"
	"strings"
)

// Format is a file format of meshes, written as the usual ending of a name.
type Format string

// The formats that are read.
const (
	STL  Format = "stl"
	OBJ  Format = "obj"
	TMF  Format = "3mf"
	PLY  Format = "ply"
	GLTF Format = "gltf"
	GLB  Format = "glb"
	OFF  Format = "off"
	AMF  Format = "amf"
)

// Formats are all formats that are read.
var Formats = []Format{STL, OBJ, TMF, PLY, GLTF, GLB, OFF, AMF}

// FormatOf tells the format from the ending of a file's name, in any case, and "" where it is of no mesh.
func FormatOf(name string) Format {
	ending := Format(strings.ToLower(strings.TrimPrefix(path.Ext(name), ".")))
	for _, f := range Formats {
		if f == ending {
			return f
		}
	}
	return ""
}

// Title returns the name of the format as messages write it: STL, glTF, 3MF.
func (f Format) Title() string {
	if f == GLTF {
		return "glTF"
	}
	return strings.ToUpper(string(f))
}
