package threemf

import (
	"bytes"
)

// picture gives a PNG or JPEG picture. One that cannot be read is no reason to show nothing.
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
