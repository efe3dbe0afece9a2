package markdown

import (
	"bytes"
	"strings"
)

// budget is the maximum number of steps that parsing a text may take, in addition to reading it
// once. A step takes a few nanoseconds. Ordinary texts of the maximum length need less than a tenth
// of the budget.
const budget = 3_000_000

// The measured costs of some constructs, relative to reading one byte.
const (
	levelWeight = 24  // a block that stays open for another line
	tagWeight   = 12  // a byte that the pattern of a tag reads
	cellWeight  = 128 // a cell of a table
	labelWeight = 8   // a byte of a label that is looked up among the link definitions
)

// costEstimate estimates the number of steps that goldmark would take to parse a text, in addition
// to reading it. It stops when the budget is spent, so its own time is bounded for any text. Where
// an exact count would require a parser, it overestimates.
type costEstimate struct {
	left    int
	pipes   int  // number of escaped pipes; goldmark keeps a list of them for the whole document
	deepest int  // number of open blocks at the last line with text
	unsure  bool // a code fence may be inside another block than the document itself
}

// withinBudget reports whether goldmark can parse the text within the budget.
func withinBudget(source []byte) bool {
	l := costEstimate{left: budget}
	for start := 0; start < len(source) && l.left >= 0; {
		if fence := fenced(source[start:lineEnd(source, start)]); fence > 0 && !l.unsure {
			start = codeEnd(source, start, fence) // goldmark reads code once
			continue
		}
		end := paragraphEnd(source, start)
		l.blocks(source[start:end])
		l.inlines(source[start:end])
		start = end
	}
	return l.left >= 0
}

// paragraphEnd returns an upper bound of the end of the paragraph with the line at start: the
// position after the next blank line, or before a line that always starts another block.
func paragraphEnd(source []byte, start int) int {
	for at := start; at < len(source); {
		next := lineEnd(source, at)
		line := source[at:next]
		if blank(line) {
			return next
		}
		if at > start && (interrupts(line) || fenced(line) > 0) {
			return at
		}
		at = next
	}
	return len(source)
}

func lineEnd(source []byte, at int) int {
	if i := bytes.IndexByte(source[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(source)
}

func blank(line []byte) bool { return len(bytes.TrimLeft(line, " \t\r\n")) == 0 }

// interrupts reports whether a line is a list item or a heading in any context.
func interrupts(line []byte) bool {
	rest := bytes.TrimLeft(line, " ")
	if len(line)-len(rest) > 3 || len(rest) < 3 {
		return false
	}
	if strings.IndexByte("-+*", rest[0]) >= 0 {
		return rest[1] == ' ' && !blank(rest[1:])
	}
	hashes := len(rest) - len(bytes.TrimLeft(rest, "#"))
	return hashes >= 1 && hashes <= 6 && hashes < len(rest) && rest[hashes] == ' '
}

// fenced returns the length of the code fence at the start of a line that opens a code block
// outside of lists and quotations, or 0 if there is none.
func fenced(line []byte) int {
	if len(line) < 3 || line[0] != '`' && line[0] != '~' {
		return 0
	}
	n := run(line, 0)
	if n < 3 || line[0] == '`' && bytes.IndexByte(line[n:], '`') >= 0 {
		return 0
	}
	return n
}

// codeEnd returns the end of the code block that begins at start with a fence of the given length.
func codeEnd(source []byte, start, fence int) int {
	c := source[start]
	for at := lineEnd(source, start); at < len(source); {
		next := lineEnd(source, at)
		line := source[at:next]
		rest := bytes.TrimLeft(line, " ")
		if len(line)-len(rest) < 4 && len(rest) >= fence && rest[0] == c {
			if n := run(rest, 0); n >= fence && blank(rest[n:]) {
				return next
			}
		}
		at = next
	}
	return len(source)
}

// blocks counts the steps for the open blocks of each line and for the cells of tables.
func (l *costEstimate) blocks(paragraph []byte) {
	lines := bytes.Count(paragraph, []byte{'\n'}) + 1
	for at := 0; at < len(paragraph) && l.left >= 0; lines-- {
		next := lineEnd(paragraph, at)
		line := paragraph[at:next]
		at = next
		if len(bytes.TrimLeft(line, "> \t\r\n")) == 0 { // lists stay open, also inside quotations
			l.deepest = max(l.deepest, bytes.Count(line, []byte{'>'}))
			l.left -= l.deepest*levelWeight + bytes.Count(line, []byte{'>'})*len(line)/4
			continue
		}
		// HTML may contain a line that looks like a fence, and a fence in a list ends with the list.
		if inner := bytes.TrimLeft(line, " \t>-+*0123456789.)"); len(inner) > 0 && (inner[0] == '<' || fenced(inner) > 0) {
			l.unsure = true
		}
		indent, markers := nesting(line)
		// A list continues only if the line is indented by at least two columns, and a quotation only
		// after its marker.
		l.deepest = indent/2 + markers
		l.left -= l.deepest*(levelWeight+indent/4) + markers*len(line)/4
		if columns := delimiterRow(line); columns > 0 {
			l.left -= cellWeight * columns * lines
		}
	}
}

// nesting returns the number of columns of white space, and of markers of quotations and lists,
// before the text of a line.
func nesting(line []byte) (indent, markers int) {
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == ' ':
			indent++
		case c == '\t':
			indent += 4
		case c == '>':
			markers++
		case c == '-' || c == '+' || c == '*' || c == '.' || c == ')':
			if i+1 < len(line) && strings.IndexByte(" \t\r\n", line[i+1]) < 0 {
				return indent, markers
			}
			markers++
		case c < '0' || c > '9':
			return indent, markers
		}
	}
	return indent, markers
}

