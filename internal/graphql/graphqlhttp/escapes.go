package graphqlhttp

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/vektah/gqlparser/v2/gqlerror"
)

var (
	// literals matches block strings and comments, in which escape sequences have no meaning, and
	// strings.
	literals = regexp.MustCompile(`(?s)"""(?:\\"""|.)*?"""|#[^\n\r]*|"(?:[^"\\\n\r]|\\[^\n\r])*"`)
	// escapes matches a surrogate pair, a code point in braces, a lone surrogate, and any other
	// escape sequence.
	escapes = regexp.MustCompile(`\\u([dD][89abAB]\w\w)\\u([dD][c-fC-F]\w\w)|\\u\{(\w+)\}|\\u[dD][89a-fA-F]\w\w|\\.`)
)

// decodeEscapes replaces the escape sequences of a document that gqlparser does not read: surrogate
// pairs, which stand for one character, and code points in braces. It returns a syntax error for
// those that stand for no character, such as one surrogate alone. They are specified in section
// 2.9.4 (String Value) of the GraphQL specification of September 2025.
func decodeEscapes(text string) (string, *gqlerror.Error) {
	if len(text) > maxDocumentBytes || !strings.Contains(text, `\u`) {
		return text, nil // a longer document is rejected
	}
	var b strings.Builder
	end := 0
	for _, at := range literals.FindAllStringIndex(text, -1) {
		literal := text[at[0]:at[1]]
		if literal[0] == '#' || strings.HasPrefix(literal, `"""`) {
			continue
		}
		for _, m := range escapes.FindAllStringSubmatchIndex(literal, -1) {
			from, to := at[0]+m[0], at[0]+m[1]
			r := rune(-1)
			switch {
			case m[2] >= 0:
				r = hexRune(literal[m[2]:m[3]])
				if r = utf16.DecodeRune(r, hexRune(literal[m[4]:m[5]])); r == utf8.RuneError {
					r = -1
				}
			case m[6] >= 0:
				r = hexRune(literal[m[6]:m[7]])
			case to-from == len(`\n`):
				continue // gqlparser reads it
			}
			if !utf8.ValidRune(r) {
				return "", syntaxError(text, from, "Invalid Unicode escape sequence: "+text[from:to])
			}
			b.WriteString(text[end:from])
			if end = to; r < utf8.RuneSelf {
				fmt.Fprintf(&b, `\u%04x`, r) // it may be a quote
			} else {
				b.WriteRune(r)
			}
		}
	}
	return b.String() + text[end:], nil
}

// hexRune returns the value of hexadecimal digits, or -1.
func hexRune(digits string) rune {
	n, err := strconv.ParseInt(digits, 16, 32)
	if err != nil {
		return -1
	}
	return rune(n)
}

// syntaxError returns an error at an offset of a document.
func syntaxError(text string, at int, message string) *gqlerror.Error {
	before := text[:at]
	line := strings.Count(before, "\n")
	column := utf8.RuneCountInString(before[strings.LastIndex(before, "\n")+1:])
	return gqlerror.ErrorLocf("", line+1, column+1, "%s", message)
}
