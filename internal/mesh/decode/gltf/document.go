package gltf

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/source"
	"github.com/meshyard/meshyard/internal/mesh/decode/textscan"
)

// document is the relevant part of the JSON.
type document struct {
	asset struct {
		Version    string
		MinVersion string
	}
	required []string
	scene    ref
	scenes   []struct{ Nodes []ref }
	nodes    []node
	skins    []skin
	meshes   []struct {
		Primitives json.RawMessage
		Weights    []float64
	}
	accessors   []accessor
	bufferViews []bufferView
	buffers     []struct {
		URI        string
		ByteLength integer
	}
	materials []material
	textures  []struct {
		Source, Sampler ref
		Extensions      struct {
			WebP struct{ Source ref } `json:"EXT_texture_webp"`
		}
	}
	samplers []struct{ WrapS, WrapT, MagFilter integer }
	images   []struct {
		URI        string
		BufferView ref
	}
}

// ref is an index + 1; 0 means none.
type ref int64

func (r *ref) UnmarshalJSON(b []byte) error {
	var n integer
	if err := n.UnmarshalJSON(b); err != nil {
		return err
	}
	*r = ref(n + 1)
	return nil
}

// integer is a number from 0 to 2^53 in any JSON notation.
type integer int64

func (w *integer) UnmarshalJSON(b []byte) error {
	x, err := strconv.ParseFloat(string(b), 64)
	if err != nil || x < 0 || x > 1<<53 || x != math.Trunc(x) {
		return mesh.Errorf(mesh.Malformed, "%s where a whole number is expected", textscan.Quote(b))
	}
	*w = integer(x)
	return nil
}

// ignored is a value that is skipped.
type ignored struct{}

func (ignored) UnmarshalJSON([]byte) error { return nil }

// readJSON reads the JSON value by value, so that no list grows beyond the limits.
func (f *file) readJSON(progress func(float64)) error {
	in := bufio.NewReaderSize(source.NewReader(f.ctx, f.text, 0, progress), 64<<10)
	if mark, _ := in.Peek(3); string(mark) == "\xEF\xBB\xBF" {
		in.Discard(3)
		f.text = source.Source{ReaderAt: io.NewSectionReader(f.text, 3, f.text.Size-3), Size: f.text.Size - 3,
			Name: f.text.Name}
	}
	d := json.NewDecoder(&uriStripper{in: in})
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return f.jsonError(err, "its start")
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return f.jsonError(err, "a name")
		}
		if err := f.readMember(d, key.(string)); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return f.jsonError(err, "its end")
	}
	return f.checkVersion()
}

// readMember reads one member of the root object.
func (f *file) readMember(d *json.Decoder, key string) error {
	switch key {
	case "asset":
		return f.decodeValue(d, key, &f.asset)
	case "extensionsRequired":
		return decodeList(f, d, key, &f.required)
	case "scene":
		return f.decodeValue(d, key, &f.scene)
	case "scenes":
		return decodeList(f, d, key, &f.scenes)
	case "nodes":
		return decodeList(f, d, key, &f.nodes)
	case "skins":
		return decodeList(f, d, key, &f.skins)
	case "meshes":
		return decodeList(f, d, key, &f.meshes)
	case "accessors":
		return decodeList(f, d, key, &f.accessors)
	case "bufferViews":
		return decodeList(f, d, key, &f.bufferViews)
	case "buffers":
		return decodeList(f, d, key, &f.buffers)
	case "materials":
		return decodeList(f, d, key, &f.materials)
	case "textures":
		return decodeList(f, d, key, &f.textures)
	case "samplers":
		return decodeList(f, d, key, &f.samplers)
	case "images":
		return decodeList(f, d, key, &f.images)
	}
	return f.decodeValue(d, textscan.Quote([]byte(key)), &ignored{})
}

func (f *file) decodeValue(d *json.Decoder, place string, into any) error {
	if err := d.Decode(into); err != nil {
		return f.jsonError(err, place)
	}
	return nil
}

// decodeList reads an array of the root object.
func decodeList[T any](f *file, d *json.Decoder, key string, into *[]T) error {
	*into = nil
	start, err := d.Token()
	if err != nil {
		return f.jsonError(err, key)
	}
	if start == json.Delim('{') {
		return mesh.Errorf(mesh.Unsupported, "The %s file has %s by name, as in glTF 1.0, and only glTF 2.0 is read.",
			f.name, key)
	}
	if start != json.Delim('[') {
		return f.jsonError(nil, key)
	}
	for d.More() {
		if int64(len(*into)) >= f.limits.Elements {
			return mesh.Errorf(mesh.TooLarge, "The %s file has more than %d %s.", f.name, f.limits.Elements, key)
		}
		*into = append(*into, *new(T))
		if err := f.decodeValue(d, key+" "+strconv.Itoa(len(*into)-1), &(*into)[len(*into)-1]); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return f.jsonError(err, key)
	}
	return nil
}

// jsonError returns a *mesh.Error for an error in the JSON, without the names of Go types.
func (f *file) jsonError(err error, place string) error {
	var told *mesh.Error
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case f.ctx.Err() != nil:
		return f.ctx.Err()
	case errors.As(err, &told):
		return mesh.Errorf(mesh.Malformed, "The JSON of the %s file has in %s %s.", f.name, place, told.Message)
	case errors.As(err, &kind):
		return mesh.Errorf(mesh.Malformed, "The JSON of the %s file has in %s a value of the wrong kind, at %s.",
			f.name, place,
			textscan.Quote([]byte(kind.Field)))
	case errors.As(err, &syntax):
		return mesh.Errorf(mesh.Malformed, "The JSON of the %s file is broken in %s: %s.", f.name, place, syntax)
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return mesh.Errorf(mesh.Malformed, "The JSON of the %s file ends in the middle of %s.", f.name, place)
	case err == nil:
		return mesh.Errorf(mesh.Malformed, "The JSON of the %s file has something else than is expected in %s.",
			f.name, place)
	}
	return err
}

// knownExtensions are prefixes of extensions that a file may require: those that are decoded, and
// those that do not change its geometry.
var knownExtensions = []string{"EXT_mesh_gpu_instancing", "EXT_meshopt_compression", "KHR_meshopt_compression",
	"KHR_draco_mesh_compression", "KHR_mesh_quantization",
	"KHR_materials_", "KHR_texture_", "KHR_lights_", "KHR_xmp", "KHR_animation_",
	"EXT_texture_", "EXT_lights_", "MSFT_texture_", "MSFT_packing_", "KHR_technique", "EXT_mesh_features",
	"EXT_structural_metadata"}

// checkVersion checks the glTF version and the required extensions.
func (f *file) checkVersion() error {
	switch version, least := f.asset.Version, f.asset.MinVersion; {
	case version == "":
		return mesh.Errorf(mesh.Malformed, "The %s file has no glTF version.", f.name)
	case version != "2" && !strings.HasPrefix(version, "2."):
		return mesh.Errorf(mesh.Unsupported, "The %s file has the glTF version %s, and only glTF 2.0 is supported.", f.name,
			textscan.Quote([]byte(version)))
	case least != "" && least != "2.0":
		return mesh.Errorf(mesh.Unsupported, "The %s file requires glTF %s, and glTF 2.0 is read.", f.name,
			textscan.Quote([]byte(least)))
	}
next:
	for _, name := range f.required {
		for _, known := range knownExtensions {
			if strings.HasPrefix(name, known) {
				continue next
			}
		}
		return mesh.Errorf(mesh.Unsupported, "The %s file requires the extension %q, which is not supported.", f.name,
			name[:min(len(name), 64)])
	}
	return nil
}
