package blobs

import (
	"cmp"
	"math"
	"net/http"
	"strconv"
	"strings"
)

// maxRanges is the maximum number of ranges in a request. More is likely an attack, and RFC 9110,
// section 14.2, allows a server to ignore them.
const maxRanges = 16

// tidyRange normalizes the header Range. RFC 9110, section 14.2, requires a server to ignore other
// units and malformed ranges, which net/http rejects, and section 14.1.2 allows positions of any
// size.
func tidyRange(header http.Header) {
	values := header.Values("Range")
	if len(values) == 0 {
		return
	}
	if ranges, ok := parseRanges(values[0]); ok && len(values) == 1 {
		header.Set("Range", "bytes="+strings.Join(ranges, ","))
	} else {
		header.Del("Range")
	}
}

// parseRanges returns the byte ranges in the syntax that net/http accepts.
func parseRanges(value string) ([]string, bool) {
	unit, set, ok := strings.Cut(value, "=")
	if !ok || !strings.EqualFold(unit, "bytes") {
		return nil, false
	}
	var ranges []string
	for one := range strings.SplitSeq(set, ",") {
		one = strings.Trim(one, " \t")
		if one == "" {
			continue // RFC 9110, section 5.6.1, allows empty list elements
		}
		one, ok := parseRange(one)
		if !ok || len(ranges) == maxRanges {
			return nil, false
		}
		ranges = append(ranges, one)
	}
	return ranges, len(ranges) > 0
}

func parseRange(one string) (string, bool) {
	first, last, ok := strings.Cut(one, "-")
	if !ok || first == "" && last == "" {
		return "", false
	}
	for _, c := range first + last {
		if c < '0' || c > '9' {
			return "", false
		}
	}
	first, last = position(first), position(last)
	switch {
	case first == "" && last == "0":
		// No file has a suffix range of 0 bytes; net/http would respond with 206 and an invalid
		// Content-Range.
		return clamp(strings.Repeat("9", 19)) + "-", true
	case first != "" && last != "" && compare(last, first) < 0:
		return "", false
	}
	return clamp(first) + "-" + clamp(last), true
}

// position removes leading zeros. It returns "" for an empty string.
func position(digits string) string {
	if digits == "" {
		return ""
	}
	return cmp.Or(strings.TrimLeft(digits, "0"), "0")
}

func compare(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

// clamp limits a position to the largest that net/http parses, which is beyond the end of every
// file.
func clamp(digits string) string {
	if largest := strconv.Itoa(math.MaxInt64); compare(digits, largest) > 0 {
		return largest
	}
	return digits
}
