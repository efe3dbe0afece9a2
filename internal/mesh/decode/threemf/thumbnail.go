package threemf

import (
	"bytes"
)

// readThumbnail returns a PNG or JPEG thumbnail, or nil if it is missing or unreadable: the mesh is
// valid without it.
func (p *file) readThumbnail(inside string) []byte {
	f := p.File(inside)
	if f == nil {
		return nil
	}
	b, err := p.ReadFile(f, maxThumbnail)
	if err != nil || !bytes.HasPrefix(b, []byte("\x89PNG\r\n\x1a\n")) && !bytes.HasPrefix(b, []byte("\xFF\xD8\xFF")) {
		return nil
	}
	return b
}
