package graphqlhttp

import (
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/httpserver/httpbody"
)

const maxMapBytes = 1 << 12 // of the part named "map"

// readMultipart reads a GraphQL multipart request up to its file, which the resolver then reads
// from the connection. A request carries at most one file, as its last part.
func readMultipart(r *http.Request) (*graphql.RawParams, error) {
	parts, err := httpbody.NewForm(r)
	if err != nil {
		return nil, apierror.Invalid("", "invalid multipart body: %v", err)
	}
	params := new(graphql.RawParams)
	var files map[string][]string
	if err := readPart(parts, "operations", httpbody.MaxJSON, params); err != nil {
		return nil, err
	}
	if err := readPart(parts, "map", maxMapBytes, &files); err != nil {
		return nil, err
	}
	if len(files) > 1 {
		return nil, apierror.Invalid("map", "map: must name at most one file (got %d)", len(files))
	}
	for name, paths := range files {
		if len(paths) != 1 {
			return nil, apierror.Invalid("map", "map: file %.40q must be used by one variable (got %d)", name, len(paths))
		}
		part, err := nextPart(parts, name)
		if err != nil {
			return nil, err
		}
		upload := newUpload(httpbody.FileName(part), part, parts.StartFile())
		if err := setFile(params.Variables, paths[0], upload); err != nil {
			return nil, err
		}
	}
	return params, nil
}

func nextPart(parts *httpbody.Form, name string) (*multipart.Part, error) {
	part, err := parts.NextPart()
	if err != nil || part.FormName() != name {
		return nil, apierror.Or(err,
			apierror.Invalid(name,
				"part %.40q is missing or out of order: send operations, map and then the file that map names", name))
	}
	return part, nil
}

func readPart(parts *httpbody.Form, name string, limit int64, into any) error {
	part, err := nextPart(parts, name)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(part, limit+1))
	if err != nil {
		return apierror.Or(err, apierror.Invalid(name, "%s: the request body ended early", name))
	}
	if int64(len(text)) > limit {
		return &apierror.Error{Code: apierror.TooLarge, Field: name, Limit: limit,
			Message: fmt.Sprintf("%s: must be at most %d bytes", name, limit)}
	}
	return httpbody.DecodeJSON(name, text, into)
}

// setFile sets the variable at path, such as variables.input.file, which must be null.
func setFile(variables map[string]any, path string, upload graphql.Upload) error {
	wrong := apierror.Invalid("map", "map: %.80q must be the path of a variable that is null", path)
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

// unseekable adapts a stream to graphql.Upload, which requires an io.ReadSeeker.
type unseekable struct{ io.Reader }

func (unseekable) Seek(int64, int) (int64, error) {
	return 0, errors.New("an upload cannot be read twice")
}

// newUpload returns an upload that reads r once. atLeast is the minimum number of bytes that r has.
func newUpload(name string, r io.Reader, atLeast int64) graphql.Upload {
	return graphql.Upload{File: unseekable{r}, Filename: name, Size: atLeast}
}
