package decode

import (
	"archive/zip"
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
)

// grid gives the vertices and triangles of a wavy sheet of n by n squares, as formats of three numbers say; vertices are counted from first.
func grid(n, first int, vertex, triangle string) (vertices, triangles string) {
	var v, f strings.Builder
	for y := range n + 1 {
		for x := range n + 1 {
			fmt.Fprintf(&v, vertex, float64(x)/7, float64(y)/7, math.Sin(float64(x*y)/1000))
		}
	}
	for y := range n {
		for x := range n {
			a := first + y*(n+1) + x
			fmt.Fprintf(&f, triangle, a, a+1, a+n+2)
			fmt.Fprintf(&f, triangle, a, a+n+2, a+n+1)
		}
	}
	return v.String(), f.String()
}

func bench(b *testing.B, read reader, file []byte, unpacked int) {
	b.SetBytes(int64(unpacked))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := readBytes(b, read, file); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOBJ reads 500,000 triangles. It is to be compared with what the disk gives.
func BenchmarkOBJ(b *testing.B) {
	v, f := grid(500, 1, "v %.6f %.6f %.6f\n", "f %d %d %d\n")
	file := []byte(v + f)
	bench(b, readOBJ, file, len(file))
}

// Benchmark3MF reads 500,000 triangles; the bytes are those that were unpacked.
func Benchmark3MF(b *testing.B) {
	v, f := grid(500, 0, "     <vertex x=\"%.6f\" y=\"%.6f\" z=\"%.6f\" />\n", "     <triangle v1=\"%d\" v2=\"%d\" v3=\"%d\" />\n")
	model := modelText(`<object id="1"><mesh><vertices>`+v+`</vertices><triangles>`+f+`</triangles></mesh></object>`, `<item objectid="1"/>`)
	bench(b, read3MF, zipped(b, map[string]string{"_rels/.rels": rootRelations, "3D/3dmodel.model": model}), len(model))
}

const rootRelations = `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Target="/3D/3dmodel.model" ` +
	`Id="rel0" Type="http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel"/></Relationships>`

// modelText is a model part.
func modelText(resources, build string) string {
	return `<?xml version="1.0"?><model unit="millimeter" xmlns="http://schemas.microsoft.com/3dmanufacturing/core/2015/02" ` +
		`xmlns:m="http://schemas.microsoft.com/3dmanufacturing/material/2015/02" ` +
		`xmlns:p="http://schemas.microsoft.com/3dmanufacturing/production/2015/06"><resources>` + resources + `</resources><build>` + build +
		`</build></model>`
}

// zipped packs files.
func zipped(t testing.TB, files map[string]string) []byte { return zippedBy(t, zip.Deflate, files) }

func zippedBy(t testing.TB, method uint16, files map[string]string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range files {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: method})
		if err != nil {
			t.Fatal(err)
		}
		w.Write([]byte(text))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
