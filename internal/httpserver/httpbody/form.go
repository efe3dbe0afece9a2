package httpbody

import (
	"bufio"
	"io"
	"math"
	"mime/multipart"
	"net/http"
)

const (
	maxBeforeFile = 2 << 20 // bytes before the file: parts, their headers and the preamble
	// bytes assumed after the file when its size is derived from the length of the body
	maxAfterFile = 1 << 16
	readAhead    = 32 << 10
)

// Form reads the parts of a multipart body in order. Everything before the file is bounded; the
// file itself is streamed and never buffered.
type Form struct {
	*multipart.Reader
	before   *io.LimitedReader
	declared int64 // Content-Length of the body, -1 if unknown
}

// NewForm returns a reader of the parts of the request's multipart body. It returns an error if the
// body is not multipart.
func NewForm(r *http.Request) (*Form, error) {
	before := &io.LimitedReader{R: r.Body, N: maxBeforeFile}
	r.Body = struct {
		io.Reader
		io.Closer
	}{&lateBuffer{from: before}, r.Body}
	parts, err := r.MultipartReader()
	return &Form{parts, before, r.ContentLength}, err
}

// StartFile declares that the current part is the file, which may have any length. It returns the
// minimum number of bytes of the file according to the Content-Length of the request.
func (f *Form) StartFile() (atLeast int64) {
	atLeast = max(f.declared-(maxBeforeFile-f.before.N)-maxAfterFile, 0)
	f.before.N = math.MaxInt64
	return atLeast
}

// FileAtLeast returns the minimum number of bytes of the file in a multipart request, derived from
// its Content-Length before the body is read.
func FileAtLeast(r *http.Request) int64 { return max(r.ContentLength-maxBeforeFile-maxAfterFile, 0) }

// lateBuffer buffers reads once readAhead bytes have arrived. The multipart reader reads 4 KiB at a
// time, which is slow for large files; but a buffer for each of ten thousand slow clients that have
// sent almost nothing would waste memory.
type lateBuffer struct {
	from   io.Reader
	read   int
	reader *bufio.Reader
}

func (b *lateBuffer) Read(p []byte) (int, error) {
	if b.reader != nil {
		return b.reader.Read(p)
	}
	n, err := b.from.Read(p)
	if b.read += n; b.read >= readAhead {
		b.reader = bufio.NewReaderSize(b.from, readAhead)
	}
	return n, err
}
