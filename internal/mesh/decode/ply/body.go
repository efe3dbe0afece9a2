package ply

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/source"
	"github.com/meshyard/meshyard/internal/mesh/decode/textscan"
)

// maxUndeclared is more values than a row has with those that the header does not declare.
const maxUndeclared = 1000

// body reads the values after the header of a PLY file one by one.
type body interface {
	// rewind returns to the first value.
	rewind()
	// number reads a value. A text value that is not a number is returned as NaN.
	number(of scalarType) (float64, error)
	// place returns the position of the last value, which was read as a type: "Line 3".
	place(of scalarType) string
	// skip skips values. In a binary file they take the given number of bytes.
	skip(numbers, bytes int64) error
	// endRow ends a row of an element.
	endRow() error
}

// textBody reads text values. Line breaks do not matter, because the header declares the number of
// values, unless lines have more.
type textBody struct {
	*textscan.Words
	restart func() *textscan.Words
	lines   bool // rows end with a line, and values that the header does not declare are ignored
}

func newTextBody(ctx context.Context, src source.Source, h *header, progress func(float64)) *textBody {
	again := func() *textscan.Words {
		return textscan.NewWordsAt(source.NewReader(ctx, src, h.length, progress), "PLY", h.lines+1)
	}
	return &textBody{again(), again, h.hasLines(again())}
}

// hasLines reports whether lines end rows: the first line has the values of a row, and fewer than
// all rows. Some programs write values that they do not declare, such as assimp 6.0. Others write
// several lines for a row, or all rows in one line.
func (h *header) hasLines(words *textscan.Words) bool {
	i := slices.IndexFunc(h.elements, func(e element) bool { return e.count > 0 })
	if i < 0 {
		return false
	}
	e := &h.elements[i]
	if _, fixed := e.fixedSize(); !fixed {
		return false
	}
	values, next := 0, words.Next
	for ; values < maxUndeclared; values++ {
		if word, err := next(); err != nil || len(word) == 0 {
			break
		}
		next = words.NextInLine
	}
	row := len(e.properties)
	return values >= row && values < maxUndeclared && int64(values) < e.count*int64(row)
}

func (t *textBody) rewind() { t.Words = t.restart() }

func (t *textBody) number(scalarType) (float64, error) { return t.Words.Number("a number") }

func (t *textBody) place(scalarType) string { return fmt.Sprintf("Line %d", t.Line) }

func (t *textBody) skip(numbers, _ int64) error {
	for ; numbers > 0; numbers-- {
		if _, err := t.Next(); err != nil {
			return t.UnexpectedEnd(err, "a number")
		}
	}
	return nil
}

func (t *textBody) endRow() error {
	if t.lines {
		return t.SkipLine()
	}
	return nil
}

// binaryBody reads binary values.
type binaryBody struct {
	ctx        context.Context
	src        source.Source
	progress   func(float64)
	order      binary.ByteOrder
	from       int64 // offset of the first value
	next       int64 // offset of the first byte after buf
	buf        []byte
	start, end int
}

func newBinaryBody(ctx context.Context, src source.Source, h *header, progress func(float64)) *binaryBody {
	return &binaryBody{ctx: ctx, src: src, progress: progress, order: h.order, from: h.length, next: h.length,
		buf: make([]byte, 256<<10)}
}

func (b *binaryBody) rewind() { b.next, b.start, b.end = b.from, 0, 0 }

func (b *binaryBody) number(of scalarType) (float64, error) {
	size := of.size()
	if b.end-b.start < size {
		if err := b.fill(size); err != nil {
			return 0, err
		}
	}
	n := b.buf[b.start : b.start+size]
	b.start += size
	switch of {
	case int8Type:
		return float64(int8(n[0])), nil
	case uint8Type:
		return float64(n[0]), nil
	case int16Type:
		return float64(int16(b.order.Uint16(n))), nil
	case uint16Type:
		return float64(b.order.Uint16(n)), nil
	case int32Type:
		return float64(int32(b.order.Uint32(n))), nil
	case uint32Type:
		return float64(b.order.Uint32(n)), nil
	case int64Type:
		return float64(int64(b.order.Uint64(n))), nil
	case uint64Type:
		return float64(b.order.Uint64(n)), nil
	case float32Type:
		return float64(math.Float32frombits(b.order.Uint32(n))), nil
	}
	return math.Float64frombits(b.order.Uint64(n)), nil
}

func (b *binaryBody) place(of scalarType) string {
	return fmt.Sprintf("Byte %d", b.next-int64(b.end-b.start)-int64(of.size()))
}

// fill reads more bytes, so that at least size bytes are available.
func (b *binaryBody) fill(size int) error {
	if err := b.ctx.Err(); err != nil {
		return err
	}
	b.end = copy(b.buf, b.buf[b.start:b.end])
	b.start = 0
	more := b.buf[b.end:]
	more = more[:min(int64(len(more)), b.src.Size-b.next)]
	if b.end+len(more) < size {
		return b.truncated()
	}
	if err := b.src.ReadFull(more, b.next); err != nil {
		return err
	}
	b.end += len(more)
	b.next += int64(len(more))
	b.progress(float64(b.next) / float64(b.src.Size))
	return nil
}

func (b *binaryBody) skip(_, bytes int64) error {
	if left := int64(b.end - b.start); bytes > left {
		if bytes > left+b.src.Size-b.next {
			return b.truncated()
		}
		b.next += bytes - left
		b.start, b.end = 0, 0
		return b.ctx.Err()
	}
	b.start += int(bytes)
	return nil
}

func (b *binaryBody) endRow() error { return nil }

func (b *binaryBody) truncated() error {
	return mesh.Errorf(mesh.Malformed, "The PLY file ends at byte %d in the middle of what its header promises.",
		b.src.Size)
}
