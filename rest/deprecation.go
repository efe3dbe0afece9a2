package rest

import (
	"net/http"
	"strconv"
	"time"
)

// deprecation says since when an operation is deprecated and what replaces it. The headers, OpenAPI
// and the guide are derived from it. If the GraphQL field that the operation runs is deprecated
// too, the reason is the one in the schema.
type deprecation struct {
	since     time.Time
	successor string // a path of this server
	reason    string // only if the field that the operation runs is not deprecated
}

var (
	since           = time.Date(2026, time.November, 1, 0, 0, 0, 0, time.UTC)
	toFinalizeFiles = &deprecation{since, "/files/0/FinalizeFiles", ""}
	// The reasons are those of the deprecated fields featured, newest and popular.
	toFeatured = &deprecation{since, "/search?is_featured=1", "Use things(sort: FEATURED)."}
	toNewest   = &deprecation{since, "/search?sort=newest", "Use things(sort: NEWEST)."}
	toPopular  = &deprecation{since, "/search?sort=popular", "Use things(sort: POPULAR)."}
	// The published interface marks the operation as deprecated and names it as its own replacement.
	toGraphQL = &deprecation{since, "/graphql",
		"Programs that use REST call this operation to finalize: it stays available. New programs use the GraphQL mutation finalizeFiles."}
)

// announce sends the headers Deprecation (RFC 9745), Sunset (RFC 8594) if the operator set a date,
// and Link with rel="deprecation". It does not send rel="successor-version", because widely copied
// client code turns each rel into an identifier and fails on the hyphen. OpenAPI and the guide name
// the successor. A nil deprecation sends nothing.
func (d *deprecation) announce(h http.Header, base, operation string, sunset time.Time) {
	if d == nil {
		return
	}
	h.Set("Deprecation", "@"+strconv.FormatInt(d.since.Unix(), 10))
	if !sunset.IsZero() {
		h.Set("Sunset", sunset.UTC().Format(http.TimeFormat))
	}
	h.Add("Link", "<"+base+"/migration#"+operation+`>; rel="deprecation"; type="text/html"`)
}
