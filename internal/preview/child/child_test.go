package child

import (
	"bytes"
	"encoding/base64"
	"errors"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/meshtest"
	"github.com/meshyard/meshyard/internal/mesh/meshtest/decoded"
	"github.com/meshyard/meshyard/internal/mesh/write/glb"
	"github.com/meshyard/meshyard/internal/preview"
)

func init() { Idle = false }

// file returns an open file with the given content.
func file(t *testing.T, content []byte) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "content")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// derive makes a preview of the content in a child process, and returns its parts by name.
func (r Runner) derive(t *testing.T, content []byte,
	subject preview.Subject) (map[string][]byte, preview.Result, Usage, error) {
	t.Helper()
	parts := make(map[string][]byte)
	result, usage, err := r.Derive(t.Context(), file(t, content), subject, keep(parts), func(string, float64) {})
	return parts, result, usage, err
}

// keep returns a Put that stores the parts in a map.
func keep(parts map[string][]byte) preview.Put {
	return func(part preview.Part, write func(io.Writer) error) error {
		var b bytes.Buffer
		err := write(&b)
		parts[part.Object()] = b.Bytes()
		return err
	}
}

// TestTextures checks that the GLB has the textures of a file, unless there is no memory for them
// or they are too many, and that the result says whether it has them.
func TestTextures(t *testing.T) {
	texture := &mesh.Texture{Image: mesh.NewImage(2, 2, []uint32{0xFF0000FF, 0xFF00FF00, 0xFFFF0000, 0xFF102030})}
	m := &mesh.Mesh{
		Unit: 1, Positions: []float32{0, 0, 0, 1, 0, 0, 0, 1, 0}, Colors: make([]uint8, 12),
		Patches: []mesh.Patch{{Texture: texture, UV: [3][2]float32{{0, 0}, {1, 0}, {0, 1}},
			Tint: [3]uint32{0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}}},
	}
	var content bytes.Buffer
	if _, err := glb.Write(&content, m, glb.Options{}); err != nil {
		t.Fatal(err)
	}
	check := func(doing string, parts map[string][]byte, result preview.Result, err error, want int) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", doing, err)
		}
		got, err := decoded.File(t, "", parts["model.glb"])
		if err != nil {
			t.Fatalf("%s: %v", doing, err)
		}
		if len(got.Patches) != want || result.Mesh.Textured != (want > 0) {
			t.Errorf("%s: got %d patches, textured: %v, want %d", doing, len(got.Patches), result.Mesh.Textured, want)
		}
	}
	parts, result, _, err := Runner{}.derive(t, content.Bytes(), "glb")
	check("with memory", parts, result, err, 1)
	derive := func(content []byte, subject preview.Subject, limits mesh.Limits) (preview.Result, error) {
		return preview.Derive(t.Context(), preview.Source{ReaderAt: bytes.NewReader(content), Size: int64(len(content))},
			subject, limits, keep(parts),
			func(string, float64) {})
	}
	limits := preview.LimitsFor(DefaultMemory)
	result, err = derive(manyTextures(t, 1025), "gltf", limits)
	check("with more textures than a GLB has", parts, result, err, 0)
	limits.Triangles = 3
	result, err = derive(content.Bytes(), "glb", limits)
	check("without memory", parts, result, err, 0)
}

// manyTextures returns a glTF file with n triangles beside each other, each with a texture.
func manyTextures(t *testing.T, n int) []byte {
	t.Helper()
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		t.Fatal(err)
	}
	list := func(format string) string {
		all := make([]string, n)
		for i := range all {
			all[i] = strings.ReplaceAll(format, "#", strconv.Itoa(i))
		}
		return strings.Join(all, ",")
	}
	return []byte(`{"asset":{"version":"2.0"},"images":[` +
		list(`{"uri":"data:image/png;base64,`+base64.StdEncoding.EncodeToString(picture.Bytes())+`"}`) +
		`],"textures":[` + list(`{"source":#}`) + `],"materials":[` +
		list(`{"pbrMetallicRoughness":{"baseColorTexture":{"index":#}}}`) +
		`],"nodes":[` + list(`{"mesh":#,"translation":[#,0,0]}`) + `],"meshes":[` +
		list(`{"primitives":[{"attributes":{"POSITION":0,"TEXCOORD_0":1},"material":#}]}`) + `],
"buffers":[{"byteLength":36,"uri":"data:;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA"}],"bufferViews":[{"buffer":0,"byteLength":36}],
"accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"},{"componentType":5126,"count":3,"type":"VEC2"}]}`)
}

