package glb

import (
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
	PBR         pbr    `json:"pbrMetallicRoughness"`
	AlphaMode   string `json:"alphaMode,omitempty"`
	DoubleSided bool   `json:"doubleSided,omitempty"`
}

type pbr struct {
	Factor    [4]float64 `json:"baseColorFactor"`
	Metallic  float64    `json:"metallicFactor"`
	Roughness float64    `json:"roughnessFactor"`
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
	Target     int   `json:"target"`
}

type buffer struct {
	ByteLength int64 `json:"byteLength"`
}

// document returns the JSON.
func (l *layout) document() document {
	m := l.mesh
	d := document{
		Asset:       asset{"2.0", "Meshyard"},
		Scenes:      []scene{{[]int{0}}},
		Nodes:       []node{l.node()},
		Materials:   []material{{PBR: pbr{[4]float64{1, 1, 1, 1}, 0, 0.7}, DoubleSided: !m.Cloud}},
		Accessors:   l.accessors,
		BufferViews: l.views,
		Buffers:     []buffer{{l.length}},
	}
	const points, triangles = 0, 4
	p := primitive{Attributes: l.attributes, Indices: l.indices, Mode: triangles}
	if m.Cloud {
		p.Mode = points
	}
	d.Meshes = []meshes{{[]primitive{p}}}
	if m.Colors == nil {
		gray := mesh.Linear[204]
		d.Materials[0].PBR.Factor = [4]float64{gray, gray, gray, 1}
	}
	if l.translucent {
		d.Materials[0].AlphaMode = "BLEND"
	}
	if !l.exact {
		d.ExtensionsUsed = []string{"KHR_mesh_quantization"}
		d.ExtensionsRequired = d.ExtensionsUsed
	}
	return d
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
