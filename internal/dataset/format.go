package dataset

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Format is the format of an import file.
type Format int

const (
	CSV       Format = iota + 1 // RFC 4180 with a header line
	JSONLines                   // one JSON object on each line
)

// FormatOf returns the format for the extension of a file name, ignoring case.
func FormatOf(filename string) (Format, error) {
	switch strings.ToLower(filepath.Ext(filename)) {
	case ".csv":
		return CSV, nil
	case ".jsonl", ".ndjson":
		return JSONLines, nil
	}
	return 0, fmt.Errorf("%s: the name must end in .csv, .jsonl or .ndjson", filename)
}
