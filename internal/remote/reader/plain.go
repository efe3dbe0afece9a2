package reader

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/meshyard/meshyard/internal/dataset/folder"
	"github.com/meshyard/meshyard/internal/legacyclient"
	"github.com/meshyard/meshyard/internal/remote"
)

// openPlain reads what a URL returns: a data package, an archive or a single file.
func (s *source) openPlain(ctx context.Context, u *url.URL) error {
	var content *io.SectionReader
	var name, kind string
	at := u
	err := s.client.Response(ctx, u.String(), func(r *http.Response) (err error) {
		at = r.Request.URL // that of the last redirect
		name, kind = nameOf(r), r.Header.Get("Content-Type")
		if parsed, _, err := mime.ParseMediaType(kind); err == nil {
			kind = parsed
		}
		if kind == "text/html" || kind == "application/xhtml+xml" {
			return legacyclient.Final(
				remote.Failf("it is a web page, and neither a thing of a service with a known API, nor a file"))
		}
		content, _, err = s.spool.add(r.Body)
		return err
	})
	if err != nil {
		return err
	}
	s.layout.Name = folder.CleanName(strings.TrimSuffix(name, path.Ext(name)))
	extension := strings.ToLower(path.Ext(name))
	switch {
	case extension == ".json" || kind == "application/json":
		return s.openPackage(at, content)
	case extension == ".zip" || kind == "application/zip" && (extension == "" || extension == ".php"):
		return s.openArchive(content)
	}
	f := &file{path: name, size: content.Size(), content: content}
	s.Tree, s.files = folder.New([]folder.File{{Path: name, Size: f.size, Open: f.open}}), map[string]*file{}
	return nil
}

// nameOf returns the name of the file in a response.
func nameOf(r *http.Response) string {
	_, parameters, _ := mime.ParseMediaType(r.Header.Get("Content-Disposition"))
	name := cmp.Or(parameters["filename"], path.Base(r.Request.URL.Path))
	return folder.CleanName(path.Base(strings.ReplaceAll(name, `\`, "/")))
}

// openArchive reads a ZIP archive.
func (s *source) openArchive(content *io.SectionReader) error {
	// The list of files of an archive is held in memory, so its size is limited.
	limited := &limitedReaderAt{content, int64(s.options.MaxFiles)<<10 + 1<<20}
	tree, err := folder.ReadZIP(limited, content.Size(), s.options.MaxBytes)
	if limited.left < 0 {
		return remote.Failf("the archive has more than %d files", s.options.MaxFiles)
	}
	if large, ok := errors.AsType[*folder.TooLargeError](err); ok {
		return remote.Failf("the archive %v", large)
	}
	if err != nil {
		return remote.Failf("the archive cannot be read: %v", err)
	}
	limited.left = 1<<63 - 1 // the files are read now
	s.Tree, s.files = tree, map[string]*file{}
	return nil
}

// limitedReaderAt returns an error after a number of bytes.
type limitedReaderAt struct {
	io.ReaderAt
	left int64
}

func (l *limitedReaderAt) ReadAt(p []byte, at int64) (int, error) {
	if l.left -= int64(len(p)); l.left < 0 {
		return 0, errors.New("the list of files is too long")
	}
	return l.ReaderAt.ReadAt(p, at)
}

// maxMetadata is the maximum size of the description of a data package.
const maxMetadata = 4 << 20

// openPackage reads the description of a data package of Frictionless. The files that it lists are
// downloaded later.
func (s *source) openPackage(at *url.URL, content *io.SectionReader) error {
	if content.Size() > maxMetadata {
		return remote.Failf("the data package must be at most %d bytes (got %d)", maxMetadata, content.Size())
	}
	text, err := io.ReadAll(content)
	if err != nil {
		return err
	}
	var p struct {
		Name, Title string
		Resources   []struct {
			Path  json.RawMessage
			Bytes *int64
		}
	}
	if err := json.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &p); err != nil || len(p.Resources) == 0 {
		return remote.Failf("the JSON at the URL is no data package with resources")
	}
	var files []*file
	for i, r := range p.Resources {
		f := &file{size: -1}
		if r.Bytes != nil {
			f.size = *r.Bytes
		}
		if err := json.Unmarshal(r.Path, &f.path); err != nil || f.path == "" {
			f.path, f.skip = fmt.Sprintf("resource %d", i+1), "it has no path, or several"
			files = append(files, f)
			continue
		}
		to, err := url.Parse(f.path)
		switch {
		case err == nil && (to.Scheme == "http" || to.Scheme == "https"):
			f.url, f.path = to.String(), path.Base(to.Path)
		case path.IsAbs(f.path) || err == nil && to.Scheme != "":
			f.skip = "its path must be relative"
		default: // the characters ? and # are part of the path
			f.url = at.ResolveReference(&url.URL{Path: f.path}).String()
		}
		files = append(files, f)
	}
	s.layout.Name = cmp.Or(p.Title, p.Name, s.layout.Name)
	return s.list("datapackage.json", text, files)
}
