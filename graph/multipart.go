package graph

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/meshyard/meshyard/models"
)

// multipartForm is the transport of the GraphQL multipart request specification, streaming: the resolver reads the file from the
// connection, so that its size costs no memory and no disk of ours. gqlgen's own holds files in memory or in temporary files, and panics on
// some maps. One request carries one file, as its last part.
type multipartForm struct{}

const (
	maxOperations = 1 << 20
	maxMap        = 1 << 12
)

func (multipartForm) Supports(r *http.Request) bool {
	mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && r.Method == http.MethodPost && mediaType == "multipart/form-data"
}

func (multipartForm) Do(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor) {
	ctx := r.Context()
	w.Header().Set("Content-Type", "application/json")
	params, err := readMultipart(r)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		writeResponse(w, exec.DispatchError(graphql.WithOperationContext(ctx, &graphql.OperationContext{}), gqlerror.List{gqlerror.Wrap(err)}))
		return
	}
	params.Headers = r.Header
	params.ReadTime = graphql.TraceTiming{Start: graphql.Now(), End: graphql.Now()}
	op, errs := exec.CreateOperationContext(ctx, params)
	if errs != nil {
		writeResponse(w, exec.DispatchError(graphql.WithOperationContext(ctx, op), errs))
		return
	}
	next, ctx := exec.DispatchOperation(ctx, op)
	if response := next(ctx); response != nil {
		writeResponse(w, response)
	}
}

func writeResponse(w io.Writer, response *graphql.Response) {
	_ = json.NewEncoder(w).Encode(response) // a client that is gone reads no error
}

// readMultipart reads what stands before the file, and leaves the file to be read.
func readMultipart(r *http.Request) (*graphql.RawParams, error) {
	// A page of another site can send a form, but no header that asks for a preflight request.
	if r.Header.Get("Authorization") == "" && r.Header.Get("Apollo-Require-Preflight") == "" && r.Header.Get("GraphQL-Require-Preflight") == "" {
		return nil, BadInput("", "a multipart request needs the header Authorization or GraphQL-Require-Preflight")
	}
	parts, err := r.MultipartReader()
	if err != nil {
		return nil, BadInput("", "the multipart body cannot be read: %v", err)
	}
	params := new(graphql.RawParams)
	var files map[string][]string
	if err := readJSON(parts, "operations", maxOperations, params); err != nil {
		return nil, err
	}
	if err := readJSON(parts, "map", maxMap, &files); err != nil {
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
		upload := Stream(part.FileName(), part)
		if err := place(params.Variables, paths[0], upload); err != nil {
			return nil, err
		}
	}
	return params, nil
}

func nextPart(parts *multipart.Reader, name string) (*multipart.Part, error) {
	part, err := parts.NextPart()
	if err != nil || part.FormName() != name {
		return nil, BadInput(name, "the parts of a multipart request are operations, map and the file that map names, in this order: %.40q is missing or out of order", name)
	}
	return part, nil
}

func readJSON(parts *multipart.Reader, name string, limit int64, into any) error {
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
	if err := json.Unmarshal(text, into); err != nil {
		return BadInput(name, "%s: is not the JSON that is wanted there", name)
	}
	return nil
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

// Stream makes an upload of a stream, for operations that run in process.
func Stream(name string, r io.Reader) graphql.Upload {
	return graphql.Upload{File: onePass{r}, Filename: name, Size: -1}
}
