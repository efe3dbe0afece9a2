package decode

import (
	"context"
	"encoding/binary"
	"io"
	"math"

	"github.com/meshyard/meshyard/internal/mesh"
)

// bodyPLY is the numbers behind the header of a PLY file, one after another.
type bodyPLY interface {
	// rewind goes back to the first number.
	rewind()
	// number reads a number. One of text may not be a number, which is no error here.
	number(of numberPLY) (float64, error)
	// pass leaves out so many numbers, which are so many bytes in a binary file.
	pass(numbers, bytes int64) error
}

// textPLY is numbers in text. Lines say nothing, for the header tells how many numbers there are.
type textPLY struct {
	*words
	again func() *words
}

func newTextPLY(ctx context.Context, src Source, h *headerPLY, progress func(float64)) *textPLY {
	again := func() *words {
		in := newInput(ctx, src, progress)
		in.r, in.done = io.NewSectionReader(src, h.length, src.Size-h.length), h.length
		w := newWords(in, "PLY")
		w.line, w.at = h.lines+1, h.lines+1
		return w
	}
	return &textPLY{again(), again}
}

func (t *textPLY) rewind() { t.words = t.again() }

func (t *textPLY) number(numberPLY) (float64, error) { return t.words.number("a number") }

func (t *textPLY) pass(numbers, _ int64) error {
	for ; numbers > 0; numbers-- {
		if _, err := t.next(); err != nil {
			return t.ends(err, "a number")
		}
	}
	return nil
}

// binaryPLY is binary numbers.
type binaryPLY struct {
	ctx        context.Context
	src        Source
	progress   func(float64)
	order      binary.ByteOrder
	from       int64 // where they begin
	behind     int64 // the offset of what is behind buf
	buf        []byte
	start, end int
}

func newBinaryPLY(ctx context.Context, src Source, h *headerPLY, progress func(float64)) *binaryPLY {
	return &binaryPLY{ctx: ctx, src: src, progress: progress, order: h.order, from: h.length, behind: h.length, buf: make([]byte, 256<<10)}
}

func (b *binaryPLY) rewind() { b.behind, b.start, b.end = b.from, 0, 0 }

func (b *binaryPLY) number(of numberPLY) (float64, error) {
	size := of.size()
	if b.end-b.start < size {
		if err := b.fill(size); err != nil {
			return 0, err
		}
	}
	n := b.buf[b.start : b.start+size]
	b.start += size
	switch of {
	case int8PLY:
		return float64(int8(n[0])), nil
	case uint8PLY:
		return float64(n[0]), nil
	case int16PLY:
		return float64(int16(b.order.Uint16(n))), nil
	case uint16PLY:
		return float64(b.order.Uint16(n)), nil
	case int32PLY:
		return float64(int32(b.order.Uint32(n))), nil
	case uint32PLY:
		return float64(b.order.Uint32(n)), nil
	case float32PLY:
		return float64(math.Float32frombits(b.order.Uint32(n))), nil
	}
	return math.Float64frombits(b.order.Uint64(n)), nil
}

// fill reads more, so that at least so many bytes are there.
func (b *binaryPLY) fill(size int) error {
	if err := b.ctx.Err(); err != nil {
		return err
	}
	b.end = copy(b.buf, b.buf[b.start:b.end])
	b.start = 0
	more := b.buf[b.end:]
	more = more[:min(int64(len(more)), b.src.Size-b.behind)]
	if b.end+len(more) < size {
		return b.ends()
	}
	if err := b.src.readAt(more, b.behind); err != nil {
		return err
	}
	b.end += len(more)
	b.behind += int64(len(more))
	b.progress(float64(b.behind) / float64(b.src.Size))
	return nil
}

func (b *binaryPLY) pass(_, bytes int64) error {
	if left := int64(b.end - b.start); bytes > left {
		if bytes > left+b.src.Size-b.behind {
			return b.ends()
		}
		b.behind += bytes - left
		b.start, b.end = 0, 0
		return b.ctx.Err()
	}
	b.start += int(bytes)
	return nil
}

func (b *binaryPLY) ends() error {
	return mesh.Errorf(mesh.Malformed, "The PLY file ends at byte %d in the middle of what its header promises.", b.src.Size)
}
