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
	gcodeHead      = 8 << 20 // how much of a file is looked through: slicers write pictures first
	maxEmbedded    = 8 << 20 // bytes of one picture, in base64
	maxGCodeInside = 32      // pictures that are looked at
)

// FromGCode gives the largest picture that a G-code file carries, as slicers write it: PNG or JPEG in base64, in comments between
// "thumbnail begin 300x300 12345" and "thumbnail end". It is nil where there is none.
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
			_, _ = fmt.Sscanf(rest, "begin %dx%d", &w, &h) // one without a size counts as the smallest
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
