package glb

import (
	"maps"
	"math"

	"github.com/meshyard/meshyard/internal/mesh"
)

// document is the JSON of the file.
type document struct {
	Asset              asset      `json:"asset"`
	ExtensionsUsed     []string   `json:"extensionsUsed,omitempty"`
	ExtensionsRequired []string   `json:"extensionsRequired,omitempty"`
	Scene              int        `json:"scene"`
	Scenes             []scene    `json:"scenes"`
	Nodes              []node     `json:"nodes"`
	Meshes             []meshes   `json:"meshes"`
	Materials          []material `json:"materials"`
	Textures           []texture  `json:"textures,omitempty"`
	Samplers           []sampler  `json:"samplers,omitempty"`
	Images             []picture  `json:"images,omitempty"`
	Accessors          []accessor `json:"accessors"`
	BufferViews        []view     `json:"bufferViews"`
	Buffers            []buffer   `json:"buffers"`
}

type asset struct {
	Version   string `json:"version"`
	Generator string `json:"generator"`
}

type scene struct {
	Nodes []int `json:"nodes"`
}

type node struct {
	Mesh        int        `json:"mesh"`
	Translation [3]float64 `json:"translation"`
	Rotation    []float64  `json:"rotation,omitempty"`
	Scale       [3]float64 `json:"scale"`
}

type meshes struct {
	Primitives []primitive `json:"primitives"`
}

type primitive struct {
	Attributes map[string]int `json:"attributes"`
	Indices    *int           `json:"indices,omitempty"`
	Material   int            `json:"material"`
	Mode       int            `json:"mode"`
}

type material struct {
	PBR         pbr      `json:"pbrMetallicRoughness"`
	AlphaMode   string   `json:"alphaMode,omitempty"`
	AlphaCutoff *float64 `json:"alphaCutoff,omitempty"`
	DoubleSided bool     `json:"doubleSided,omitempty"`
}

type pbr struct {
	Factor    [4]float64   `json:"baseColorFactor"`
	Texture   *textureInfo `json:"baseColorTexture,omitempty"`
	Metallic  float64      `json:"metallicFactor"`
	Roughness float64      `json:"roughnessFactor"`
}

type textureInfo struct {
	Index int `json:"index"`
}

type texture struct {
	Sampler int `json:"sampler"`
	Source  int `json:"source"`
}

type sampler struct {
	MagFilter int `json:"magFilter"`
	MinFilter int `json:"minFilter"`
	WrapS     int `json:"wrapS"`
	WrapT     int `json:"wrapT"`
}

type picture struct {
	BufferView int    `json:"bufferView"`
	MimeType   string `json:"mimeType"`
}

type accessor struct {
	BufferView    int       `json:"bufferView"`
	ComponentType int       `json:"componentType"`
	Normalized    bool      `json:"normalized,omitempty"`
	Count         int       `json:"count"`
	Type          string    `json:"type"`
	Min           []float64 `json:"min,omitempty"`
	Max           []float64 `json:"max,omitempty"`
}

type view struct {
	Buffer     int   `json:"buffer"`
	ByteOffset int64 `json:"byteOffset"`
	ByteLength int64 `json:"byteLength"`
	ByteStride int   `json:"byteStride,omitempty"`
	Target     int   `json:"target,omitempty"`
}

type buffer struct {
	ByteLength int64 `json:"byteLength"`
}

const (
	roughness = 0.7
	gray      = 204 // the color of what has none
)

// Filters and wrapping modes (specification, 5.26).
const filterNearest, filterLinear, filterMipmap = 9728, 9729, 9987

var wraps = [...]int{mesh.Repeat: 10497, mesh.Mirror: 33648, mesh.Clamp: 33071}

// document returns the JSON.
func (l *layout) document() document {
	m := l.mesh
	d := document{
		Asset:       asset{"2.0", "Meshyard"},
		Scenes:      []scene{{[]int{0}}},
		Nodes:       []node{l.node()},
		Meshes:      []meshes{{}},
		Images:      l.pictures,
		Accessors:   l.accessors,
		BufferViews: l.views,
		Buffers:     []buffer{{l.length}},
	}
	const points, triangles = 0, 4
	for i, of := range l.parts {
		p := primitive{Attributes: l.attributes, Indices: l.indices[i], Material: i, Mode: triangles}
		if m.Cloud {
			p.Mode = points
		}
		if of.texture != nil {
			d.Materials = append(d.Materials, d.textured(&of))
		} else {
			p.Attributes = maps.Clone(p.Attributes)
			delete(p.Attributes, "TEXCOORD_0")
			d.Materials = append(d.Materials, l.colored())
		}
		d.Meshes[0].Primitives = append(d.Meshes[0].Primitives, p)
	}
	if !l.exact {
		d.ExtensionsUsed = []string{"KHR_mesh_quantization"}
		d.ExtensionsRequired = d.ExtensionsUsed
	}
	return d
}

// colored returns the material of what has no texture.
func (l *layout) colored() material {
	of := material{PBR: pbr{Factor: [4]float64{1, 1, 1, 1}, Roughness: roughness}, DoubleSided: !l.mesh.Cloud}
	if l.mesh.Colors == nil {
		light := mesh.Linear[gray]
		of.PBR.Factor = [4]float64{light, light, light, 1}
	}
	if l.translucent {
		of.AlphaMode = "BLEND"
	}
	return of
}

// textured adds a texture and returns its material.
func (d *document) textured(p *part) material {
	t := p.texture
	s := sampler{MagFilter: filterLinear, MinFilter: filterMipmap, WrapS: wraps[t.WrapU], WrapT: wraps[t.WrapV]}
	if t.Nearest {
		s.MagFilter = filterNearest
	}
	i := len(d.Textures)
	d.Samplers, d.Textures = append(d.Samplers, s), append(d.Textures, texture{Sampler: i, Source: p.image})
	of := material{PBR: pbr{Factor: [4]float64{1, 1, 1, 1}, Texture: &textureInfo{i}, Roughness: roughness},
		DoubleSided: true}
	switch t.Alpha {
	case mesh.AlphaMask:
		cutoff := float64(t.Cutoff) / math.MaxUint8
		of.AlphaMode, of.AlphaCutoff = "MASK", &cutoff
	case mesh.AlphaBlend:
		of.AlphaMode = "BLEND"
	}
	return of
}

// node converts stored positions to meters with Y up.
func (l *layout) node() node {
	m := l.mesh
	meters := m.Unit / 1000
	scale := meters
	if !l.exact {
		scale *= l.half
	}
	n := node{Scale: [3]float64{scale, scale, scale}}
	for i := range n.Translation {
		n.Translation[i] = (l.center[i] + m.Origin[i]) * meters
	}
	if m.Up == mesh.UpZ {
		t := n.Translation
		n.Rotation = []float64{-math.Sqrt2 / 2, 0, 0, math.Sqrt2 / 2}
		n.Translation = [3]float64{t[0], t[2], -t[1] + 0}
	}
	return n
}
