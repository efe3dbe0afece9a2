package model

import (
	"math"

	"github.com/meshyard/meshyard/internal/preview"
	"github.com/meshyard/meshyard/models"
)

// Mesh has the measurements of a file that contains a mesh.
type Mesh struct {
	*preview.Mesh
	File *models.File
}

func point(p [3]float64) *Point { return &Point{X: p[0], Y: p[1], Z: p[2]} }

// Min returns the minimum corner of the bounding box in mm.
func (m *Mesh) Min() *Point { return point(m.Mesh.Min) }

// Max returns the maximum corner of the bounding box in mm.
func (m *Mesh) Max() *Point { return point(m.Mesh.Max) }

// Size returns the side lengths of the bounding box in mm.
func (m *Mesh) Size() *Point { return point(m.Mesh.Size) }

// Components returns the number of connected components.
func (m *Mesh) Components() int32 { return int32(min(m.Mesh.Components, math.MaxInt32)) }
