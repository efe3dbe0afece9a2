package dataset

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// maxRow is the maximum length of a row in bytes.
const maxRow = 1 << 20

// Row is one thing of an import file.
type Row struct {
	Number int   // number of the data row, from 1; empty lines do not count
	Line   int   // line on which the row starts, from 1
	Thing  Thing // without files and counts; invalid if Err is set
	Err    error // all problems of the row
}

// columns are the allowed columns.
var columns = []string{"name", "creator", "license", "category", "subcategory", "description", "tags", "date", "id",
	"origin_creator", "origin_creator_url", "origin_url", "origin_site"}

// required are the columns that must not be empty.
var required = []string{"name", "creator"}

// Rows reads things one by one. The columns of CSV, in any order, or the keys of JSON are:
//
//	name, creator   required
//	license         a code such as cc-sa, an SPDX identifier or a name, which is not checked here
//	category, subcategory, description
//	tags            in CSV separated by ',' or '|', in JSON an array of strings
//	date            of publication, as 2006-01-02T15:04:05Z (RFC 3339, any zone) or 2006-01-02 (UTC)
//	id              from 1 to 9223372036854775807
//	origin_creator, origin_creator_url, origin_url, origin_site: where the thing was copied from
//
// Other columns than the required ones may be missing, empty, or null in JSON. White space around
// values is ignored. If a key occurs twice in an object, the last one counts. An unknown key makes
// the row invalid.
//
// An invalid row has Err set, and reading continues after it: after the line with an invalid quote
// in CSV, or after the end of a row longer than 1 MiB. A quote that is never closed consumes the
// rest of the file. If the input cannot be read, or the CSV header is invalid, for example because
// of an unknown column, the sequence yields an error and ends.
//
// The text is UTF-8, with or without a byte order mark. Rows holds one row in memory at a time, at
// most 1 MiB.
func Rows(r io.Reader, format Format) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		in := bufio.NewReaderSize(r, 64<<10)
		if mark, err := in.Peek(3); err == nil && string(mark) == "\uFEFF" {
			_, _ = in.Discard(len(mark)) // Peek has returned these bytes
		}
		var read func() (cells, error)
		switch format {
		case CSV:
			table := &csvReader{in: in, line: 1}
			if err := table.readHeader(); err != nil {
				if !errors.Is(err, io.EOF) {
					yield(Row{}, err)
				}
				return
			}
			read = table.next
		case JSONLines:
			read = (&jsonReader{in: in}).next
		default:
			yield(Row{}, fmt.Errorf("rows: unknown format %d", format))
			return
		}
		for number := 1; ; number++ {
			c, err := read()
			if errors.Is(err, io.EOF) {
				return
			}
			row := Row{Number: number, Line: c.line}
			if err != nil {
				yield(row, fmt.Errorf("row %d (line %d): %w", number, c.line, err))
				return
			}
			row.Thing = c.thing()
			if len(c.wrong) > 0 {
				row.Err = fmt.Errorf("row %d (line %d): %s", number, c.line, strings.Join(c.wrong, "; "))
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

// cells are the values of a row by column, and its problems.
type cells struct {
	line   int
	texts  map[string]string
	tags   []string
	wrong  []string
	broken bool // the row could not be parsed, so missing columns are not reported
}

// addProblem records a problem of the row.
func (c *cells) addProblem(format string, values ...any) {
	c.wrong = append(c.wrong, fmt.Sprintf(format, values...))
}

// fail records why the row could not be parsed.
func (c *cells) fail(format string, values ...any) {
	c.addProblem(format, values...)
	c.broken = true
}

// thing converts the cells to a thing.
func (c *cells) thing() Thing {
	if c.broken {
		return Thing{}
	}
	for _, column := range columns {
		texts := []string{c.texts[column]}
		if column == "tags" {
			texts = c.tags
		}
		if slices.ContainsFunc(texts, func(text string) bool { return !utf8.ValidString(text) }) {
			c.addProblem("column %s: must be valid UTF-8", column)
		}
		if slices.ContainsFunc(texts, func(text string) bool { return strings.ContainsRune(text, 0) }) {
			c.addProblem("column %s: must not contain NUL characters", column)
		}
	}
	for _, column := range required {
		if c.texts[column] == "" {
			c.addProblem("column %s: must not be empty", column)
		}
	}
	th := Thing{
		Name:        c.texts["name"],
		Author:      c.texts["creator"],
		License:     c.texts["license"],
		Category:    c.texts["category"],
		Subcategory: c.texts["subcategory"],
		Description: c.texts["description"],
		Tags:        DistinctTags(c.tags),
		Origin: Origin{c.texts["origin_creator"], c.texts["origin_creator_url"], c.texts["origin_url"],
			c.texts["origin_site"]},
	}
	if date := c.texts["date"]; date != "" {
		at, err := time.Parse(time.RFC3339, date)
		if err != nil {
			at, err = time.Parse(time.DateOnly, date)
		}
		if th.Date = at.UTC(); err != nil {
			c.addProblem("column date: must be a date such as 2006-01-02 or 2006-01-02T15:04:05Z (got %s)", shown(date))
		}
	}
	if id := c.texts["id"]; id != "" {
		n, err := strconv.ParseInt(id, 10, 64)
		if th.ID = n; err != nil || n < 1 {
			c.addProblem("column id: must be a whole number from 1 to 9223372036854775807 (got %s)", shown(id))
		}
	}
	return th
}

// shown quotes a text for an error message and truncates it.
func shown(text string) string {
	const most = 60 // bytes
	if len(text) > most {
		return strconv.Quote(strings.ToValidUTF8(text[:most], "")) + "…"
	}
	return strconv.Quote(text)
}
