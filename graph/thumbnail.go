package graph

import (
	"strings"
	"time"

	"github.com/meshyard/meshyard/internal/thumbnail"
)

// Image is a picture that can be fetched.
type Image struct {
	URL           string
	Width, Height int32 // pixels
}

// sizeOf names a size in addresses, and gives the pixels that a picture of so many has in it.
func sizeOf(size ThumbnailSize, width, height int) (name string, w, h int) {
	if size == ThumbnailSizeFull {
		return thumbnail.Full, width, height
	}
	name = strings.ToLower(string(size))
	if !strings.Contains(name, "_") {
		name = "thumb_" + name
	}
	s, _ := thumbnail.SizeNamed(name) // a test sees that all are there
	w, h = s.Of(width, height)
	return name, w, h
}

// signedUntil is when an address ends that is signed now: the same for some minutes, so that browsers meet pictures again that they have.
func signedUntil() time.Time {
	const step = 15 * time.Minute
	return time.Now().Truncate(step).Add(directFor + step)
}
