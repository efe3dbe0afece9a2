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

// designTypes are the extensions of other files that a thing can consist of: the sources of CAD
// programs, projects of slicers, and files that printers read. Their content type is the sniffed
// one.
var designTypes = extensions(`
	.3dm .3dmf .abc .brep .brp .c4d .catpart .catproduct .csg .dwf .dwg .dxf .easm .edrw .eprt .f3z .fcstd .iam .idw
	.ifc .ipt .jscad
	.jt .lwo .lxo .ma .max .mb .par .prt .psm .sab .sat .skp .slddrw .sldasm .sldprt .stpz .usd .usda .usdc .usdz .vox
	.vrml .x_b .x_t
	.x3db .x3dv .xmt_bin .xmt_txt .ztl .zpr
	.bgcode .fff .factory .form .g .gco .gx .makerbot .mix .nc .ngc .s3g .ufp .x3g
	.cbddlp .chitubox .ctb .cws .cxdlp .cxdlpv4 .fdg .goo .lgs .lgs30 .lys .lyt .m5sp .mdlp .osf .osla .phz .photon
	.photons
	.pm3 .pm3m .pm3n .pm3r .pm4n .pm4u .pm5 .pm5s .pmsq .pmx2 .prz .pw0 .pwma .pwmb .pwmo .pwms .pws .pwsq .pwmx .px6s
	.sl1 .sl1s
	.svgx .uvj .vdt .vdx .voxl .zcode .zcodex`)

// archiveTypes are the extensions of archives: things are often shared as one.
var archiveTypes = extensions(".7z .bz2 .gz .lz .rar .tar .tbz2 .tgz .txz .tzst .xz .zip .zst")

func extensions(list string) map[string]bool {
	set := make(map[string]bool)
	for _, extension := range strings.Fields(list) {
		set[extension] = true
	}
	return set
}

// Classify determines the kind and the content type of a file from the sniffed type, the name, and
// the kind that its owner declared. The bytes take precedence: a file with the bytes of an image is
// an image whatever its name, and no other file is one.
func Classify(sniffed, name string, declared FileKind) (FileKind, string) {
	base, _, _ := strings.Cut(sniffed, ";")
	if base == "image/vnd.mozilla.apng" {
		base = "image/png" // an animated PNG is a PNG, which all programs know
	}
	if IsImage(base) {
		return Image, base
	}
	extension := strings.ToLower(path.Ext(name))
	model, known := modelTypes[extension]
	contentType := sniffed
	if known && strings.Contains(model.sniffed, tableless(base)) {
		contentType = model.contentType
	}
	switch {
	// A file that is declared as an image but is not one is classified as if no kind were declared.
	case declared == Model, declared != Attachment && (known || designTypes[extension] || archiveTypes[extension]):
		return Model, contentType
	default:
		return Attachment, contentType
	}
}

// tableless returns the type of a text without the guess that it is a table: coordinates that are
// separated by tabs or commas look like one.
func tableless(sniffed string) string {
	if sniffed == "text/csv" || sniffed == "text/tab-separated-values" {
		return "text/plain"
	}
	return sniffed
}

// IsModelName reports whether a name has the extension of a model. Archives are not included,
// because their names do not say what they contain.
func IsModelName(name string) bool {
	extension := strings.ToLower(path.Ext(name))
	_, known := modelTypes[extension]
	return known || designTypes[extension]
}

// IsImage reports whether a type is one of the supported image types, which browsers show. An
// animated PNG has two types.
func IsImage(contentType string) bool {
	switch contentType {
	case "image/png", "image/vnd.mozilla.apng", "image/jpeg", "image/gif", "image/webp", "image/avif":
		return true
	}
	return false
}
