package graph

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"github.com/meshyard/meshyard/models"
)

// A GraphQL multipart request is read as the specification of that name says, streaming: the resolver reads the file from the
// connection, so that its size costs no memory and no disk of ours. One request carries one file, as its last part.

const (
	maxOperations = 1 << 20
	maxMap        = 1 << 12
	maxForm       = 2 << 20 // all that stands before the file, with the headers of the parts
	maxAfter      = 1 << 16 // what may stand after it, where its size is concluded from that of the body
)

// readMultipart reads what stands before the file, and leaves the file to be read.
func readMultipart(r *http.Request) (*graphql.RawParams, error) {
	parts, err := Parts(r)
	if err != nil {
		return nil, BadInput("", "the multipart body cannot be read: %v", err)
	}
	params := new(graphql.RawParams)
	var files map[string][]string
	if err := readPart(parts, "operations", maxOperations, params); err != nil {
		return nil, err
	}
	if err := readPart(parts, "map", maxMap, &files); err != nil {
		return nil, err
	}
	if len(files) > 1 {
		return nil, BadInput("map", "map: names %d files, and one request carries one", len(files))
	}
	for name, paths := range files {
		if len(paths) != 1 {
			return nil, BadInput("map", "map: file %.40q goes to %d variables, and must go to one", name, len(paths))
		}
		part, err := nextPart(parts, name)
		if err != nil {
			return nil, err
		}
		upload := Stream(part.FileName(), part, parts.File())
		if err := place(params.Variables, paths[0], upload); err != nil {
			return nil, err
		}
	}
	return params, nil
}

// Form reads the parts of a multipart body. What stands before the file is bounded, be it a preamble, a header or a part that is passed over.
type Form struct {
	*multipart.Reader
	before   *io.LimitedReader
	declared int64 // bytes of the body; negative: the client has not said
}

// Parts reads the multipart body of a request.
func Parts(r *http.Request) (*Form, error) {
	before := &io.LimitedReader{R: r.Body, N: maxForm}
	r.Body = struct {
		io.Reader
		io.Closer
	}{&buffered{from: before}, r.Body}
	parts, err := r.MultipartReader()
	return &Form{parts, before, r.ContentLength}, err
}

// buffered reads ahead once much has come. The multipart reader reads 4 KiB at a time, each of which were a read of the connection; but of a client that sends
// little there is nothing to be read ahead, and ten thousand of them hold ten thousand buffers.
type buffered struct {
	from   io.Reader
	come   int
	reader *bufio.Reader
}

const readAhead = 32 << 10

func (b *buffered) Read(p []byte) (int, error) {
	if b.reader != nil {
		return b.reader.Read(p)
	}
	n, err := b.from.Read(p)
	if b.come += n; b.come >= readAhead {
		b.reader = bufio.NewReaderSize(b.from, readAhead)
	}
	return n, err
}

// File says that the part under way is the file, which is as long as it is: at least so many bytes, as the request declares.
func (f *Form) File() (atLeast int64) {
	atLeast = max(f.declared-(maxForm-f.before.N)-maxAfter, 0)
	f.before.N = math.MaxInt64
	return atLeast
}

// FileAtLeast tells how many bytes are sure to be in the file that a request brings, before any of it is read.
func FileAtLeast(r *http.Request) int64 { return max(r.ContentLength-maxForm-maxAfter, 0) }

func nextPart(parts *Form, name string) (*multipart.Part, error) {
	part, err := parts.NextPart()
	if err != nil || part.FormName() != name {
		return nil, BadInput(name, "the parts of a multipart request are operations, map and the file that map names, in this order: %.40q is missing or out of order", name)
	}
	return part, nil
}

func readPart(parts *Form, name string, limit int64, into any) error {
	part, err := nextPart(parts, name)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(part, limit+1))
	if err != nil {
		return BadInput(name, "%s: ended before its time", name)
	}
	if int64(len(text)) > limit {
		return &models.Error{Code: models.TooLarge, Field: name, Limit: limit, Message: fmt.Sprintf("%s: more than %d bytes", name, limit)}
	}
	return ReadJSON(name, text, into)
}

// place puts the upload where path points, such as variables.input.file: at a null that is there.
func place(variables map[string]any, path string, upload graphql.Upload) error {
	wrong := BadInput("map", "map: %.80q names no variable that is null", path)
	rest, ok := strings.CutPrefix(path, "variables.")
	if !ok {
		return wrong
	}
	var at any = variables
	steps := strings.Split(rest, ".")
	for i, step := range steps {
		last := i == len(steps)-1
		switch in := at.(type) {
		case map[string]any:
			value, there := in[step]
			if !there || last != (value == nil) {
				return wrong
			}
			if last {
				in[step] = upload
				return nil
			}
			at = value
		case []any:
			n, err := strconv.Atoi(step)
			if err != nil || n < 0 || n >= len(in) || last != (in[n] == nil) {
				return wrong
			}
			if last {
				in[n] = upload
				return nil
			}
			at = in[n]
		default:
			return wrong
		}
	}
	return wrong
}

// onePass is a stream in the shape that graphql.Upload wants. It cannot go back.
type onePass struct{ io.Reader }

func (onePass) Seek(int64, int) (int64, error) {
	return 0, errors.New("an upload is read once, from its start to its end")
}

// Stream makes an upload of a stream of at least so many bytes, for operations that run in process.
func Stream(name string, r io.Reader, atLeast int64) graphql.Upload {
	return graphql.Upload{File: onePass{r}, Filename: name, Size: atLeast}
}
