package server

import (
	"net/http"
	"strings"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/models"
)

// uncompressed returns an error if a request has a compressed body, which the server does not
// decompress (RFC 9110, section 15.5.16). Some clients send other values, such as utf-8, with a
// body that is not encoded.
func uncompressed(w http.ResponseWriter, r *http.Request) *models.Error {
	for coding := range strings.SplitSeq(strings.Join(r.Header.Values("Content-Encoding"), ","), ",") {
		switch coding = strings.ToLower(strings.TrimSpace(coding)); coding {
		case "gzip", "x-gzip", "deflate", "br", "zstd", "compress", "x-compress", "dcb", "dcz":
			w.Header().Set("Accept-Encoding", "identity")
			return apierror.Invalid("", "Content-Encoding: %s is not supported: send the body without compression", coding)
		}
	}
	return nil
}
