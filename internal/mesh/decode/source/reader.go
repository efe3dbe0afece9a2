package source

import (
	"context"
	"io"
)

// reader reads a file sequentially. Each Read checks the context and reports progress.
type reader struct {
	ctx      context.Context
	r        io.Reader
	size     int64
	done     int64
	progress func(float64)
}

// NewReader returns a reader of src from offset to its end. Each Read returns the error of ctx if
// it is done, and calls progress, which may be nil, with the fraction of the file that has been
// read. The end of data before src.Size is an error, io.ErrUnexpectedEOF.
func NewReader(ctx context.Context, src Source, offset int64, progress func(float64)) io.Reader {
	return &reader{ctx: ctx, r: io.NewSectionReader(src, offset, src.Size-offset), size: src.Size, done: offset,
		progress: progress}
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
