package source

import (
	"context"
	"io"
)

// input gives the bytes of a file one after another. Each read asks the context and tells the progress, so that a loop over what was read
// need not.
type reader struct {
	ctx      context.Context
	r        io.Reader
	size     int64
	done     int64
	progress func(float64)
}

func NewReader(ctx context.Context, src Source, offset int64, progress func(float64)) io.Reader {
	return &reader{ctx: ctx, r: io.NewSectionReader(src, offset, src.Size-offset), size: src.Size, done: offset, progress: progress}
}

func (in *reader) Read(p []byte) (int, error) {
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
