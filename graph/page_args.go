package graph

import (
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/models"
)

const (
	defaultFirst = 30
	maxFirst     = 100
)

// pageArgs are the arguments of a connection.
type pageArgs struct {
	first  *int32
	after  *string
	last   *int32
	before *string
}

// slice converts the arguments to a part of the named list. It returns BadInput if they are
// invalid.
func (a pageArgs) slice(list string) (part models.Slice, err error) {
	if a.first != nil {
		if err := inRange("first", *a.first, maxFirst); err != nil {
			return part, err
		}
	}
	if a.last != nil {
		if err := inRange("last", *a.last, maxFirst); err != nil {
			return part, err
		}
	}
	switch {
	case a.last == nil && a.first == nil:
		part.First = defaultFirst
	case a.last == nil:
		part.First = int(*a.first)
	case a.first != nil:
		return part, apierror.Invalid("last", "last: must not be combined with first")
	default:
		part.Last = int(*a.last)
	}
	if page := pageNumber(a.after); page > 0 && a.before == nil && a.last == nil {
		part.Offset = int64(page-1) * int64(part.First)
		return part, nil
	}
	if part.After, err = parseCursor(list, "after", a.after); err != nil {
		return part, err
	}
	part.Before, err = parseCursor(list, "before", a.before)
	return part, err
}

// pagePrefix is the prefix of the cursors of numbered pages, which the REST API and the HTML pages
// need. Page numbers appear nowhere else in the schema. Other clients should use endCursor, which
// is faster and stays correct while the list changes.
const pagePrefix = "page:"

// PageCursor returns the cursor of a numbered page of `first` entries. The first page is 1.
func PageCursor(page int) string { return pagePrefix + strconv.Itoa(page) }

// pageNumber returns the page number of a cursor from PageCursor, or 0 for any other cursor.
func pageNumber(after *string) int {
	if after == nil {
		return 0
	}
	digits, ok := strings.CutPrefix(*after, pagePrefix)
	page, err := strconv.ParseInt(digits, 10, 32)
	if !ok || err != nil {
		return 0
	}
	return int(page)
}

// inRange returns BadInput if an integer argument is not between 1 and most.
func inRange(name string, n, most int32) error {
	if n < 1 || n > most {
		err := apierror.Invalid(name, "%s: must be between 1 and %d (got %d)", name, most, n).
			WithFieldCode(apierror.FieldOutOfRange)
		if n > most {
			err.Limit = int64(most)
		}
		return err
	}
	return nil
}

// cursor encodes the position of an entry and the name of its list (a keyset cursor). It stays
// valid while entries are added and removed. Other lists reject it.
func cursor(list string, p models.Position) string {
	position := list + ":" + strconv.FormatInt(p.Key, 10) + ":" + strconv.FormatInt(p.ID, 10)
	if p.Text != "" {
		position += ":" + p.Text
	}
	return base64.RawURLEncoding.EncodeToString([]byte(position))
}

func parseCursor(list, argument string, s *string) (*models.Position, error) {
	if s == nil {
		return nil, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(*s)
	if err == nil {
		if numbers, ok := strings.CutPrefix(string(text), list+":"); ok {
			key, id, _ := strings.Cut(numbers, ":")
			p := new(models.Position)
			id, p.Text, _ = strings.Cut(id, ":")
			var keyErr, idErr error
			p.Key, keyErr = strconv.ParseInt(key, 10, 64)
			p.ID, idErr = strconv.ParseInt(id, 10, 64)
			if keyErr == nil && idErr == nil {
				return p, nil
			}
		}
	}
	return nil, apierror.Invalid(argument, "%s: must be a cursor of this list (got %.60q)", argument, *s)
}
