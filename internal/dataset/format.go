package dataset

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Format is how the things of an operator's file are written.
type Format int

const (
	CSV       Format = iota + 1 // RFC 4180 with a header line
	JSONLines                   // one JSON object a line
)

// FormatOf tells the format by the end of a file's name, in capitals or small letters.
func FormatOf(filename string) (Format, error) {
	switch strings.ToLower(filepath.Ext(filename)) {
	case ".csv":
		return CSV, nil
	case ".jsonl", ".ndjson":
		return JSONLines, nil
	}
	return 0, fmt.Errorf("%s: the name must end in .csv, .jsonl or .ndjson", filename)
}
