package rest

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/meshyard/meshyard/rest/wire"
)

const (
	defaultPerPage = 30
	maxPerPage     = 100
	maxPage        = 1_000_000
)

// pageNumbers reads page and per_page as the old service did: what is missing, or no number, is the
// default, and what is out of bounds is the nearest bound, so no value is an error.
func pageNumbers(query url.Values) (page, perPage int) {
	return number(query.Get("page"), 1, maxPage, 1), number(query.Get("per_page"), 1, maxPerPage, defaultPerPage)
}

func number(text string, least, most, otherwise int) int {
	n, err := strconv.Atoi(strings.TrimSpace(text)) // at the bound of an int where it is beyond
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return otherwise
	}
	return min(max(n, least), most)
}

// linkPages sends Total-Count, and RFC 8288 Link with first, prev, next and last. The addresses
// keep the whole query that came, the access token included, since some clients follow them as they
// are. Next carries the cursor at which the page ends beside the number of the page that follows,
// so that a client that follows it receives each entry once, though others come and go meanwhile.
func linkPages(h http.Header, base string, u *url.URL, list wire.Extent) {
	h.Set("Total-Count", strconv.Itoa(list.Total))
	query := u.Query()
	page, perPage := pageNumbers(query)
	last := max((list.Total+perPage-1)/perPage, 1)
	link := func(rel string, to int, after string) string {
		query.Set("page", strconv.Itoa(to))
		query.Set("per_page", strconv.Itoa(perPage))
		query.Del("after")
		if after != "" {
			query.Set("after", after)
		}
		return "<" + base + u.EscapedPath() + "?" + query.Encode() + `>; rel="` + rel + `"`
	}
	links := []string{link("first", 1, "")}
	if page > 1 {
		links = append(links, link("prev", min(page-1, last), ""))
	}
	if list.Info.HasNextPage {
		links = append(links, link("next", page+1, list.Info.EndCursor))
	}
	h.Set("Link", strings.Join(append(links, link("last", last, "")), ", "))
}
