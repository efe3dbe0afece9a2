package models

import (
	"path"
	"strings"
)

// modelTypes maps the extensions of models to the content type, and to the sniffed types that are
// compatible with it. The bytes of these formats alone do not identify the format.
var modelTypes = map[string]struct{ contentType, sniffed string }{
	".stl": {"model/stl", "application/octet-stream text/plain"}, ".obj": {"model/obj", "text/plain"},
	".mtl": {"model/mtl", "text/plain"}, ".3mf": {"model/3mf", "application/zip"},
	".ply": {"model/ply", "application/octet-stream text/plain"}, ".off": {"model/off", "text/plain"},
	".gltf": {"model/gltf+json", "application/json text/plain"}, ".glb": {"model/gltf-binary", "application/octet-stream"},
	".amf": {"application/x-amf", "text/xml application/zip text/plain"}, ".step": {"model/step", "text/plain"},
	".stp": {"model/step", "text/plain"}, ".iges": {"model/iges", "text/plain"}, ".igs": {"model/iges", "text/plain"},
	".scad": {"application/x-openscad", "text/plain"}, ".gcode": {"text/x-gcode", "text/plain"},
	".dae": {"model/vnd.collada+xml", "text/xml"}, ".3ds": {"application/x-3ds", "application/octet-stream"},
	".fbx": {"application/octet-stream", ""}, ".blend": {"application/x-blender", "application/octet-stream"},
	".x3d": {"model/x3d+xml", "text/xml"}, ".wrl": {"model/vrml", "text/plain"}, ".f3d": {"application/zip", ""},
}

// classify determines the kind and the content type of a file from the sniffed type, the name, and
// the kind that its owner declared. The bytes take precedence: a file with the bytes of an image is
// an image whatever its name, and no other file is one.
func classify(sniffed, name string, declared FileKind) (FileKind, string) {
	base, _, _ := strings.Cut(sniffed, ";")
	if base == "image/vnd.mozilla.apng" {
		base = "image/png" // an animated PNG is a PNG, which all programs know
	}
	if isImage(base) {
		return Image, base
	}
	model, known := modelTypes[strings.ToLower(path.Ext(name))]
	contentType := sniffed
	if known && strings.Contains(model.sniffed, base) {
		contentType = model.contentType
	}
	switch {
	// A file that is declared as an image but is not one is classified as if no kind were declared.
	case declared == Model, declared != Attachment && known:
		return Model, contentType
	default:
		return Attachment, contentType
	}
}

// IsModelName reports whether a name has the extension of a model format.
func IsModelName(name string) bool {
	_, known := modelTypes[strings.ToLower(path.Ext(name))]
	return known
}

// isImage reports whether a type is one of the supported image types, which browsers show. An
// animated PNG has two types.
func isImage(contentType string) bool {
	switch contentType {
	case "image/png", "image/vnd.mozilla.apng", "image/jpeg", "image/gif", "image/webp", "image/avif":
		return true
	}
	return false
}
