// Package archive reads and writes archives: the rows of a catalogue, or of one of its users, and
// the bytes of its files, in a folder or a ZIP file that depends on no database engine.
// docs/archive-format.md describes the format.
//
//	archive.json      the manifest, which is written last
//	things.ndjson     the rows of a noun: a JSON object on each line
//	files/ab/abcd…    the bytes with that SHA-256
package archive

import (
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"strings"
)

const (
	format       = 1
	manifestName = "archive.json"
	lockName     = "export.lock" // also marks a folder that an export has begun
	bytesFolder  = "files"
	rowsSuffix   = ".ndjson"
	partSuffix   = ".part"
)

// Manifest describes a complete archive. It has no time, so that archives of the same rows are the
// same.
type Manifest struct {
	Format int `json:"format"`
	// User is the name of the user whose rows the archive has. It is empty if it has all.
	User string `json:"user,omitempty"`
	// Credentials reports whether the archive has password hashes, sign-ins by OpenID Connect,
	// applications and access tokens.
	Credentials bool   `json:"credentials,omitempty"`
	Nouns       []Noun `json:"nouns"` // in the order of loading
	Files       Files  `json:"files"`
	// Missing lists the SHA-256 of bytes that the catalogue had lost, in order.
	Missing []string `json:"missing,omitempty"`
}

// Noun describes a file with rows.
type Noun struct {
	Name   string `json:"name"`
	Rows   int64  `json:"rows"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
	// LastID is the last id that was ever given to a row, so that the ids of deleted rows are not
	// given again. It is 0 if there is none, and in the archive of a user.
	LastID int64 `json:"last_id,omitempty"`
}

// Files counts the bytes of files.
type Files struct {
	Count int64 `json:"count"`
	Bytes int64 `json:"bytes"`
}

func (m *Manifest) check() error {
	if m.Format != format {
		return fmt.Errorf("has format %d, and this version of meshyard reads format %d", m.Format, format)
	}
	for _, n := range m.Nouns {
		if strings.Trim(n.Name, "abcdefghijklmnopqrstuvwxyz_") != "" || n.Name == "" {
			return fmt.Errorf("noun %q: must be lower-case letters", n.Name)
		}
	}
	return nil
}

// bytesPath returns the path of the bytes with a SHA-256 in lower-case hex. The folders keep
// listings short.
func bytesPath(sum string) (string, error) {
	if raw, err := hex.DecodeString(sum); err != nil || len(raw) != 32 || sum != strings.ToLower(sum) {
		return "", fmt.Errorf("SHA-256 %q: must be 64 hex digits in lower case", sum)
	}
	return path.Join(bytesFolder, sum[:2], sum), nil
}

// ErrDamaged matches the error for bytes or rows whose SHA-256 is not the expected one.
var ErrDamaged = errors.New("is damaged")
