// Package archive reads and writes archives: the rows of a catalogue, or of one of its users, and
// the contents of its files, in a folder or a ZIP file that does not depend on the database engine.
// docs/archive-format.md describes the format.
//
//	archive.json      the manifest, which is written last
//	things.ndjson     the rows of a noun: a JSON object on each line
//	files/ab/abcd…    the bytes with that SHA-256; in the archive of a user a folder of that name,
//	                  which has them in a file with the name of the user's file
package archive

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
)

const (
	format       = 1
	manifestName = "archive.json"
	lockName     = "export.lock" // its presence shows that an export has begun in the folder
	bytesFolder  = "files"
	rowsSuffix   = ".ndjson"
	partSuffix   = ".part"
)

// Manifest describes a complete archive. It contains no timestamp, so archives of the same rows are
// identical.
type Manifest struct {
	Format int `json:"format"`
	// User is the name of the user whose rows the archive contains. It is empty if the archive
	// contains the rows of all users.
	User string `json:"user,omitempty"`
	// Credentials reports whether the archive contains password hashes, OpenID Connect identities,
	// applications and access tokens.
	Credentials bool   `json:"credentials,omitempty"`
	Nouns       []Noun `json:"nouns"`
	Files       Files  `json:"files"`
	// Missing lists the SHA-256 of each content that the catalogue refers to but that was missing,
	// damaged or unreadable in the bucket, in ascending order.
	Missing []string `json:"missing,omitempty"`
}

// Noun describes a file with rows.
type Noun struct {
	Name   string `json:"name"`
	Rows   int64  `json:"rows"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
	// LastID is the highest ID that was ever assigned to a row, so that the IDs of deleted rows are
	// not reused. It is 0 if no ID was assigned, and in the archive of one user.
	LastID int64 `json:"last_id,omitempty"`
}

// Files holds the number and the total size of the stored contents.
type Files struct {
	Count int64 `json:"count"`
	Bytes int64 `json:"bytes"`
}

// text returns the content of the file of a manifest.
func (m *Manifest) text() ([]byte, error) {
	m.Format = format
	text, err := json.MarshalIndent(m, "", "  ")
	return append(text, '\n'), err
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

// bytesPath returns the path of the content with a SHA-256 in lower-case hex, or of the folder that
// has it in a named file. The subfolders keep directory listings short.
func bytesPath(sum string) (string, error) {
	if raw, err := hex.DecodeString(sum); err != nil || len(raw) != 32 || sum != strings.ToLower(sum) {
		return "", fmt.Errorf("SHA-256 %q: must be 64 hex digits in lower case", sum)
	}
	return path.Join(bytesFolder, sum[:2], sum), nil
}

// ErrDamaged matches the error for a content or a file of rows whose SHA-256 is not the expected
// one.
var ErrDamaged = errors.New("is damaged")

// ErrUnreadable matches the error for a content of an archive that cannot be read.
var ErrUnreadable = errors.New("cannot be read from the archive")
