package rest

import (
	"net/http"
	"strconv"
	"time"
)

// deprecation says since when an operation is deprecated and what takes its place. What is said of it elsewhere follows from this row: the
// headers, OpenAPI and the guide. Its words are the reason that the schema gives for the field that it runs, where that is deprecated too.
type deprecation struct {
	since     time.Time
	successor string // a path of this server
	reason    string // where the field itself is not deprecated
}

var (
	since           = time.Date(2026, time.November, 1, 0, 0, 0, 0, time.UTC)
	toFinalizeFiles = &deprecation{since, "/files/0/FinalizeFiles", ""}
	toFeatured      = &deprecation{since, "/search?is_featured=1", ""}
	toNewest        = &deprecation{since, "/search?sort=newest", ""}
	toPopular       = &deprecation{since, "/search?sort=popular", ""}
	// The old documentation calls the operation deprecated and names itself as what replaces it.
	toGraphQL = &deprecation{since, "/graphql", "Use the GraphQL mutation finalizeFiles."}
)

// announce sends RFC 9745 Deprecation, RFC 8594 Sunset where the operator named a day, and Link with the relations of RFC 5829 and RFC 9745. A nil
// deprecation says nothing.
func (d *deprecation) announce(h http.Header, base, operation string, sunset time.Time) {
	if d == nil {
		return
	}
	h.Set("Deprecation", "@"+strconv.FormatInt(d.since.Unix(), 10))
	if !sunset.IsZero() {
		h.Set("Sunset", sunset.UTC().Format(http.TimeFormat))
	}
	h.Add("Link", "<"+base+d.successor+`>; rel="successor-version"`)
	h.Add("Link", "<"+base+"/migration#"+operation+`>; rel="deprecation"; type="text/html"`)
}
