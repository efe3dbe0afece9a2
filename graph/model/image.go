package model

import (
	"time"

	"github.com/meshyard/meshyard/models"
)

// Image is a rendering or a scaled image that can be downloaded from a URL.
type Image struct {
	URL           string
	Width, Height int32 // pixels
}

// MediaImage is an image of a thing or a make: an image file, or the rendering of a model.
type MediaImage struct {
	ID          int64
	Name        string
	Rank        *int32
	IsRendering bool
	File        *models.File
	URL         string
	CreatedAt   time.Time

	Preview *models.Preview // the finished preview of File, or nil
}
