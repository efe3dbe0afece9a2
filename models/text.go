package models

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/meshyard/meshyard/internal/apierror"
)

// The longest texts that are taken, in characters.
const (
	maxName = 200
	MaxText = 65_535
	maxTag  = 100
	maxTags = 100

	maxAncestors = 20
)

// MaxFiles is how many files one thing, make or comment may hold.
const MaxFiles = 1_000

// text checks one text of a user: valid UTF-8, no NUL (PostgreSQL cannot keep it), and at most
// limit characters.
func text(field, s string, limit int) error {
	if !utf8.ValidString(s) {
		return badInput(field, "%s: must be valid UTF-8", field)
	}
	if strings.ContainsRune(s, 0) {
		return badInput(field, "%s: must not contain a NUL character", field)
	}
	if n := utf8.RuneCountInString(s); n > limit {
		e := badInput(field, "%s: has %d characters, the limit is %d", field, n, limit).WithFieldCode(apierror.FieldTooLong)
		e.Limit = int64(limit)
		return e
	}
	return nil
}

// checkName checks the name of an object, unless it is nil.
func checkName(name *string) error {
	if name != nil && strings.TrimSpace(*name) == "" {
		return required("name")
	}
	return optional("name", name, maxName)
}

// optional is text for one that may be missing.
func optional(field string, s *string, limit int) error {
	if s == nil {
		return nil
	}
	return text(field, *s, limit)
}

// cleanText makes a text of any bytes: valid, without control characters, and at most so many
// characters long.
func cleanText(s string, limit int) string {
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
