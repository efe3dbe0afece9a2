package mesh

// Limits bound the cost of decoding one file. The context bounds the time; decoders check it often.
// No limit may be zero.
type Limits struct {
	Bytes    int64 // of the file
	Inflated int64 // decompressed size of all files in a container (3MF, AMF) together
	// in the mesh, counting each instance of a shared part; also limits vertices (3 for each
	// triangle) and points of a cloud
	Triangles int64
	// Textures is the memory for textures, in bytes: for all that are kept, and for decoding one of
	// them. Triangles use the same memory, see TexturesBeside.
	Textures int64
	Depth    int   // nesting of components and XML elements
	Elements int64 // number of nodes, groups, materials, properties and other elements
}

// DefaultLimits are the limits of a server without other settings. They allow real models for
// printing and protect a small machine.
var DefaultLimits = Limits{
	Bytes:     2 << 30,
	Inflated:  1 << 30,
	Triangles: 10_000_000,
	Textures:  512 << 20,
	Depth:     64,
	Elements:  100_000,
}

// TexturesBeside returns how much of the memory for textures is left beside a number of triangles:
// all beside none, and nothing beside as many as the limit.
func (l Limits) TexturesBeside(triangles int64) int64 {
	share := float64(triangles) / float64(l.Triangles)
	return int64(float64(l.Textures) * (1 - min(1, share)))
}
