package decode

import (
	"archive/zip"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
)

// fuzzLimits are small, so that what they do not stop is soon seen.
var fuzzLimits = mesh.Limits{Bytes: 1 << 20, Inflated: 1 << 20, Triangles: 1000, Depth: 16, Elements: 200}

// fuzz sees that a reader gives a sound mesh or an error that can be told to the user, whatever it reads.
func fuzz(f *testing.F, format string, read reader) {
	dirs := []string{"../../../testdata/meshes"}
	if dir := os.Getenv("MESHYARD_TEST_DATA"); dir != "" {
		dirs = append(dirs, filepath.Join(dir, "malformed"), filepath.Join(dir, "meshes", format), filepath.Join(dir, "meshes", "other"))
	}
	for _, dir := range dirs {
		names, err := filepath.Glob(filepath.Join(dir, "*."+format))
		if err != nil {
			f.Fatal(err)
		}
		for _, name := range names {
			if b, err := os.ReadFile(name); err == nil && len(b) < 16<<10 {
				f.Add(b)
			}
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzed(t, b, read)
	})
}

func fuzzed(t *testing.T, b []byte, read reader) {
	m, err := read(context.Background(), source(b), fuzzLimits, nil)
	var told *mesh.Error
	switch {
	case err == nil:
		checkSound(t, m)
		if n := int64(m.Triangles()); n > fuzzLimits.Triangles {
			t.Errorf("got %d triangles", n)
		}
	case !errors.As(err, &told):
		t.Errorf("the error is none for the user: %v", err)
	}
}

func FuzzOBJ(f *testing.F) {
	f.Add([]byte("newmtl a\nKd 1 0 .5\nv 0 0 0 1 2 3\nv 1 0 0\nv 1e5 1 0\nv -0 1 0\nusemtl a\nf 1 2/1 3//4 \\\n -1\np 1\n"))
	fuzz(f, "obj", readOBJ)
}

func FuzzAMF(f *testing.F) {
	f.Add([]byte(`<amf unit="inch">` + objectAMF(1, colorAMF(1, 0, 0), "", "", "") + `<material id="7">` + colorAMF(0, 0, 1) +
		`</material><constellation id="2"><instance objectid="1"><deltax>1</deltax><rz>90</rz></instance></constellation></amf>`))
	fuzz(f, "amf", readAMF)
}

// Fuzz3MF changes the model and its relationships inside of a package, for what is packed cannot be changed to any use. FuzzZIP changes
// packages.
func Fuzz3MF(f *testing.F) {
	const groups = `<basematerials id="5"><base displaycolor="#FF0000"/></basematerials><m:colorgroup id="6"><m:color color="#0000FF80"/></m:colorgroup>`
	const objects = `<object id="1" pid="5">` + oneTriangle + `</object><object id="2"><components><component objectid="1" p:path="/a.model"/></components></object>`
	model := modelText(groups+objects, `<item objectid="2" transform="0 1 0 -1 0 0 0 0 1 10 20 30"/>`)
	f.Add(rootRelations, model, model)
	f.Add(relations(map[string]string{relationModel: "/a.model", relationThumbnail: "../b"}), "", modelText(objects, `<item objectid="1"/>`))
	f.Fuzz(func(t *testing.T, rels, start, other string) {
		fuzzed(t, zippedBy(t, zip.Store, map[string]string{"_rels/.rels": rels, "3D/3dmodel.model": start, "a.model": other}), read3MF)
	})
}

func FuzzZIP(f *testing.F) { fuzz(f, "3mf", read3MF) }
