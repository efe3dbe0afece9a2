package rest

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"math"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/meshyard/meshyard/internal/graphqlhttp"
	"github.com/meshyard/meshyard/internal/httpbody"
)

const (
	maxBody   = 1 << 20  // bytes of a request body without a file
	maxFields = 64 << 10 // bytes of all fields before the file together
)

// readBody reads the fields of a body. It detects the format from the content, because clients send
// JSON with any Content-Type or none. The body is a JSON object, a form, or empty; some clients
// send null for an empty body.
func readBody(r *http.Request) (map[string]any, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	if mediaType, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); mediaType == "multipart/form-data" {
		fields, _, err := readForm(r)
		return fields, err
	}
	text, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return nil, badInput("body", "body: ended early")
	}
	if len(text) > maxBody {
		return nil, tooLarge("body", maxBody)
	}
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")))
	switch {
	case len(text) == 0 || string(text) == "null":
		return nil, nil
	case text[0] == '{':
		var fields map[string]any
		err := httpbody.DecodeJSON("request body", text, &fields)
		return fields, err
	case text[0] == '[':
		return nil, badInput("body", "body: must be a JSON object (got an array)")
	}
	form, err := url.ParseQuery(string(text))
	if err != nil {
		return nil, badInput("body", "body: must be a JSON object or a form")
	}
	return fromQuery(form), nil
}

// fromQuery returns the parameters by name. A name with the suffix [] is a list, and so are names
// with an index as the suffix, such as [0], in the order of the indexes.
func fromQuery(query url.Values) map[string]any {
	type part struct {
		index  int
		values []string
	}
	parts := make(map[string][]part, len(query))
	for name, values := range query {
		name, index := listIndex(name)
		parts[name] = append(parts[name], part{index, values})
	}
	fields := make(map[string]any, len(parts))
	for name, parts := range parts {
		slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.index, b.index) })
		var list []any
		for _, p := range parts {
			for _, v := range p.values {
				list = append(list, v)
			}
		}
		if len(list) == 1 && parts[0].index == noList {
			fields[name] = list[0]
		} else {
			fields[name] = list
		}
	}
	return fields
}

// noList is the index of a name that is not that of a list.
const noList = -1

// listIndex splits a name into that of the list and the index. The suffix [] stands for an index
// after all others.
func listIndex(name string) (list string, index int) {
	start := strings.IndexByte(name, '[')
	if start < 0 || !strings.HasSuffix(name, "]") {
		return name, noList
	}
	digits := name[start+1 : len(name)-1]
	if digits == "" {
		return name[:start], math.MaxInt
	}
	index, err := strconv.Atoi(digits)
	if err != nil || index < 0 || strconv.Itoa(index) != digits {
		return name, noList
	}
	return name[:start], index
}

// filePart is the file of a form. It can be read once. At the end of the file, Read also reads the
// rest of the form. If the rest has another file or a field that must come before the file, Read
// returns an error instead of io.EOF, so that nothing is stored.
type filePart struct {
	part    io.Reader
	form    *httpbody.Form
	name    string
	atLeast int64 // minimum size in bytes
	ended   error // the result of reading the rest of the form
}

// Read implements io.Reader.
func (f *filePart) Read(p []byte) (int, error) {
	if f.ended != nil {
		return 0, f.ended
	}
	n, err := f.part.Read(p)
	if err == io.EOF {
		f.ended = f.checkRest()
		err = f.ended
	}
	return n, err
}

// maxPartsAfterFile is the maximum number of parts after the file of a form.
const maxPartsAfterFile = 100

// checkRest reads the parts after the file. It returns io.EOF if they are valid, else BadInput.
// Fields other than type are ignored there.
func (f *filePart) checkRest() error {
	for range maxPartsAfterFile {
		part, err := f.form.NextPart()
		if err == io.EOF {
			return io.EOF
		}
		if err != nil {
			return badInput("body", "body: the multipart body cannot be read, or ended early")
		}
		switch name := part.FormName(); {
		case name == "file":
			return badInput("file", "file: there must be one part named file (got a second)")
		case part.FileName() != "":
			return notTheFile(name)
		case name == "type":
			return badInput("type", "type: must come before the part named file")
		}
		if n, err := io.Copy(io.Discard, io.LimitReader(part, maxFields+1)); err != nil || n > maxFields {
			return tooLarge("body", maxFields)
		}
	}
	return badInput("body", "body: at most %d parts may follow the file", maxPartsAfterFile)
}

// notTheFile returns the error for a part that has a filename but is not the file.
func notTheFile(name string) error {
	return badInput("file", "file: only the part named file may have a filename (got one in the part %.60q)", name)
}

// readForm reads the fields of a multipart form up to the part named file, and returns that part
// unread.
func readForm(r *http.Request) (fields map[string]any, file *filePart, err error) {
	parts, err := httpbody.NewForm(r)
	if err != nil {
		return nil, nil, badInput("body", "body: must be multipart/form-data with a part named file")
	}
	fields = make(map[string]any)
	left := int64(maxFields)
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return fields, nil, nil
		}
		if err != nil {
			return nil, nil, badInput("body", "body: the multipart body cannot be read, or ended early")
		}
		if part.FormName() == "file" {
			return fields, &filePart{part: part, form: parts, name: part.FileName(), atLeast: parts.StartFile()}, nil
		}
		if part.FileName() != "" {
			return nil, nil, notTheFile(part.FormName())
		}
		value, err := io.ReadAll(io.LimitReader(part, left+1))
		if err != nil {
			return nil, nil, badInput("body", "body: the multipart body ended early")
		}
		if left -= int64(len(value)) + 256; left < 0 {
			return nil, nil, tooLarge("body", maxFields)
		}
		fields[part.FormName()] = string(value)
	}
}

// takesFile reports whether an operation's body contains a file.
func takesFile(op *operation) bool {
	v := op.variables["file"]
	return v != nil && v.Type.Name() == "Upload"
}

// readUpload reads a body that contains a file.
func readUpload(r *http.Request) (map[string]any, error) {
	fields, file, err := readForm(r)
	if err != nil {
		return nil, err
	}
	if file == nil {
		return nil, badInput("file", "file: is missing: the body must be multipart/form-data with a part named file")
	}
	fields["file"] = graphqlhttp.NewUpload(file.name, file, file.atLeast)
	return fields, nil
}

// fieldsOf reads the body of a request if its operation needs one.
func fieldsOf(op *operation, r *http.Request) (map[string]any, error) {
	if takesFile(op) {
		return readUpload(r)
	}
	if (op.Operation == ast.Mutation || r.Method == post) && len(op.variables) > len(pathParameter.FindAllString(r.Pattern, -1)) {
		return readBody(r)
	}
	return nil, nil
}
