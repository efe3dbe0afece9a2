package decode

import (
	"bytes"
	"strings"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/off"
	"github.com/meshyard/meshyard/internal/mesh/decode/source"
	"github.com/meshyard/meshyard/internal/mesh/decode/stl"
	"github.com/meshyard/meshyard/internal/mesh/decode/textscan"
)

// prefixSniffed is how many bytes detectFormat looks at.
const prefixSniffed = 1024

// detectFormat returns the format of a file. Content takes precedence over the extension, because
// extensions are often wrong. The error of an unsupported file names the type that its content
// looks like.
func detectFormat(src source.Source) (mesh.Format, error) {
	named := mesh.FormatOf(src.Name)
	if src.Size <= 0 {
		return "", mesh.Errorf(mesh.Malformed, "The file is empty: it has no bytes.")
	}
	start, err := src.Prefix(prefixSniffed)
	if err != nil {
		return "", err
	}
	if src.Size > 84 && stl.IsBinary(start, src.Size) {
		return mesh.STL, nil // regardless of the header text: this size is no coincidence
	}
	if f := formatByContent(start, named); f != "" {
		return f, nil
	}
	other := describeForeign(start)
	switch {
	case other != "" && named != "":
		return "", mesh.Errorf(mesh.Malformed, "The extension of the file means %s, but its content looks like %s.",
			named.Title(), other)
	case other != "":
		return "", mesh.Errorf(mesh.Unsupported,
			"The file looks like %s. Meshes are read from STL, OBJ, 3MF, PLY, glTF, GLB, OFF and AMF.", other)
	case named == "":
		return "", mesh.Errorf(mesh.Unsupported,
			"The format of the file is not supported. Meshes are read from STL, OBJ, 3MF, PLY, glTF, GLB, OFF and AMF.")
	}
	return named, nil
}

// formatByContent returns the format that the first bytes indicate, or "" if they indicate none.
func formatByContent(start []byte, named mesh.Format) mesh.Format {
	text := bytes.TrimLeft(bytes.TrimPrefix(start, []byte("\xEF\xBB\xBF")), " \t\r\n\v\f")
	switch {
	case bytes.HasPrefix(start, []byte("glTF")):
		return mesh.GLB
	case bytes.HasPrefix(start, []byte("PK\x03\x04")):
		if named == mesh.AMF {
			return mesh.AMF
		}
		return mesh.ThreeMF
	case bytes.HasPrefix(start, []byte("ply\n")), bytes.HasPrefix(start, []byte("ply\r")):
		return mesh.PLY
	case stl.IsText(start):
		return mesh.STL
	case bytes.HasPrefix(text, []byte("{")) && (named == mesh.GLTF || bytes.Contains(text, []byte(`"asset"`))):
		return mesh.GLTF
	case bytes.HasPrefix(text, []byte("<")) && bytes.Contains(text, []byte("<amf")):
		return mesh.AMF
	}
	first, _ := textscan.CutWord(text)
	if _, _, ok := off.ParseHeader(first); ok {
		return mesh.OFF
	}
	return ""
}

// describeForeign names the type of a file that is not a mesh, or returns "" if it is unknown.
func describeForeign(start []byte) string {
	for _, k := range []struct{ magic, what string }{
		{"\x89PNG\r\n\x1a\n", "a PNG picture"},
		{"\xFF\xD8\xFF", "a JPEG picture"},
		{"GIF8", "a GIF picture"},
		{"%PDF-", "a PDF document"},
		{"\x1F\x8B\x08", "data packed by gzip"},
		{"7z\xBC\xAF\x27\x1C", "a 7-Zip archive"},
		{"Rar!\x1A\x07", "a RAR archive"},
		{"ISO-10303-21", "a STEP file"},
		{"Kaydara FBX Binary", "an FBX file"},
		{"BLENDER", "a Blender file"},
		{"PK\x05\x06", "an empty ZIP archive"},
	} {
		if bytes.HasPrefix(start, []byte(k.magic)) {
			return k.what
		}
	}
	if len(start) >= 12 && string(start[:4]) == "RIFF" && string(start[8:12]) == "WEBP" {
		return "a WebP picture"
	}
	text := strings.ToLower(string(bytes.TrimLeft(bytes.TrimPrefix(start, []byte("\xEF\xBB\xBF")), " \t\r\n")))
	if !strings.HasPrefix(text, "<") {
		return ""
	}
	for _, k := range []struct{ tag, what string }{
		{"<!doctype html", "a page of HTML"},
		{"<html", "a page of HTML"},
		{"<svg", "an SVG picture"},
		{"<collada", "a COLLADA file"},
		{"<x3d", "an X3D file"},
	} {
		if strings.Contains(text, k.tag) {
			return k.what
		}
	}
	return ""
}
