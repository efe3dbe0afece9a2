package read

import "io"

// Source is the bytes of a file.
type Source struct {
	io.ReaderAt
	Size int64
	Name string
}
