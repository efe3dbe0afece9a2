package thumbnail

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
)

const (
	gcodeHead      = 8 << 20 // how many bytes of a file are searched: slicers write thumbnails first
	maxEmbedded    = 8 << 20 // size of one thumbnail in base64
	maxGCodeInside = 32      // number of thumbnails that are considered
)

// FromGCode returns the largest thumbnail in a G-code file, or nil if there is none. Slicers write
// PNG or JPEG in base64, in comments between "thumbnail begin 300x300 12345" and "thumbnail end",
// or "png begin 300*300 12345 3 197 500" and "png end" (Creality), or in one comment as a data URL
// (Snapmaker). Binary G-code has blocks of thumbnails. An error that the file causes is an *Error;
// other errors come from r.
func FromGCode(r io.ReaderAt, size int64) ([]byte, error) {
	if isBinaryGCode(r) {
		return fromBinaryGCode(r, size)
	}
	lines := bufio.NewScanner(io.NewSectionReader(r, 0, min(size, gcodeHead)))
	lines.Buffer(nil, maxEmbedded)
	var best []byte
	var text strings.Builder
	inside, most, seen := false, 0, 0
	for lines.Scan() && seen < maxGCodeInside {
		comment, ok := strings.CutPrefix(strings.TrimSpace(lines.Text()), ";")
		if !ok {
			continue
		}
		comment = strings.TrimSpace(comment)
		kind, rest, _ := strings.Cut(comment, " ")
		switch {
		case isThumbnail(kind) && strings.HasPrefix(rest, "begin "):
			text.Reset()
			seen++
			pixels := pixelsOf(rest)
			if inside = best == nil || pixels > most; inside {
				most = pixels
			}
		case (isThumbnail(kind) || strings.HasPrefix(kind, "thumbnail")) && rest == "end":
			if picture, err := base64.StdEncoding.DecodeString(text.String()); inside && err == nil && len(picture) > 0 {
				best = picture
			}
			inside = false
		case kind == "thumbnail:" && best == nil:
			seen++
			_, encoded, _ := strings.Cut(rest, ";base64,")
			if picture, err := base64.StdEncoding.DecodeString(encoded); strings.HasPrefix(rest, "data:image/") && err == nil && len(picture) > 0 {
				best = picture
			}
		case inside && text.Len()+len(comment) <= maxEmbedded:
			text.WriteString(comment)
		}
	}
	if err := lines.Err(); err != nil && !errors.Is(err, bufio.ErrTooLong) {
		return nil, err
	}
	return best, nil
}

// isThumbnail reports whether a word begins a comment with a thumbnail in a supported format. Some
// slicers also write QOI and formats of their printers.
func isThumbnail(word string) bool {
	switch word {
	case "thumbnail", "thumbnail_JPG", "thumbnail_PNG", "png", "jpg", "jpeg":
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
