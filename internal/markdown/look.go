package markdown

import (
	"bytes"
	"strings"
)

// budget is how many steps a parse may take besides reading the text once; a step is a few
// nanoseconds. Ordinary documents of the longest length stay below a tenth of it.
const budget = 3_000_000

// What the steps of some constructs weigh, as measured, against looking at one byte.
const (
	levelWeight = 24  // a block that stays open over a line
	tagWeight   = 12  // a byte under the pattern of a tag
	cellWeight  = 128 // a cell of a table
	labelWeight = 8   // a byte of a name that is looked up among the definitions
)

// look counts what goldmark would do for a text beyond reading it, and stops when that passes the
// budget: so it is itself bounded, whatever the text. Where the exact count would need a parser it
// counts too much.
type look struct {
	left    int
	pipes   int  // escaped ones, of which tables keep a list over the whole document
	deepest int  // open blocks at the last line with text
	unsure  bool // whether a fence may stand inside something else than the document itself
}

// affordable reports whether goldmark would parse the text within the budget.
func affordable(source []byte) bool {
	l := look{left: budget}
	for start := 0; start < len(source) && l.left >= 0; {
		if fence := fenced(source[start:lineEnd(source, start)]); fence > 0 && !l.unsure {
			start = codeEnd(source, start, fence) // read once
			continue
		}
		end := paragraphEnd(source, start)
		l.blocks(source[start:end])
		l.inlines(source[start:end])
		start = end
	}
	return l.left >= 0
}

// paragraphEnd returns where the paragraph ends, at the latest, that holds the line at start:
// behind the next blank line, or before a line that always begins another block.
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

// interrupts reports whether a line is an item of a list or a heading, in whatever block it stands.
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

// fenced returns how long the fence is that a line begins with that opens a block of code outside
// lists and quotations, and 0 for any other line.
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

// codeEnd returns where the block of code ends that begins at start with a fence of a length.
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

// blocks counts the blocks that are open over each line, and the cells of tables.
func (l *look) blocks(paragraph []byte) {
	lines := bytes.Count(paragraph, []byte{'\n'}) + 1
	for at := 0; at < len(paragraph) && l.left >= 0; lines-- {
		next := lineEnd(paragraph, at)
		line := paragraph[at:next]
		at = next
		if len(bytes.TrimLeft(line, "> \t\r\n")) == 0 { // lists stay open, in quotations too
			l.deepest = max(l.deepest, bytes.Count(line, []byte{'>'}))
			l.left -= l.deepest*levelWeight + bytes.Count(line, []byte{'>'})*len(line)/4
			continue
		}
		// HTML may hold a line that looks like a fence, and a fence in a list ends with the list.
		if inner := bytes.TrimLeft(line, " \t>-+*0123456789.)"); len(inner) > 0 && (inner[0] == '<' || fenced(inner) > 0) {
			l.unsure = true
		}
		indent, markers := nesting(line)
		// A list goes on only under an indentation of two columns at least, and a quotation only
		// behind its mark.
		l.deepest = indent/2 + markers
		l.left -= l.deepest*(levelWeight+indent/4) + markers*len(line)/4
		if columns := delimiterRow(line); columns > 0 {
			l.left -= cellWeight * columns * lines
		}
	}
}

// nesting returns the columns of white space and the marks of quotations and lists before the text
// of a line.
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

// delimiterRow returns the columns of the line under a table's head, and 0 for any other.
func delimiterRow(line []byte) int {
	if bytes.IndexByte(line, '|') < 0 && bytes.IndexByte(line, ':') < 0 {
		return 0
	}
	if bytes.IndexByte(line, '-') < 0 || len(bytes.TrimLeft(line, "-|:> \t\r\n\v\f+*0123456789.)")) > 0 {
		return 0
	}
	return bytes.Count(line, []byte{'|'}) + 1
}

// inlines counts how far each mark of a paragraph sets off a search.
func (l *look) inlines(p []byte) {
	var open []int // where brackets wait for their end
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
			l.left -= word(p[i+1:]) // behind a link or a tag, goldmark looks for an address
		case '|':
			if i > 0 && p[i-1] == '\\' {
				l.pipes++
				l.left -= l.pipes
			}
		}
	}
}

// target counts the search for what stands behind the name of a link: an address and its title, or
// another name.
func (l *look) target(p []byte, at int) {
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
			// the lines of a definition are cut out of its paragraph
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

// run is how often the byte at i stands in a row.
func run(p []byte, i int) int {
	n := 1
	for i+n < len(p) && p[i+n] == p[i] {
		n++
	}
	return n
}

// until is how far the next c is, or the end.
func until(p []byte, c byte) int {
	if i := bytes.IndexByte(p, c); i >= 0 {
		return i
	}
	return len(p)
}

// unclosed is how far code goes that as many backticks opened.
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

// word is how far what may be the name of a mailbox goes (RFC 5321 section 4.1.2, with dots).
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

// tag counts the search for the end of a tag, a comment or an address in angle brackets.
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
