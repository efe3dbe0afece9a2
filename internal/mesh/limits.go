package mesh

// Limits bound what reading one file may cost. Time is bounded by the context, which readers ask often. None may be zero.
type Limits struct {
	Bytes     int64 // of the file
	Inflated  int64 // of everything that a container (3MF, AMF) unpacks to, together
	Triangles int64 // in the mesh, each use of a shared part counted; it also bounds vertices (three a triangle) and points of a cloud
	Depth     int   // of components, nodes and nested elements
	Elements  int64 // of everything else that a file may hold in any number: nodes, groups, materials, properties
}

// DefaultLimits are those of a server that is not told others: enough for what is printed, and nothing that stops a machine.
var DefaultLimits = Limits{
	Bytes:     2 << 30,
	Inflated:  1 << 30,
	Triangles: 10_000_000,
	Depth:     64,
	Elements:  100_000,
}
