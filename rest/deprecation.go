package rest

import (
	"net/http"
	"strconv"
	"time"
)

// deprecation says since when an operation is deprecated and what takes its place.
type deprecation struct {
	since     time.Time
	successor string // a path of this server
}

var (
	since           = time.Date(2026, time.November, 1, 0, 0, 0, 0, time.UTC)
	toFinalizeFiles = &deprecation{since, "/files/0/FinalizeFiles"}
	toGraphQL       = &deprecation{since, "/graphql"} // mutation finalizeFiles
)

// documentation is where a deprecation is explained: the schema tells the reason beside each deprecated field.
const documentation = "/schema.graphql"

// announce sends RFC 9745 Deprecation, and Link with the relations of RFC 5829 and RFC 9745. A nil deprecation says nothing.
func (d *deprecation) announce(h http.Header, base string) {
	if d == nil {
		return
	}
	h.Set("Deprecation", "@"+strconv.FormatInt(d.since.Unix(), 10))
	h.Add("Link", "<"+base+d.successor+`>; rel="successor-version"`)
	h.Add("Link", "<"+base+documentation+`>; rel="deprecation"; type="text/plain"`)
}
