package server

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/graphql/graphqlhttp"
	"github.com/meshyard/meshyard/rest"
)

// uncompressed returns false and responds if a request has a compressed body, which the server does
// not decompress (RFC 9110, section 15.5.16). Some clients send other values, such as utf-8, with a
// body that is not encoded.
func uncompressed(w http.ResponseWriter, r *http.Request) bool {
	for coding := range strings.SplitSeq(strings.Join(r.Header.Values("Content-Encoding"), ","), ",") {
		switch coding = strings.ToLower(strings.TrimSpace(coding)); coding {
		case "gzip", "x-gzip", "deflate", "br", "zstd", "compress", "x-compress", "dcb", "dcz":
			w.Header().Set("Accept-Encoding", "identity")
			message := fmt.Sprintf("Content-Encoding: %s is not supported: send the body without compression", coding)
			if r.URL.Path == "/graphql" {
				graphqlhttp.WriteError(w, r, http.StatusUnsupportedMediaType, apierror.Invalid("", "%s", message))
			} else {
				rest.WriteError(w, http.StatusUnsupportedMediaType, message)
			}
			return false
		}
	}
	return true
}
