package httpbody

import (
	"mime/multipart"
	"net/textproto"
	"testing"
)

// TestFileName checks filenames as browsers, curl and other programs send them.
func TestFileName(t *testing.T) {
	t.Parallel()
	for parameter, want := range map[string]string{
		`filename="12%22 rail %22v2%22.stl"`:  `12" rail "v2".stl`,
		`filename="12\" rail \"v2\".stl"`:     `12" rail "v2".stl`,
		`filename="a%0D%0Ab.stl"`:             "a\r\nb.stl",
		`filename="100%25 %41.stl"`:           "100%25 %41.stl",
		`filename*=UTF-8''a%2522b%20%22.stl`:  `a%22b ".stl`,
		`filename="Größe %22.stl"`:            `Größe ".stl`,
		`name="x"; filename="/etc/%22passwd"`: `"passwd`,
		`name="x"`:                            "",
	} {
		part := &multipart.Part{Header: textproto.MIMEHeader{"Content-Disposition": {"form-data; " + parameter}}}
		if got := FileName(part); got != want {
			t.Errorf("%s: got %q, want %q", parameter, got, want)
		}
	}
}
