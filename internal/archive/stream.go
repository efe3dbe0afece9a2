package archive

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"io"
)

// Stream writes an archive as a ZIP file from front to back, so that it can be sent while it is
// made. The manifest is the last file.
type Stream struct {
	to    *redirected
	zip   *zip.Writer
	files Files
}

// redirected is a writer whose destination can change.
type redirected struct{ io.Writer }

// NewStream starts an archive that is written to w.
func NewStream(w io.Writer) *Stream {
	to := &redirected{w}
	return &Stream{to: to, zip: zip.NewWriter(to)}
}

// Redirect writes the rest of the archive to w.
func (s *Stream) Redirect(w io.Writer) error {
	if err := s.zip.Flush(); err != nil {
		return err
	}
	s.to.Writer = w
	return nil
}

// Rows writes the rows of a noun, like [Writer.Rows].
func (s *Stream) Rows(noun string, fn func(row func([]byte) error) error) (Noun, error) {
	to, err := s.zip.CreateHeader(&zip.FileHeader{Name: noun + rowsSuffix, Method: zip.Deflate})
	if err != nil {
		return Noun{}, err
	}
	return writeRows(noun, to, fn)
}

// Bytes stores the content that r returns. If it does not have the expected SHA-256, the error
// matches [ErrDamaged]. The archive then contains the damaged bytes, because they have been written
// before that is known, and the caller must list the content as missing in the manifest.
func (s *Stream) Bytes(ctx context.Context, c Content, r io.Reader) error {
	name, err := c.path()
	if err != nil {
		return err
	}
	to, err := s.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
	if err != nil {
		return err
	}
	got := sha256.New()
	size, err := io.Copy(io.MultiWriter(to, got), contextReader{ctx, r})
	if err == nil {
		err = checkSum(name, got, c.SHA256)
	}
	if err == nil {
		s.files.Count++
		s.files.Bytes += size
	}
	return err
}

// Commit writes the manifest and completes the archive.
func (s *Stream) Commit(m *Manifest) error {
	m.Files = s.files
	text, err := m.text()
	if err != nil {
		return err
	}
	to, err := s.zip.CreateHeader(&zip.FileHeader{Name: manifestName, Method: zip.Deflate})
	if err != nil {
		return err
	}
	if _, err := to.Write(text); err != nil {
		return err
	}
	return s.zip.Close()
}
