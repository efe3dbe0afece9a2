// Package reader reads the files of things from URLs: of a thing of another Meshyard, of a service
// with the legacy REST API, of a data package, of a ZIP archive and of a single file. URLs come
// from users, so by default it connects only to public addresses, and checks each connection when
// it is dialed, also those of redirects and of the URLs in responses.
package reader

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"github.com/meshyard/meshyard/internal/dataset/folder"
	"github.com/meshyard/meshyard/internal/layout"
	"github.com/meshyard/meshyard/internal/legacyclient"
	"github.com/meshyard/meshyard/internal/remote"
)

// Options are the limits of a source, and how to connect to it.
type Options struct {
	// AllowPrivate permits connections to private addresses.
	AllowPrivate bool
	UserAgent    string
	MaxBytes     int64 // of all files together
	MaxFiles     int
}

// source is what a URL leads to. Its files can be opened after they were downloaded.
type source struct {
	*folder.Tree
	page     string // of the thing, or the URL
	options  Options
	attempts int // at each request; 0: the default
	client   *legacyclient.Client
	spool    *spool
	layout   layout.Options
	files    map[string]*file // by their path in the tree
}

// file is a file at a URL.
type file struct {
	path    string
	url     string
	urls    []string // others, if that one fails
	size    int64    // -1: unknown
	sha256  string   // in hex; "": unknown
	skip    string   // why it is not downloaded; empty if it is
	content *io.SectionReader
}

// New returns a function that finds out what a URL leads to, and what things it has, with a token
// of the service or "". It downloads archives and single files, and otherwise only metadata.
func New(o Options) func(ctx context.Context, address, token string, attempts int) (*remote.Source, error) {
	return func(ctx context.Context, address, token string, attempts int) (*remote.Source, error) {
		s, err := open(ctx, address, token, attempts, o)
		if err != nil {
			return nil, explained(err)
		}
		found, err := s.find(ctx)
		if err != nil {
			return nil, errors.Join(explained(err), s.spool.Close())
		}
		return &remote.Source{
			Content: s.Tree, Page: s.page, Found: found, Close: s.spool.Close,
			Download: func(ctx context.Context, path string) error { return explained(s.download(ctx, path)) },
		}, nil
	}
}

func open(ctx context.Context, address, token string, attempts int, o Options) (*source, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, remote.Failf("must be a URL")
	}
	s := &source{page: address, options: o, attempts: attempts, layout: layout.Options{Archive: true}}
	if s.spool, err = newSpool(o.MaxBytes); err != nil {
		return nil, err
	}
	if err := s.open(ctx, u, token); err != nil {
		return nil, errors.Join(err, s.spool.Close())
	}
	return s, nil
}

func (s *source) open(ctx context.Context, u *url.URL, token string) error {
	base := *u
	base.Path, base.RawPath, base.RawQuery = "", "", ""
	part := remote.ThingPath.FindStringSubmatch(u.Path)
	if part != nil {
		base.Path = part[1]
	}
	if strings.TrimPrefix(base.Hostname(), "www.") == "thingiverse.com" { // the API has another host
		base.Host = "api.thingiverse.com"
	}
	var err error
	o := legacyclient.Options{Token: token, AllowPrivate: s.options.AllowPrivate, UserAgent: s.options.UserAgent,
		Attempts: s.attempts}
	if s.client, err = legacyclient.New(base.String(), o); err != nil {
		return remote.Failf("must be a URL such as https://example.org/thing:1")
	}
	if part == nil {
		return s.openPlain(ctx, u)
	}
	id, err := strconv.ParseInt(part[2], 10, 64)
	if err != nil {
		return remote.Failf("the id of the thing is not valid")
	}
	found, err := s.openMeshyard(ctx, base.String(), id, u.Query().Get("key"))
	if found || err != nil {
		return err
	}
	return s.openLegacy(ctx, id)
}

// list makes the tree of files at URLs. metadata is the content of a metadata file about them.
func (s *source) list(name string, metadata []byte, files []*file) error {
	total := int64(0)
	for _, f := range files {
		total += max(f.size, 0)
	}
	if total > s.options.MaxBytes {
		return remote.Failf("its files have %d bytes, and at most %d are allowed", total, s.options.MaxBytes)
	}
	if len(files) > s.options.MaxFiles {
		return remote.Failf("it has %d files, and at most %d are allowed", len(files), s.options.MaxFiles)
	}
	entries := []folder.File{{Path: name, Size: int64(len(metadata)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(string(metadata))), nil
	}}}
	for _, f := range files {
		entries = append(entries, folder.File{Path: f.path, Size: max(f.size, 0), Open: f.open, Skip: f.skip})
	}
	s.Tree = folder.New(entries)
	s.files = map[string]*file{}
	for i, clean := range s.Paths {
		if i > 0 {
			s.files[clean] = files[i-1]
		}
	}
	return nil
}

// open opens a file that was downloaded.
func (f *file) open() (io.ReadCloser, error) {
	if f.content == nil {
		return nil, errors.New("it was not downloaded")
	}
	return io.NopCloser(io.NewSectionReader(f.content, 0, f.content.Size())), nil
}

// download downloads a file of the tree, unless it was downloaded before.
func (s *source) download(ctx context.Context, path string) (err error) {
	f := s.files[path]
	if f == nil || f.content != nil {
		return nil
	}
	for _, address := range append([]string{f.url}, f.urls...) {
		if address == "" {
			continue
		}
		if err = s.fetch(ctx, f, address); err == nil || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	return nil
}

func (s *source) fetch(ctx context.Context, f *file, address string) error {
	return s.client.Bytes(ctx, address, func(r io.Reader, _ int64) error {
		content, sum, err := s.spool.add(r)
		switch {
		case err != nil:
			return err
		case f.size >= 0 && content.Size() != f.size:
			return legacyclient.Final(remote.Failf("%s has %d bytes, but the other service says %d", f.path, content.Size(),
				f.size))
		case f.sha256 != "" && sum != f.sha256:
			return legacyclient.Final(remote.Failf("%s has other bytes than the other service says", f.path))
		}
		f.content = content
		return nil
	})
}

// find finds the things of the source.
func (s *source) find(ctx context.Context) (all layout.Result, err error) {
	o := s.layout
	o.Name = cmp.Or(o.Name, "Thing")
	err = layout.Find(ctx, texts{s, ctx}, o, func(r layout.Result) error {
		all.Things, all.Skipped, all.Ignored = append(all.Things, r.Things...), append(all.Skipped, r.Skipped...),
			all.Ignored+r.Ignored
		return nil
	})
	for _, note := range s.Notes {
		all.Skipped = append(all.Skipped, layout.Skipped{Reason: note})
	}
	return all, err
}

// texts reads the text files of a source, which it downloads first.
type texts struct {
	*source
	ctx context.Context // of find, which is why it may be in a struct
}

// Text implements [layout.Source].
func (t texts) Text(path string, limit int) ([]byte, error) {
	if err := t.download(t.ctx, path); err != nil {
		return nil, err
	}
	return t.Tree.Text(path, limit)
}
