package sliced

import (
	"encoding/base64"
	"fmt"
	"strings"
)

const (
	maxEmbedded = 8 << 20 // size of one thumbnail in base64
	maxPictures = 32      // number of thumbnails that are considered
)

// thumbnails finds the largest thumbnail in the comments of a G-code file. Slicers write PNG, JPEG
// or QOI in base64, in comments between "thumbnail begin 300x300 12345" and "thumbnail end", or
// "png begin 300*300 12345 3 197 500" and "png end" (Creality), or in one comment as a data URL
// (Snapmaker).
type thumbnails struct {
	best   []byte
	pixels int
	seen   int
	open   bool // between the beginning and the end of a thumbnail
	larger bool // the open one is larger than best
	next   int  // pixels of the open one
	text   strings.Builder
}

// line reads a comment, and reports whether it belongs to a thumbnail.
func (t *thumbnails) line(comment string) bool {
	kind, rest, _ := strings.Cut(comment, " ")
	switch {
	case isThumbnail(kind) && strings.HasPrefix(rest, "begin "):
		t.text.Reset()
		t.seen++
		t.next = pixelsOf(rest)
		t.open, t.larger = true, t.seen <= maxPictures && (t.best == nil || t.next > t.pixels)
	case (isThumbnail(kind) || strings.HasPrefix(kind, "thumbnail")) && rest == "end":
		if picture, err := base64.StdEncoding.DecodeString(t.text.String()); t.larger && err == nil && len(picture) > 0 {
			t.best, t.pixels = picture, t.next
		}
		t.open, t.larger = false, false
	case kind == "thumbnail:" && t.best == nil && t.seen < maxPictures:
		t.seen++
		_, encoded, _ := strings.Cut(rest, ";base64,")
		if picture, err := base64.StdEncoding.DecodeString(encoded); strings.HasPrefix(rest, "data:image/") && err == nil &&
			len(picture) > 0 {
			t.best = picture
		}
	case t.open && rest == "" && kind != "":
		if t.larger && t.text.Len()+len(comment) <= maxEmbedded {
			t.text.WriteString(comment)
		}
	default:
		return false
	}
	return true
}

// isThumbnail reports whether a word begins a comment with a thumbnail in a supported format. Some
// slicers also write formats of their printers.
func isThumbnail(word string) bool {
	switch word {
	case "thumbnail", "thumbnail_JPG", "thumbnail_PNG", "thumbnail_QOI", "png", "jpg", "jpeg":
		return true
	}
	return false
}

// pixelsOf returns the number of pixels of a thumbnail that begins with "begin 300x300", or with
// "*" or a space in place of "x". One without dimensions counts as the smallest.
func pixelsOf(begin string) int {
	var w, h uint16
	for _, form := range []string{"begin %dx%d", "begin %d*%d", "begin %d %d"} {
		if n, _ := fmt.Sscanf(begin, form, &w, &h); n == 2 {
			return int(w) * int(h)
		}
	}
	return 0
}
