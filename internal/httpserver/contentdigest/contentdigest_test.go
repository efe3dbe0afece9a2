package contentdigest

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestVerify(t *testing.T) {
	t.Parallel()
	const text = "the body"
	sum256, sum512, other := sha256.Sum256([]byte(text)), sha512.Sum512([]byte(text)), sha256.Sum256(nil)
	encode := func(p []byte) string { return ":" + base64.StdEncoding.EncodeToString(p) + ":" }
	for name, c := range map[string]struct {
		header string
		ok     bool
	}{
		"none":            {"", true},
		"equal":           {"sha-256=" + encode(sum256[:]), true},
		"with parameters": {"sha-256=" + encode(sum256[:]) + ";x=1", true},
		"SHA-512":         {"sha-512=" + encode(sum512[:]), true},
		"the stronger one differs": {"sha-512=" + encode(append(sum512[:63:63], 0)) + ", sha-256=" + encode(sum256[:]),
			false},
		"the weaker one differs": {"sha-256=" + encode(other[:]) + ", sha-512=" + encode(sum512[:]), true},
		"different":              {"sha-256=" + encode(other[:]), false},
		"unknown":                {"md5=" + encode(other[:16]), true},
		"too short":              {"sha-256=" + encode(sum256[:5]), false},
		"without colons":         {"sha-256=" + base64.StdEncoding.EncodeToString(sum256[:]), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest("POST", "/", strings.NewReader(text))
			if c.header != "" {
				r.Header.Set("Content-Digest", c.header)
			}
			err := Verify(r)
			if err == nil {
				_, err = io.ReadAll(r.Body)
			}
			if (err == nil) != c.ok {
				t.Errorf("Content-Digest %q: got %v, want success: %v", c.header, err, c.ok)
			}
		})
	}
}
