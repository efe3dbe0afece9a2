// Package tempfile creates temporary files of which nothing remains if the process is killed.
package tempfile

import (
	"errors"
	"os"
)

// File is an open temporary file without a name. On Windows it has a name, and Close removes it.
type File struct {
	*os.File
	named bool
}

// New creates an empty file in the directory for temporary files.
func New() (*File, error) {
	f, err := os.CreateTemp("", "meshyard-")
	if err != nil {
		return nil, err
	}
	// Windows keeps the name of an open file.
	return &File{File: f, named: os.Remove(f.Name()) != nil}, nil
}

// Close closes the file, which removes it.
func (f *File) Close() error {
	err := f.File.Close()
	if f.named {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}
