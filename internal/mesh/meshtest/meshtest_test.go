package meshtest

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
)

// TestManifest checks that files and rows of a manifest correspond.
func TestManifest(t *testing.T) {
	dirs := []string{filepath.Join(Root(), "testdata", "meshes")}
	if dir, ok := Folder(t); ok {
		dirs = append(dirs, filepath.Join(dir, "meshes"), filepath.Join(dir, "malformed"))
	}
	for _, dir := range dirs {
		known := map[string]bool{manifest: true, "README.md": true, "embed.go": true}
		for _, r := range rows(t, dir) {
			if _, err := os.Stat(r.Path); err != nil {
				t.Errorf("%s has a row: %v", r.Name, err)
			}
			known[r.Name] = true
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if !e.IsDir() && !known[e.Name()] {
				t.Errorf("%s has no row in %s", e.Name(), dir)
			}
		}
	}
}

// TestSphereSTL checks that the sphere is closed: each edge occurs once in each direction.
func TestSphereSTL(t *testing.T) {
	for _, n := range []int{1, 100, 5000, 12345} {
		b := SphereSTL(n)
		count := int(binary.LittleEndian.Uint32(b[80:]))
		if count < n || count > n+n/50+16 || len(b) != 84+50*count {
			t.Errorf("asked for %d triangles, got %d in %d bytes", n, count, len(b))
		}
		type corner [12]byte
		edges := map[[2]corner]int{}
		for r := b[84:]; len(r) > 0; r = r[50:] {
			c := [3]corner{corner(r[12:24]), corner(r[24:36]), corner(r[36:48])}
			for i := range c {
				edges[[2]corner{c[i], c[(i+1)%3]}]++
			}
		}
		for e, times := range edges {
			if times != 1 || edges[[2]corner{e[1], e[0]}] != 1 {
				t.Fatalf("%d triangles: the edge %v is there %d times, and %d times back", n, e, times,
					edges[[2]corner{e[1], e[0]}])
			}
		}
	}
}
