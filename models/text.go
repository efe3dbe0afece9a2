package models

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/meshyard/meshyard/internal/apierror"
)

// The limits of texts, in characters, and of lists.
const (
	MaxName = 200
	MaxText = 65_535
	MaxTag  = 100
	MaxTags = 100

	maxAncestors = 20
)

// MaxFiles is the maximum number of files of one make or comment, and of one page of a list of
// files. Options.ThingFiles is the maximum of a thing.
const MaxFiles = 1_000

// CheckText checks a text from a user. It returns BadInput unless the text is valid UTF-8, has no
// NUL (which PostgreSQL cannot store), and is at most limit characters long.
func CheckText(field, s string, limit int) error {
	if !utf8.ValidString(s) {
		return Invalid(field, "%s: must be valid UTF-8", field)
	}
	if strings.ContainsRune(s, 0) {
		return Invalid(field, "%s: must not contain a NUL character", field)
	}
	if n := utf8.RuneCountInString(s); n > limit {
		e := Invalid(field, "%s: must be at most %d characters (got %d)", field, limit, n).
			WithFieldCode(apierror.FieldTooLong)
		e.Limit = int64(limit)
		return e
	}
	return nil
}

// CheckLine checks a text of one line, such as a name. It returns BadInput if it is not a valid
// text, or has control characters or those that change the direction of what follows, by which one
// name can look like another. A line break at the end, which existing clients may send, is
// accepted.
func CheckLine(field, s string, limit int) error {
	if err := CheckText(field, s, limit); err != nil {
		return err
	}
	for _, r := range strings.TrimSpace(s) {
		if unicode.IsControl(r) || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' {
			return Invalid(field, "%s: must not contain the control character %U", field, r)
		}
	}
	return nil
}

// CheckName returns BadInput if the new name of an object is blank or not valid. nil is valid.
func CheckName(name *string) error {
	if name == nil {
		return nil
	}
	if strings.TrimSpace(*name) == "" {
		return Required("name")
	}
	return CheckLine("name", *name, MaxName)
}

// optionalLine is line for a text that may be nil.
func optionalLine(field string, s *string, limit int) error {
	if s == nil {
		return nil
	}
	return CheckLine(field, *s, limit)
}

// CheckOptional is text for a text that may be nil.
func CheckOptional(field string, s *string, limit int) error {
	if s == nil {
		return nil
	}
	return CheckText(field, *s, limit)
}

// CleanText converts any bytes to a valid text: it replaces invalid UTF-8, removes control
// characters, and truncates the text to limit characters.
func CleanText(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	if runes := []rune(s); len(runes) > limit {
		return string(runes[:limit])
	}
	return s
}

// MaxUserAgent is the maximum length of a stored user agent.
const MaxUserAgent = 200

// Within returns BadInput unless a number is nil, or greater than low and at most high.
func Within(field string, n *float64, low, high float64) error {
	if n == nil || *n > low && *n <= high {
		return nil
	}
	return OutOfRange(field, int64(high), fmt.Sprintf("must be greater than %g and at most %g", low, high))
}

func OutOfRange(field string, limit int64, message string) error {
	e := Invalid(field, "%s: %s", field, message).WithFieldCode(apierror.FieldOutOfRange)
	e.Limit = limit
	return e
}

// CheckYear returns BadInput if a time cannot be stored in a database.
func CheckYear(field string, at time.Time) error {
	if year := at.UTC().Year(); year < 1 || year > 9999 {
		return Invalid(field, "%s: the year %d is not between 1 and 9999", field, year).
			WithFieldCode(apierror.FieldOutOfRange)
	}
	return nil
}
