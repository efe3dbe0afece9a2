package layout

import (
	"path"
	"strings"
)

// The extensions of files, by what they are.
var (
	modelTypes = set(`.stl .obj .mtl .3mf .ply .off .gltf .glb .amf .step .stp .iges .igs .scad .gcode .dae .3ds .fbx .blend .x3d .wrl .f3d
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
	archiveTypes  = set(".7z .bz2 .gz .lz .rar .tar .tbz2 .tgz .txz .tzst .xz .zip .zst")
	pictureTypes  = set(".png .jpg .jpeg .jpe .jfif .gif .webp .avif .heic .heif .bmp .tif .tiff .svg")
	documentTypes = set(
		".pdf .txt .md .markdown .rtf .doc .docx .odt .html .htm .url .webloc .csv .xls .xlsx .ods .epub .nfo .tex")
	partialTypes = set(".crdownload .part .partial .download .!ut .aria2")
)

// system are the names in lower case of files and folders that operating systems, storage devices
// and version control create.
var system = map[string]bool{
	"__macosx": true, "icon\r": true, "icon_": true, "thumbs.db": true, "ehthumbs.db": true, "ehthumbs_vista.db": true,
	"desktop.ini": true, "$recycle.bin": true,
	"system volume information": true, "@eadir": true, "#recycle": true, "@recycle": true, "@recently-snapshot": true,
	"#snapshot": true, "lost+found": true, "cvs": true, "found.000": true,
}

// Ignored reports whether a file or folder is on the ignore list: hidden, or created by an
// operating system, a storage device or version control.
func Ignored(name string) bool {
	return strings.HasPrefix(name, ".") || system[strings.ToLower(name)] || strings.HasPrefix(name, "~$")
}

// extension returns the extension of a name in lower case.
func extension(name string) string { return strings.ToLower(path.Ext(name)) }

// isModel reports whether a name has the extension of a model, of the source of a CAD program, or
// of a file for a slicer or a printer.
func isModel(name string) bool { return modelTypes[extension(name)] }

func isArchive(name string) bool { return archiveTypes[extension(name)] }
func isPicture(name string) bool { return pictureTypes[extension(name)] }

// isText reports whether a name, in lower case, is one of some stems with the extension of a text.
func isText(name string, stems ...string) bool {
	switch ext := path.Ext(name); ext {
	case "", ".txt", ".md", ".markdown", ".rtf", ".html", ".pdf":
		for _, s := range stems {
			if strings.TrimSuffix(name, ext) == s {
				return true
			}
		}
	}
	return false
}

func isReadme(name string) bool {
	lower := strings.ToLower(name)
	return isText(lower, "readme", "read me", "read_me", "description", "liesmich", "lisezmoi") &&
		path.Ext(lower) != ".pdf" && path.Ext(lower) != ".rtf" && path.Ext(lower) != ".html"
}

func isLicense(name string) bool {
	return isText(strings.ToLower(name), "license", "licence", "copying", "licenses", "lizenz", "unlicense",
		"license agreement", "license_agreement")
}

func isMetadata(name string) bool {
	lower := strings.ToLower(name)
	return lower == "thing.json" || lower == "datapackage.json"
}

// kindOf returns the kind of a file by its path in the thing.
func kindOf(file string) Kind {
	name := path.Base(file)
	switch {
	case isModel(name):
		return Model
	case isPicture(name):
		if isTexture(file) {
			return Attachment
		}
		return Picture
	case documentTypes[extension(name)] || isLicense(name) || isReadme(name):
		return Document
	}
	return Attachment
}

// isTexture reports whether a picture is the texture of a model: it lies in a folder of textures,
// or its last word is a channel of a material.
func isTexture(file string) bool {
	for folder := range strings.SplitSeq(path.Dir(file), "/") {
		if words := split(folder); len(words) > 0 && textureFolders[words[len(words)-1]] {
			return true
		}
	}
	words := split(strings.TrimSuffix(path.Base(file), path.Ext(file)))
	return len(words) > 1 && textureWords[words[len(words)-1]]
}
