package database

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"unicode"

	"github.com/meshyard/meshyard/internal/telemetry/tracing"
)

// spanKey is the key of the span of a statement in the stash of its event.
type spanKey struct{}

// trace starts the span of a statement. The span has the verb and the first table. It does not have
// the text, because Bun writes values into it.
func (s *statements) trace(ctx context.Context, text string) tracing.Span {
	verb, table := summary(text)
	name := verb
	if table != "" {
		name += " " + table
	}
	_, span := tracing.Call(ctx, name)
	span.Text("db.system.name", s.dialect.system())
	span.Text("db.operation.name", verb)
	span.Text("db.collection.name", table)
	return span
}

func endSpan(span tracing.Span, err error) {
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		span.Fail()
	}
	span.End()
}

// maxSummarized is the number of bytes at the start of a statement that are searched for its table.
const maxSummarized = 16 << 10

// summary returns the verb of a statement and the name of a table: the first one outside
// parentheses or, without such a table, the first one. The table is empty if there is none.
func summary(text string) (verb, table string) {
	text = text[:min(len(text), maxSummarized)]
	depth, after, inner := 0, false, ""
	for len(text) > 0 {
		n := strings.IndexFunc(text, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) })
		switch {
		case n < 0:
			n = len(text)
			fallthrough
		case n > 0:
			word := text[:n]
			if verb == "" {
				verb = strings.ToUpper(word)
			}
			if after && depth == 0 {
				return verb, word
			}
			if after && inner == "" {
				inner = word
			}
			after = isBefore(word)
			text = text[n:]
			continue
		case text[0] == '(':
			depth, after = depth+1, false
		case text[0] == ')':
			depth--
		case text[0] == '\'':
			_, rest, _ := strings.Cut(text[1:], "'")
			text = "'" + rest
		case text[0] != ' ' && text[0] != '"':
			after = false
		}
		text = text[1:]
	}
	if verb == "" {
		verb = "OTHER"
	}
	return verb, inner
}

// isBefore reports whether a word is a keyword that is followed by a table name.
func isBefore(word string) bool {
	return strings.EqualFold(word, "FROM") || strings.EqualFold(word, "INTO") || strings.EqualFold(word, "UPDATE")
}
