package decode

import (
	"bufio"
	"context"
	"io"

	"golang.org/x/text/encoding/unicode"
)

// input gives the bytes of a file one after another. Each read asks the context and tells the progress, so that a loop over what was read
// need not.
type input struct {
	ctx      context.Context
	r        io.Reader
	size     int64
	done     int64
	progress func(float64)
}

func newInput(ctx context.Context, src Source, progress func(float64)) *input {
	return &input{ctx: ctx, r: io.NewSectionReader(src, 0, src.Size), size: src.Size, progress: progress}
}

func (in *input) Read(p []byte) (int, error) {
	if err := in.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := in.r.Read(p)
	in.done += int64(n)
	if err == io.EOF && in.done < in.size {
		err = errShort
	}
	if in.progress != nil && in.size > 0 {
		in.progress(float64(in.done) / float64(in.size))
	}
	return n, err
}

// decoded gives text as UTF-8 without a byte-order mark. UTF-16 is told by its mark, in either order.
func decoded(r io.Reader) io.Reader {
	b := bufio.NewReaderSize(r, 16)
	mark, _ := b.Peek(3) // an error comes again with the next read
	switch {
	case len(mark) == 3 && string(mark) == "\xEF\xBB\xBF":
		b.Discard(3)
	case len(mark) >= 2 && (string(mark[:2]) == "\xFE\xFF" || string(mark[:2]) == "\xFF\xFE"):
		return unicode.UTF16(unicode.BigEndian, unicode.ExpectBOM).NewDecoder().Reader(b)
	}
	return b
}
