package blobs

import (
	"cmp"
	"math"
	"net/http"
	"strconv"
	"strings"
)

// maxRanges is how many ranges one request may ask for: more is an attack, and RFC 9110 section 14.2 lets a server ignore it.
const maxRanges = 16

// tidyRange leaves of Range what counts: RFC 9110 section 14.2 wants other units and malformed ranges ignored, where
// net/http refuses them, and section 14.1.2 has no largest position.
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

// parseRanges gives the ranges of bytes in the form that net/http takes.
func parseRanges(value string) ([]string, bool) {
	unit, set, ok := strings.Cut(value, "=")
	if !ok || !strings.EqualFold(unit, "bytes") {
		return nil, false
	}
	var ranges []string
	for one := range strings.SplitSeq(set, ",") {
		one = strings.Trim(one, " \t")
		if one == "" {
			continue // RFC 9110 section 5.6.1 takes empty elements of a list
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
		// The last 0 bytes can be had of no file; net/http would answer 206 with an impossible Content-Range.
		return clamp(strings.Repeat("9", 19)) + "-", true
	case first != "" && last != "" && compare(last, first) < 0:
		return "", false
	}
	return clamp(first) + "-" + clamp(last), true
}

// position is a number without leading zeros, and "" where none was given.
func position(digits string) string {
	if digits == "" {
		return ""
	}
	return cmp.Or(strings.TrimLeft(digits, "0"), "0")
}

func compare(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

// clamp brings a position down to the largest that net/http reads, which lies behind the end of every file.
func clamp(digits string) string {
	if largest := strconv.Itoa(math.MaxInt64); compare(digits, largest) > 0 {
		return largest
	}
	return digits
}
