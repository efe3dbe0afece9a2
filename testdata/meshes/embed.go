// Package meshes has the real models of this folder for the demo. README.md lists their authors and
// licenses.
package meshes

import "embed"

// Files are the models that the demo shows, by name.
//
//go:embed 3mfsamples_box.3mf assimp_cube_with_vertexcolors.obj khronos_BoxInterleaved.glb numpystl_HalfDonut_bin.stl
var Files embed.FS
