//go:build !linux

package librarywalk

import "os"

// list returns the entries of an open folder.
func list(f *os.File) ([]Entry, error) {
	infos, err := f.Readdir(-1)
	entries := make([]Entry, 0, len(infos))
	for _, info := range infos {
		entries = append(entries, Entry{info.Name(), info.Mode().Type(), info.Size(), info.ModTime().UnixNano()})
	}
	return entries, err
}
