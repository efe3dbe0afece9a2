package rest

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"maps"
	"math"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/httpserver/httpbody"
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
	mediaType, parameters, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if mediaType == "multipart/form-data" && parameters["boundary"] != "" {
		fields, _, err := readForm(r)
		return fields, err
	}
	text, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return nil, apierror.Or(err, badInput("body", "body: ended early"))
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
	case bytes.HasPrefix(text, []byte("--")):
		return nil, badInput("body", "body: is multipart, so Content-Type must be multipart/form-data with its boundary")
	}
	form, err := url.ParseQuery(string(text))
	if err != nil {
		return nil, badInput("body", "body: must be a JSON object or a form")
	}
	return fromQuery(form), nil
}

// fromQuery returns the parameters by name. Keys in brackets after a name make it a list, if they
// are indexes or empty, or else an object, as PHP and jQuery encode them: tags[]=, tags[0]= and
// files[0][id]=.
func fromQuery(query url.Values) map[string]any {
	root := new(formValue)
	for name, values := range query {
		v := root
		for _, key := range formKeys(name) {
			if v.inner == nil {
				v.inner = make(map[string]*formValue)
			}
			if v.inner[key] == nil {
				v.inner[key] = new(formValue)
			}
			v = v.inner[key]
		}
		v.texts = append(v.texts, values...)
	}
	return root.object()
}

// maxFormKeys is the maximum number of keys in brackets. The deepest documented value has two.
const maxFormKeys = 4

// formKeys splits a name into the part before the first bracket and the keys in brackets.
func formKeys(name string) []string {
	first, rest, ok := strings.Cut(name, "[")
	rest, closed := strings.CutSuffix(rest, "]")
	keys := strings.SplitN(rest, "][", maxFormKeys+1)
	if !ok || !closed || len(keys) > maxFormKeys {
		return []string{name}
	}
	return append([]string{first}, keys...)
}

// formValue is the value of a name in a form: texts, and the values of keys in brackets.
type formValue struct {
	texts []string
	inner map[string]*formValue
}

// value returns a text, a list or an object.
func (v *formValue) value() any {
	if len(v.inner) == 0 && len(v.texts) == 1 {
		return v.texts[0]
	}
	var list []any
	for _, text := range v.texts {
		list = append(list, text)
	}
	keys := slices.Collect(maps.Keys(v.inner))
	if slices.ContainsFunc(keys, func(key string) bool { return formIndex(key) < 0 }) {
		return v.object()
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Compare(formIndex(a), formIndex(b)) })
	for _, key := range keys {
		switch value := v.inner[key].value().(type) {
		case []any: // the key was repeated
			list = append(list, value...)
		default:
			list = append(list, value)
		}
	}
	return list
}

// object returns the inner values by key.
func (v *formValue) object() map[string]any {
	fields := make(map[string]any, len(v.inner))
	for key, inner := range v.inner {
		fields[key] = inner.value()
	}
	return fields
}

// formIndex returns the position in a list that a key stands for, or -1 if it is no index. An empty
// key stands for the positions after all others.
func formIndex(key string) int {
	if key == "" {
		return math.MaxInt
	}
	index, err := strconv.Atoi(key)
	if err != nil || strconv.Itoa(index) != key {
		return -1
	}
	return index
}

// filePart is the file of a form. It can be read once. At the end of the file, Read also reads the
// rest of the form. If the rest has another file or an invalid field, Read returns an error instead
// of io.EOF, so that nothing is stored.
type filePart struct {
	part    io.Reader
	form    *httpbody.Form
	name    string
	atLeast int64 // minimum size in bytes
	ended   error // the result of reading the rest of the form

	kinds *ast.Definition // the values of the field type; nil if the form has no such field
	kind  string          // the value of the field type, if it came after the file
}

// Kind implements [uploads.LateKind].
func (f *filePart) Kind() string { return f.kind }

// Seek implements io.Seeker, which graphql.Upload requires. It returns an error.
func (f *filePart) Seek(int64, int) (int64, error) { return 0, errors.ErrUnsupported }

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

// checkRest reads the parts after the file. It returns io.EOF if they are valid, else BadInput. The
// fields of a form have no fixed order, so type may come there. Other fields are ignored.
func (f *filePart) checkRest() error {
	for range maxPartsAfterFile {
		part, err := f.form.NextPart()
		if err == io.EOF {
			return io.EOF
		}
		if err != nil {
			return apierror.Or(err, badInput("body", "body: the multipart body cannot be read, or ended early"))
		}
		switch name := part.FormName(); {
		case name == "file":
			return badInput("file", "file: there must be one part named file (got a second)")
		case part.FileName() != "":
			return notTheFile(name)
		case name == "type" && f.kinds != nil:
			if err := f.readKind(part); err != nil {
				return err
			}
		}
		if n, err := io.Copy(io.Discard, io.LimitReader(part, maxFields+1)); err != nil || n > maxFields {
			return tooLarge("body", maxFields)
		}
	}
	return badInput("body", "body: at most %d parts may follow the file", maxPartsAfterFile)
}

// maxKind is the maximum length of the field type. Its values are single words.
const maxKind = 100

// readKind reads the field type. An empty one is ignored, as before the file.
func (f *filePart) readKind(part io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(part, maxKind))
	if err != nil || len(text) == 0 {
		return err
	}
	kind, err := convertEnum("type", string(text), f.kinds)
	f.kind = strings.ToLower(kind)
	return err
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
	values := make(url.Values)
	left := int64(maxFields)
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return fromQuery(values), nil, nil
		}
		if err != nil {
			return nil, nil, apierror.Or(err, badInput("body", "body: the multipart body cannot be read, or ended early"))
		}
		if part.FormName() == "file" {
			return fromQuery(values), &filePart{part: part, form: parts, name: httpbody.FileName(part),
				atLeast: parts.StartFile()}, nil
		}
		if part.FileName() != "" {
			return nil, nil, notTheFile(part.FormName())
		}
		value, err := io.ReadAll(io.LimitReader(part, left+1))
		if err != nil {
			return nil, nil, apierror.Or(err, badInput("body", "body: the multipart body ended early"))
		}
		if left -= int64(len(value)) + 256; left < 0 {
			return nil, nil, tooLarge("body", maxFields)
		}
		values.Add(part.FormName(), string(value))
	}
}

// takesFile reports whether an operation's body contains a file.
func takesFile(op *operation) bool {
	v := op.variables["file"]
	return v != nil && v.Type.Name() == "Upload"
}

// readUpload reads a body that contains a file.
func readUpload(op *operation, r *http.Request) (map[string]any, error) {
	fields, file, err := readForm(r)
	if err != nil {
		return nil, err
	}
	if file == nil {
		return nil, badInput("file", "file: is missing: the body must be multipart/form-data with a part named file")
	}
	file.kinds = op.variables["type"].Definition
	fields["file"] = graphql.Upload{File: file, Filename: file.name, Size: file.atLeast}
	return fields, nil
}

// fieldsOf reads the body of a request if its operation needs one.
func fieldsOf(op *operation, r *http.Request) (map[string]any, error) {
	if takesFile(op) {
		return readUpload(op, r)
	}
	if (op.Operation == ast.Mutation || r.Method == post) &&
		len(op.variables) > len(pathParameter.FindAllString(r.Pattern, -1)) {
		return readBody(r)
	}
	return nil, nil
}
