package mesh

// Limits bound the cost of decoding one file. The context bounds the time; decoders check it often.
// No limit may be zero.
type Limits struct {
	Bytes    int64 // of the file
	Inflated int64 // decompressed size of all files in a container (3MF, AMF) together
	// in the mesh, counting each instance of a shared part; also limits vertices (3 for each
	// triangle) and points of a cloud
	Triangles int64
	Depth     int   // nesting of components and XML elements
	Elements  int64 // number of nodes, groups, materials, properties and other elements
}

// DefaultLimits are the limits of a server without other settings. They allow real models for
// printing and protect a small machine.
var DefaultLimits = Limits{
	Bytes:     2 << 30,
	Inflated:  1 << 30,
	Triangles: 10_000_000,
	Depth:     64,
	Elements:  100_000,
}
