package rest

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/meshyard/meshyard/graph"
	"github.com/meshyard/meshyard/rest/wire"
)

const (
	defaultPerPage = 30
	maxPerPage     = 100
	maxPage        = 1_000_000
)

// pageNumbers reads page and per_page as the original service did: a missing or non-numeric value
// is replaced by the default, and an out-of-range value by the nearest bound. No value is an error.
func pageNumbers(query url.Values) (page, perPage int) {
	return number(query.Get("page"), 1, maxPage, 1), number(query.Get("per_page"), 1, maxPerPage, defaultPerPage)
}

func number(text string, least, most, otherwise int) int {
	n, err := strconv.Atoi(strings.TrimSpace(text)) // returns the nearest int if out of range
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return otherwise
	}
	return min(max(n, least), most)
}

// onFirstPage returns a list that is not divided into pages, or nothing if the request asks for a
// page behind the first: some clients request the next page until one is empty.
func onFirstPage[T any](r *http.Request, whole []T) []T {
	if page, _ := pageNumbers(r.URL.Query()); page > 1 {
		return nil
	}
	return whole
}

// cursorOf returns the cursor of the page that a query asks for, or "" for the first page. A cursor
// is more precise than a page number, so it has priority. The exception is a cursor from the link
// to another page than the requested one: some clients keep the query of a link and only increment
// page.
func cursorOf(query url.Values) string {
	page, _ := pageNumbers(query)
	after := query.Get("after")
	if digits, cursor, ok := strings.Cut(after, ":"); ok {
		if linked, err := strconv.Atoi(digits); err == nil {
			if number(query.Get("page"), 1, maxPage, linked) != linked {
				return pageCursor(page)
			}
			after = cursor
		}
	}
	return cmp.Or(after, pageCursor(page))
}

// pageCursor returns the cursor of a numbered page, or "" for the first page.
func pageCursor(page int) string {
	if page <= 1 {
		return ""
	}
	return graph.PageCursor(page)
}

// linkPages sets Total-Count and Link (RFC 8288) with first, prev, next and last. The URLs keep the
// complete query of the request, including the access token, because some clients follow them
// unchanged. The page is the last parameter, or only per_page is behind it if the request has that:
// some clients read the number of pages behind the first "page=", others at the end of the URL.
//
// The next link has the cursor of the end of this page in addition to the page number. So a client
// that follows it receives each entry once, even if entries are added or removed in between. The
// parameter after contains this page number, too, before the cursor; see cursorOf.
func linkPages(h http.Header, base string, u *url.URL, list wire.Extent) {
	h.Set("Total-Count", strconv.Itoa(list.Total))
	query := u.Query()
	page, perPage := pageNumbers(query)
	last := max((list.Total+perPage-1)/perPage, 1)
	end := ""
	if query.Has("per_page") {
		end = "&per_page=" + strconv.Itoa(perPage)
	}
	query.Del("page")
	query.Del("per_page")
	link := func(rel string, to int, after string) string {
		query.Del("after")
		if after != "" {
			query.Set("after", after)
		}
		others := query.Encode()
		if others != "" {
			others += "&"
		}
		return "<" + base + u.EscapedPath() + "?" + others + "page=" + strconv.Itoa(to) + end + `>; rel="` + rel + `"`
	}
	links := []string{link("first", 1, "")}
	if page > 1 {
		links = append(links, link("prev", min(page-1, last), ""))
	}
	if list.Info.HasNextPage {
		links = append(links, link("next", page+1, strconv.Itoa(page+1)+":"+list.Info.EndCursor))
	}
	h.Set("Link", strings.Join(append(links, link("last", last, "")), ", "))
}