// TestSameAsInProcess checks that a child creates the same bytes as this process.
func TestSameAsInProcess(t *testing.T) {
	ball := meshtest.SphereSTL(5000)
	got, result, usage, err := Runner{}.derive(t, ball, "stl")
	if err != nil {
		t.Fatal(err)
	}
	want := make(map[string][]byte)
	inProcess, err := preview.Derive(t.Context(), preview.Source{ReaderAt: bytes.NewReader(ball),
		Size: int64(len(ball))}, "stl",
		preview.LimitsFor(DefaultMemory), keep(want), func(string, float64) {})
	if err != nil || len(want) != 3 || len(got) != 3 {
		t.Fatalf("%d parts here, %d from the child, %v", len(want), len(got), err)
	}
	for name, b := range want {
		if !bytes.Equal(b, got[name]) {
			t.Errorf("%s: %d bytes here, other %d bytes from the child", name, len(b), len(got[name]))
		}
	}
	if result.Mesh == nil || result.Mesh.Fingerprint != inProcess.Mesh.Fingerprint || result.ImageFormat != "png" ||
		!result.GLB {
		t.Errorf("got %+v", result)
	}
	if usage.CPU == 0 || usage.Memory == 0 {
		t.Errorf("usage is %+v", usage)
	}
}

// skipUnderRace skips a test whose child needs nearly all of its memory and CPU time. Under the
// race detector, which runs with -short, it would need several times as much.
func skipUnderRace(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("the child needs several times its memory under the race detector")
	}
}

// TestEnds checks the errors of children that exceed a limit or get an invalid file: their types,
// which decide whether a preview is tried again, and their messages.
func TestEnds(t *testing.T) {
	skipUnderRace(t)
	var bad *mesh.Error
	var interrupted *Interrupted
	for _, c := range []struct {
		name    string
		runner  Runner
		content []byte
		subject preview.Subject
		as      any
		reason  mesh.Reason // of bad
		message string
	}{
		{"not a mesh", Runner{}, []byte("<html>"), "stl", &bad, mesh.Malformed, "HTML"},
		{"too many triangles for the memory", Runner{Memory: 250 << 20}, meshtest.SphereSTL(1_200_000), "stl", &bad,
			mesh.TooLarge, "at most"},
		{"memory", Runner{Memory: 85 << 20}, large(t), "image", &bad, mesh.OutOfMemory, "more than 85 MiB of memory"},
		{"processor time", Runner{CPU: time.Millisecond}, meshtest.SphereSTL(400_000), "stl", &bad, mesh.TooSlow,
			"processor time"},
		{"deadline", Runner{Deadline: 300 * time.Millisecond}, meshtest.SphereSTL(600_000), "stl", &interrupted, "",
			"took longer than 0.3 seconds"},
	} {
		_, _, usage, err := c.runner.derive(t, c.content, c.subject)
		if c.as == any(&bad) && errors.As(err, &bad) && bad.Reason != c.reason {
			t.Errorf("%s: got the reason %s, want %s", c.name, bad.Reason, c.reason)
		}
		if !errors.As(err, c.as) || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%s: got %T %v, want an error with %q", c.name, err, err, c.message)
		}
		if limit := max(c.runner.Memory, DefaultMemory); usage.Memory > limit {
			t.Errorf("%s: the child held %d bytes, want at most %d", c.name, usage.Memory, limit)
		}
	}
}

// large returns a PNG of 16 million pixels, which take 64 MiB when decoded.
func large(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).
		Encode(&b, image.NewNRGBA(image.Rect(0, 0, 4096, 4096))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
