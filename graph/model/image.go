package model

// Image is a rendering or a scaled picture that can be fetched by URL.
type Image struct {
	URL           string
	Width, Height int32 // pixels
}
