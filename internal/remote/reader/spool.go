package reader

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/meshyard/meshyard/internal/legacyclient"
	"github.com/meshyard/meshyard/internal/remote"
)

// spool stores downloads one after the other in a temporary file.
type spool struct {
	file        *os.File
	size, limit int64
	removed     bool
}

// newSpool creates an empty spool. Its file has no name, so nothing is left of it if the process
// dies; where the system does not permit that, Close deletes it.
func newSpool(limit int64) (*spool, error) {
	f, err := os.CreateTemp("", "meshyard-link-*")
	if err != nil {
		return nil, fmt.Errorf("create a temporary file: %w", err)
	}
	return &spool{file: f, limit: limit, removed: os.Remove(f.Name()) == nil}, nil
}

// add stores what r returns. It returns its content and its SHA-256 in hex.
func (s *spool) add(r io.Reader) (*io.SectionReader, string, error) {
	hash, room := sha256.New(), s.limit-s.size
	n, err := io.Copy(io.MultiWriter(io.NewOffsetWriter(s.file, s.size), hash), io.LimitReader(r, room+1))
	if err != nil {
		return nil, "", err
	}
	if n > room {
		return nil, "", legacyclient.Final(
			remote.Failf("its files have more than %d bytes, and at most that many are allowed", s.limit))
	}
	content := io.NewSectionReader(s.file, s.size, n)
	s.size += n
	return content, hex.EncodeToString(hash.Sum(nil)), nil
}

// Close deletes the file.
func (s *spool) Close() error {
	err := s.file.Close()
	if !s.removed {
		err = errors.Join(err, os.Remove(s.file.Name()))
	}
	return err
}
