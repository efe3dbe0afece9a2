package main

import (
	"encoding/base64"
	"fmt"
	"iter"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	listedPage = 30
	nestedPage = 3 // entries of each list in listsDocument
)

// The selects return one row for each thing, with its lists aggregated into texts. For tags and
// files, this was the fastest form on each engine, compared with arrays, flat joins, JSON of the
// tags and JSON of the whole response. No text in the test data contains these two characters.
const (
	field = "\x01" // separates the fields of an entry
	entry = "\x02" // separates entries
)

// The common parts of the list selects. Their arguments are the keyset position after which the
// page starts.
const (
	pageOfThings = "FROM (SELECT id, owner_id, name, created_at, published_at, like_count, collect_count, make_count, comment_count FROM things " +
		"WHERE state = 'published' AND (published_at, id) < ($1, $2) ORDER BY published_at DESC, id DESC LIMIT 30) AS t "
	withOwner  = "JOIN users AS u ON u.id = t.owner_id "
	inOrder    = "ORDER BY t.published_at DESC, t.id DESC"
	tagsOfOne  = "FROM (SELECT tag_id, name FROM thing_tags WHERE thing_id = t.id ORDER BY position LIMIT 50) AS tt"
	filesOfOne = "FROM files WHERE target_type = 'thing' AND target_id = t.id AND state = 'finalized'"
)

// bareListing returns a handler that serves GET /newest and POST /graphql, each listing with one
// prepared select: selectNewest, selectNodes and selectLists. The caller is the user with the ID 1.
func bareListing(e engine, base string, prepared []selection) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /newest", bareNewest(e, base, prepared[0]))
	mux.HandleFunc("POST /graphql", bareNodes(e, prepared[1], prepared[2]))
	return mux
}

// position is the keyset position of a thing in the list of newest things.
type position struct {
	published time.Time
	id        int64
}

const cursorPrefix = "things newest:"

func (p position) cursor() string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, cursorPrefix+"%d:%d", p.published.UnixMicro(), p.id))
}

// parseCursor parses a cursor. An empty cursor is the position before all things.
func parseCursor(cursor string) (position, error) {
	if cursor == "" {
		return position{time.Date(9999, time.January, 1, 0, 0, 0, 0, time.UTC), math.MaxInt64}, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return position{}, err
	}
	at, id, _ := strings.Cut(strings.TrimPrefix(string(text), cursorPrefix), ":")
	micros, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return position{}, err
	}
	p := position{published: time.UnixMicro(micros)}
	p.id, err = strconv.ParseInt(id, 10, 64)
	return p, err
}

// arguments returns the position as arguments of the selects.
func (p position) arguments(e engine) []any {
	published := moment{e: e, at: p.published}
	return []any{published.argument(), p.id}
}

// entries returns the entries of an aggregated text, or none if the text is nil.
func entries(all *string) iter.Seq[string] {
	if all == nil {
		return func(func(string) bool) {}
	}
	return strings.SplitSeq(*all, entry)
}