// delimiterRow returns the number of columns of a delimiter row, which is the line below the header
// of a table, or 0 for any other line.
func delimiterRow(line []byte) int {
	if bytes.IndexByte(line, '|') < 0 && bytes.IndexByte(line, ':') < 0 {
		return 0
	}
	if bytes.IndexByte(line, '-') < 0 || len(bytes.TrimLeft(line, "-|:> \t\r\n\v\f+*0123456789.)")) > 0 {
		return 0
	}
	return bytes.Count(line, []byte{'|'}) + 1
}

// inlines counts the steps of the searches that the special characters of a paragraph cause.
func (l *costEstimate) inlines(p []byte) {
	var open []int // positions of unclosed brackets
	marks, delimiters, length := 0, 0, 0
	for i := 0; i < len(p) && l.left >= 0; i++ {
		switch c := p[i]; c {
		case '[':
			marks++
			open = append(open, i)
		case ']':
			marks++
			l.left -= marks / 2
			if n := len(open); n > 0 {
				l.left -= labelWeight*min(i-open[n-1], 1000) + (i-open[n-1])/8
				open = open[:n-1]
			}
			l.target(p, i+1)
		case '*', '_', '~':
			length = run(p, i)
			marks, delimiters = marks+1, delimiters+1
			l.left -= delimiters + length*length/256 + word(p[i+length:])
			i += length - 1
		case '`':
			length = run(p, i)
			l.left -= unclosed(p[i+length:], length) + word(p[i+length:])
			i += length - 1
		case '<':
			l.left -= tag(p[i+1:])
		case '>', ')':
			l.left -= word(p[i+1:]) // after a link or a tag, goldmark searches for an e-mail address
		case '|':
			if i > 0 && p[i-1] == '\\' {
				l.pipes++
				l.left -= l.pipes
			}
		}
	}
}

// target counts the steps of the search for the part of a link after its text: a URL and a title,
// or a label. at is the position after the text.
func (l *costEstimate) target(p []byte, at int) {
	if at >= len(p) {
		return
	}
	switch p[at] {
	case '[':
		l.left -= until(p[at+1:], ']')
	case '(', ':':
		rest := bytes.TrimLeft(p[at+1:], " \t\r\n")
		depth, end := 0, 0
		for end < len(rest) && rest[end] > ' ' && depth >= 0 {
			switch rest[end] {
			case '(':
				depth++
			case ')':
				depth--
			}
			end++
		}
		if len(rest) > 0 && rest[0] == '<' {
			end = until(rest, '\n')
		}
		l.left -= end
		if p[at] == ':' {
			// goldmark removes the lines of a definition from its paragraph
			l.left -= labelWeight + bytes.Count(p, []byte{'\n'})/2
		}
		rest = bytes.TrimLeft(rest[end:], " \t\r\n")
		if len(rest) == 0 {
			return
		}
		switch rest[0] {
		case '"', '\'':
			l.left -= until(rest[1:], rest[0])
		case '(':
			l.left -= until(rest[1:], ')')
		}
	}
}

// run returns how many times the byte at i is repeated, including the first one.
func run(p []byte, i int) int {
	n := 1
	for i+n < len(p) && p[i+n] == p[i] {
		n++
	}
	return n
}

// until returns the number of bytes before the next c, or before the end.
func until(p []byte, c byte) int {
	if i := bytes.IndexByte(p, c); i >= 0 {
		return i
	}
	return len(p)
}

// unclosed returns the length of the code span that was opened by the given number of backticks, up
// to the backticks that close it or to the end.
func unclosed(p []byte, backticks int) int {
	for i := 0; i < len(p); i++ {
		if p[i] == '`' {
			n := run(p, i)
			if n == backticks {
				return i
			}
			i += n
		}
	}
	return len(p)
}

// word returns the length of the text at the start of p that could be the local part of an e-mail
// address (RFC 5321 section 4.1.2, with dots).
func word(p []byte) int {
	for i, c := range p {
		switch c {
		case '(', ')', '<', '>', '[', ']', ':', ';', '\\', ',', '"':
			return i
		}
		if c <= ' ' || c >= 0x7f {
			return i
		}
	}
	return len(p)
}

// tag returns the steps of the search for the end of a tag, of a comment, or of a URL in angle
// brackets.
func tag(p []byte) int {
	if len(p) == 0 || p[0] <= ' ' {
		return 0
	}
	if p[0] == '!' || p[0] == '?' {
		return len(p)
	}
	var quote byte
	for i, c := range p {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '<' || c == '>':
			return tagWeight * i
		}
	}
	return tagWeight * len(p)
}
