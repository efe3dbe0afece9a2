package decode

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/meshyard/meshyard/internal/mesh"
)

// gltfDocument is what is used of the JSON.
type gltfDocument struct {
	asset struct {
		Version    string
		MinVersion string
	}
	required    []string
	scene       ref
	scenes      []struct{ Nodes []ref }
	nodes       []gltfNode
	meshes      []struct{ Primitives json.RawMessage }
	accessors   []gltfAccessor
	bufferViews []gltfView
	buffers     []struct {
		URI        string
		ByteLength whole
	}
	materials []gltfMaterial
	texturing []struct{ Source, Sampler ref }
	samplers  []struct{ WrapS, WrapT whole }
	images    []struct {
		URI        string
		BufferView ref
	}
}

// ref is an index and 1, so that 0 is none.
type ref int64

func (r *ref) UnmarshalJSON(b []byte) error {
	var n whole
	if err := n.UnmarshalJSON(b); err != nil {
		return err
	}
	*r = ref(n + 1)
	return nil
}

// whole is a number from 0 to 2^53, however it is written.
type whole int64

func (w *whole) UnmarshalJSON(b []byte) error {
	x, err := strconv.ParseFloat(string(b), 64)
	if err != nil || x < 0 || x > 1<<53 || x != math.Trunc(x) {
		return mesh.Errorf(mesh.Malformed, "%s where a whole number is expected", quote(b))
	}
	*w = whole(x)
	return nil
}

// skipped is a value that is not looked at.
type skipped struct{}

func (skipped) UnmarshalJSON([]byte) error { return nil }

// document reads the JSON. It is read value by value, so that no list in it grows beyond the limits.
func (f *gltfFile) document(progress func(float64)) error {
	in := bufio.NewReaderSize(newInput(f.ctx, f.text, progress), 64<<10)
	if mark, _ := in.Peek(3); string(mark) == "\xEF\xBB\xBF" {
		in.Discard(3)
		f.text = Source{io.NewSectionReader(f.text, 3, f.text.Size-3), f.text.Size - 3, f.text.Name}
	}
	d := json.NewDecoder(&gltfText{in: in})
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return f.damaged(err, "its start")
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return f.damaged(err, "a name")
		}
		if err := f.member(d, key.(string)); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return f.damaged(err, "its end")
	}
	return f.version()
}

// member reads one member of the root.
func (f *gltfFile) member(d *json.Decoder, key string) error {
	switch key {
	case "asset":
		return f.value(d, key, &f.asset)
	case "extensionsRequired":
		return list(f, d, key, &f.required)
	case "scene":
		return f.value(d, key, &f.scene)
	case "scenes":
		return list(f, d, key, &f.scenes)
	case "nodes":
		return list(f, d, key, &f.nodes)
	case "meshes":
		return list(f, d, key, &f.meshes)
	case "accessors":
		return list(f, d, key, &f.accessors)
	case "bufferViews":
		return list(f, d, key, &f.bufferViews)
	case "buffers":
		return list(f, d, key, &f.buffers)
	case "materials":
		return list(f, d, key, &f.materials)
	case "textures":
		return list(f, d, key, &f.texturing)
	case "samplers":
		return list(f, d, key, &f.samplers)
	case "images":
		return list(f, d, key, &f.images)
	}
	return f.value(d, key, &skipped{})
}

func (f *gltfFile) value(d *json.Decoder, place string, into any) error {
	if err := d.Decode(into); err != nil {
		return f.damaged(err, place)
	}
	return nil
}

// list reads an array of the root.
func list[T any](f *gltfFile, d *json.Decoder, key string, into *[]T) error {
	*into = nil
	start, err := d.Token()
	if err != nil {
		return f.damaged(err, key)
	}
	if start == json.Delim('{') {
		return mesh.Errorf(mesh.Unsupported, "The %s file has %s by name, as in glTF 1.0, and only glTF 2.0 is read.", f.name, key)
	}
	if start != json.Delim('[') {
		return f.damaged(nil, key)
	}
	for d.More() {
		if int64(len(*into)) >= f.limits.Elements {
			return mesh.Errorf(mesh.TooLarge, "The %s file has more than %d %s.", f.name, f.limits.Elements, key)
		}
		*into = append(*into, *new(T))
		if err := f.value(d, key+" "+strconv.Itoa(len(*into)-1), &(*into)[len(*into)-1]); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return f.damaged(err, key)
	}
	return nil
}

// damaged tells what is wrong with the JSON at a place, without the names that our program has for it.
func (f *gltfFile) damaged(err error, place string) error {
	var told *mesh.Error
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case f.ctx.Err() != nil:
		return f.ctx.Err()
	case errors.As(err, &told):
		return mesh.Errorf(mesh.Malformed, "The JSON of the %s file has in %s %s.", f.name, place, told.Message)
	case errors.As(err, &kind):
		return mesh.Errorf(mesh.Malformed, "The JSON of the %s file has in %s a value of the wrong kind, at %s.", f.name, place,
			quote([]byte(kind.Field)))
	case errors.As(err, &syntax):
		return mesh.Errorf(mesh.Malformed, "The JSON of the %s file is broken in %s: %s.", f.name, place, syntax)
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return mesh.Errorf(mesh.Malformed, "The JSON of the %s file ends in the middle of %s.", f.name, place)
	case err == nil:
		return mesh.Errorf(mesh.Malformed, "The JSON of the %s file has something else than is expected in %s.", f.name, place)
	}
	return err
}

// harmless are the extensions that a file may require and whose absence leaves its geometry as it is.
var harmless = []string{"KHR_mesh_quantization", "KHR_materials_", "KHR_texture_", "KHR_lights_", "KHR_xmp", "KHR_animation_",
	"EXT_texture_", "EXT_lights_", "MSFT_texture_", "MSFT_packing_"}

// version sees whether the file is one that is read.
func (f *gltfFile) version() error {
	switch version, least := f.asset.Version, f.asset.MinVersion; {
	case version == "":
		return mesh.Errorf(mesh.Malformed, "The %s file says no version of glTF.", f.name)
	case !strings.HasPrefix(version, "2."):
		return mesh.Errorf(mesh.Unsupported, "The %s file is of glTF %s, and glTF 2.0 is read.", f.name, quote([]byte(version)))
	case least != "" && least != "2.0":
		return mesh.Errorf(mesh.Unsupported, "The %s file requires glTF %s, and glTF 2.0 is read.", f.name, quote([]byte(least)))
	}
next:
	for _, name := range f.required {
		for _, known := range harmless {
			if strings.HasPrefix(name, known) {
				continue next
			}
		}
		return mesh.Errorf(mesh.Unsupported, "The %s file requires the extension %q, which is not read.", f.name, name[:min(len(name), 64)])
	}
	return nil
}
