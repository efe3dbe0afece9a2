package project

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/decodetest"
	"github.com/meshyard/meshyard/internal/mesh/decode/source"
)

var update = flag.Bool("update", false, "write the expected facts")

func read(file []byte) (Facts, []byte, error) {
	return Read(context.Background(), source.Source{ReaderAt: bytes.NewReader(file), Size: int64(len(file))},
		mesh.DefaultLimits)
}

// pack returns a ZIP archive of the files in a folder, and the contents by name.
func pack(t testing.TB, folder string) []byte {
	t.Helper()
	parts := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		name, _ := filepath.Rel(folder, path)
		parts[filepath.ToSlash(name)] = string(b)
		return err
	})
	if err != nil || len(parts) == 0 {
		t.Fatal(err, folder)
	}
	return decodetest.ZIP(t, parts)
}

// TestFixtures compares what is read from a project of each slicer with the expected facts. The
// projects are made from the parts that the slicers write.
func TestFixtures(t *testing.T) {
	t.Parallel()
	for name, picture := range map[string]string{
		"bambu": "the image of plate 1\n", "orca": "", "creality": "", "prusa": "the image of the project\n",
		"cura": "the image of the project\n",
	} {
		folder := filepath.Join("testdata", name)
		facts, image, err := read(pack(t, folder))
		if err != nil || string(image) != picture {
			t.Errorf("%s: got the image %q, %v", name, image, err)
		}
		got, err := json.MarshalIndent(facts, "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		golden := folder + ".json"
		if *update {
			if err := os.WriteFile(golden, append(got, '\n'), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.TrimSpace(string(want)), string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestPicture checks that a sliced project has the image of its first plate.
func TestPicture(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		parts  map[string]string
		want   string
		sliced bool
	}{
		{"one plate", map[string]string{"Metadata/plate_1.gcode": "G28", "Metadata/plate_1.png": "one",
			"Metadata/plate_1_small.png": "small", "Metadata/top_1.png": "top"}, "one", true},
		{"the first of several", map[string]string{"Metadata/plate_2.gcode": "G28", "Metadata/plate_10.png": "ten",
			"Metadata/plate_2.png": "two"}, "two", true},
		{"of the project", map[string]string{"/Metadata/plate_1.gcode": "G28", "Thumbnails/thumbnail.png": "project"},
			"project", true},
		{"none", map[string]string{"Metadata/plate_1.gcode": "G28"}, "", true},
		{"not sliced", map[string]string{"Metadata/top_1.png": "one"}, "one", false},
	} {
		facts, picture, err := read(decodetest.ZIP(t, c.parts))
		if string(picture) != c.want || facts.Sliced() != c.sliced || err != nil {
			t.Errorf("%s: got %q, %+v, %v; want %q, %t", c.name, picture, facts, err, c.want, c.sliced)
		}
	}
	if facts, picture, err := read([]byte("solid")); picture != nil || !facts.Empty() || err != nil {
		t.Errorf("no ZIP: got %q, %+v, %v", picture, facts, err)
	}
}

// TestHostile checks that damaged and huge settings are ignored, and lists are bounded.
func TestHostile(t *testing.T) {
	t.Parallel()
	var plates, objects strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&objects, `<object id="%d"><metadata key="name" value="o%d"/></object>`, i, i)
		fmt.Fprintf(&plates, `<plate><metadata key="plater_id" value="%d"/></plate>`, i+1)
	}
	facts, _, err := read(decodetest.ZIP(t, map[string]string{modelSettings: "<config>" + objects.String() +
		plates.String() + "</config>"}))
	if err != nil || len(facts.Plates) != maxPlates || facts.PlateCount != 10_000 || len(facts.Objects) != maxObjects ||
		facts.ObjectCount != 10_000 {
		t.Errorf("got %d of %d plates, %d of %d objects, %v", len(facts.Plates), facts.PlateCount, len(facts.Objects),
			facts.ObjectCount, err)
	}
	for name, parts := range map[string]map[string]string{
		"truncated XML":     {modelSettings: `<config><plate><metadata key="plater_id"`},
		"truncated JSON":    {projectSettings: `{"printer_model": "X`},
		"JSON of no object": {projectSettings: `[1, 2]`},
		"a bomb": {modelSettings: strings.Repeat(" ", 64<<20), projectSettings: strings.Repeat(" ", 64<<20),
			sliceInfo: strings.Repeat("<a>", 10<<20)},
		"deep XML": {sliceInfo: strings.Repeat("<a>", 100_000)},
		"entities": {sliceInfo: `<!DOCTYPE a [<!ENTITY b "c">]><config>&b;</config>`},
		"negative plates": {sliceInfo: `<config><plate><metadata key="index" value="-1"/></plate></config>`,
			"Metadata/plate_-1.gcode": "G28"},
	} {
		if facts, picture, err := read(decodetest.ZIP(t, parts)); err != nil || picture != nil || !facts.Empty() {
			t.Errorf("%s: got %+v, %v", name, facts, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"bambu", "orca", "creality", "prusa", "cura"} {
		f.Add(pack(f, filepath.Join("testdata", name)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, _, err := read(b); !ignorable(err) {
			t.Error(err)
		}
	})
}
