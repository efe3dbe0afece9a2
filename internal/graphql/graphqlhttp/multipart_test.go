package graphqlhttp

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"

	"github.com/meshyard/meshyard/internal/apierror"
)

func multipartRequest(body io.Reader) *http.Request {
	r, _ := http.NewRequest(http.MethodPost, "/graphql", body) // the address is good
	r.Header.Set("Content-Type", "multipart/form-data; boundary=b")
	return r
}

const (
	operationsPart = "--b\r\nContent-Disposition: form-data; name=\"operations\"\r\n\r\n"
	mapPart        = "\r\n--b\r\nContent-Disposition: form-data; name=\"map\"\r\n\r\n"
	filePart       = "\r\n--b\r\nContent-Disposition: form-data; name=\"0\"; filename=\"a.stl\"\r\n\r\n"
)

// counted counts what is read of it.
type counted struct {
	io.Reader
	n int
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += n
	return n, err
}

// endless repeats a text.
type endless struct {
	text string
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.text[e.at:])
	e.at = (e.at + n) % len(e.text)
	return n, nil
}

// An endless part before the file is refused after a bounded number of bytes.
func TestPartsBeforeFileAreBounded(t *testing.T) {
	for name, c := range map[string]struct{ start, more string }{
		"a preamble":         {"", "no boundary\r\n"},
		"a preamble's line":  {"", "x"},
		"headers of a part":  {"--b\r\n", "X-A: aaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n"},
		"a header of a part": {"--b\r\nX-A: ", "a"},
		"operations":         {operationsPart, "x"},
		"the map":            {operationsPart + "{}" + mapPart, "x"},
		"parts":              {operationsPart + "{}", mapPart + "{}"},
		"headers of the file": {operationsPart + `{"query":"a","variables":{"f":null}}` + mapPart + `{"0":["variables.f"]}` +
			"\r\n--b\r\n", "X-A: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n"},
	} {
		body := &counted{Reader: io.MultiReader(strings.NewReader(c.start), &endless{text: c.more})}
		_, err := readMultipart(multipartRequest(body))
		var refused *apierror.Error
		if name == "parts" && err == nil {
			continue // the map names no file, and the rest is not read
		}
		if !errors.As(err, &refused) || len(refused.Message) > 300 {
			t.Errorf("%s: got %v", name, err)
		}
		if body.n > 2<<20+64<<10 {
			t.Errorf("%s: %d bytes were read", name, body.n)
		}
	}
}

// The file is streamed to the resolver and not buffered.
func TestFileIsStreamed(t *testing.T) {
	const size = 64 << 20
	body := &counted{Reader: io.MultiReader(
		strings.NewReader(operationsPart+`{"query":"a","variables":{"in":{"f":[null]}}}`+mapPart+`{"0":["variables.in.f.0"]}`+filePart),
		io.LimitReader(&endless{text: strings.Repeat("x", 32<<10)}, size), strings.NewReader("\r\n--b--\r\n"))}
	params, err := readMultipart(multipartRequest(body))
	if err != nil {
		t.Fatal(err)
	}
	if body.n > 64<<10 {
		t.Errorf("%d bytes were read before the file was requested", body.n)
	}
	upload := params.Variables["in"].(map[string]any)["f"].([]any)[0].(graphql.Upload)
	n, err := io.Copy(io.Discard, upload.File)
	if n != size || err != nil || upload.Filename != "a.stl" {
		t.Errorf("%d bytes of %s: %v", n, upload.Filename, err)
	}
	if _, err := upload.File.Seek(0, io.SeekStart); err == nil {
		t.Error("the upload can be read twice")
	}
}

func FuzzMultipart(f *testing.F) {
	whole := operationsPart +
		`{"query":"mutation($f:Upload!){uploadFile(input:{file:$f}){file{id}}}","variables":{"f":null}}` + mapPart +
		`{"0":["variables.f"]}` + filePart + "solid a\r\n--b--\r\n"
	f.Add([]byte(whole))
	f.Add([]byte(strings.Replace(whole, "variables.f", "variables.f.0.a", 1)))
	f.Add([]byte(strings.Replace(whole, `["variables.f"]`, `{"a":[]}`, 1)))
	f.Add([]byte(strings.Replace(whole, `"f":null`, `"f":[[null],{"a":null}]`, 1)))
	f.Add([]byte(operationsPart + "{}" + mapPart + "null"))
	f.Fuzz(func(t *testing.T, body []byte) {
		params, err := readMultipart(multipartRequest(bytes.NewReader(body)))
		if err != nil {
			if _, ok := errors.AsType[*apierror.Error](err); !ok {
				t.Errorf("%q: %v has no code", body, err)
			}
			return
		}
		uploads := 0
		var count func(v any)
		count = func(v any) {
			switch v := v.(type) {
			case graphql.Upload:
				uploads++
				if n, _ := io.Copy(io.Discard, v.File); n > int64(len(body)) {
					t.Errorf("%q: a file of %d bytes", body, n)
				}
			case map[string]any:
				for _, in := range v {
					count(in)
				}
			case []any:
				for _, in := range v {
					count(in)
				}
			}
		}
		count(params.Variables)
		if uploads > 1 {
			t.Errorf("%q: %d uploads", body, uploads)
		}
	})
}
