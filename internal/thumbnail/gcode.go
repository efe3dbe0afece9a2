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
// PNG or JPEG in base64, in comments between "thumbnail begin 300x300 12345" and "thumbnail end".
func FromGCode(r io.ReaderAt, size int64) ([]byte, error) {
	lines := bufio.NewScanner(io.NewSectionReader(r, 0, min(size, gcodeHead)))
	lines.Buffer(nil, 64<<10)
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
		case (kind == "thumbnail" || kind == "thumbnail_JPG" || kind == "thumbnail_PNG") && strings.HasPrefix(rest, "begin "):
			var w, h uint16
			_, _ = fmt.Sscanf(rest, "begin %dx%d", &w, &h) // one without dimensions counts as the smallest
			text.Reset()
			seen++
			pixels := int(w) * int(h)
			if inside = best == nil || pixels > most; inside {
				most = pixels
			}
		case strings.HasPrefix(kind, "thumbnail") && rest == "end":
			if picture, err := base64.StdEncoding.DecodeString(text.String()); inside && err == nil && len(picture) > 0 {
				best = picture
			}
			inside = false
		case inside && text.Len()+len(comment) <= maxEmbedded:
			text.WriteString(comment)
		}
	}
	if err := lines.Err(); err != nil && !errors.Is(err, bufio.ErrTooLong) {
		return nil, err
	}
	return best, nil
}
