package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// stdout is the standard output of all commands.
var stdout = new(output)

// output writes to standard output and keeps the first error, so that main can report it: a command
// whose result nobody can read must not succeed.
type output struct {
	mu  sync.Mutex
	err error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := os.Stdout.Write(p)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// escaped returns a text on one line that is safe to print on a terminal. Names in archives and of
// other services can contain control sequences, and characters that override the direction of text.
func escaped(text string) string {
	var line strings.Builder
	for rest := strings.ReplaceAll(text, "\n", "; "); rest != ""; {
		r, size := utf8.DecodeRuneInString(rest)
		if r == utf8.RuneError && size == 1 || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			quoted := strconv.QuoteToASCII(rest[:size])
			line.WriteString(quoted[1 : len(quoted)-1])
		} else {
			line.WriteString(rest[:size])
		}
		rest = rest[size:]
	}
	return line.String()
}

// failed returns the error of the first write that failed, or nil.
func (o *output) failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

func (o *output) print(values ...any)                 { _, _ = fmt.Fprint(o, values...) }
func (o *output) println(values ...any)               { _, _ = fmt.Fprintln(o, values...) }
func (o *output) printf(format string, values ...any) { _, _ = fmt.Fprintf(o, format, values...) }
