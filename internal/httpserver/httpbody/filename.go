package httpbody

import (
	"mime/multipart"
	"strings"
)

// browserEscapes are the characters that browsers escape in the names of parts (WHATWG HTML
// Standard, multipart/form-data encoding). They do not escape the percent sign.
var browserEscapes = strings.NewReplacer("%22", `"`, "%0D", "\r", "%0A", "\n")

// FileName returns the filename of a part. It decodes the escapes of browsers, except in the
// parameter filename*, which has an encoding of its own.
func FileName(part *multipart.Part) string {
	name := part.FileName()
	if strings.Contains(strings.ToLower(part.Header.Get("Content-Disposition")), "filename*") {
		return name
	}
	return browserEscapes.Replace(name)
}
