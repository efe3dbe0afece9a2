package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Library is a folder whose files are served from where they lie.
type Library struct {
	Name string
	Dir  string // absolute after Complete
}

// libraryName matches the names of libraries: they are parts of the keys of files, and not patterns
// of LIKE.
var libraryName = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z-]{0,39}$`)

// UnmarshalText parses NAME=DIR.
func (l *Library) UnmarshalText(text []byte) error {
	name, dir, found := strings.Cut(string(text), "=")
	if !found || dir == "" {
		return fmt.Errorf("must be NAME=DIR, such as models=/srv/models (got %q)", text)
	}
	if !libraryName.MatchString(name) {
		return fmt.Errorf("the name of a library must be 1 to 40 letters, digits and hyphens, and begin with a letter or a digit (got %q)", name)
	}
	*l = Library{name, dir}
	return nil
}

// checkLibraries makes the folders of the libraries absolute.
func (s *Settings) checkLibraries() error {
	names := map[string]bool{}
	for i, l := range s.Library {
		if names[l.Name] {
			return fmt.Errorf("--library: the name %s is given twice", l.Name)
		}
		names[l.Name] = true
		dir, err := filepath.Abs(l.Dir)
		if err != nil {
			return fmt.Errorf("--library %s: %w", l.Name, err)
		}
		s.Library[i].Dir = dir
	}
	if s.LibraryInterval != 0 && s.LibraryInterval < time.Minute {
		return errors.New("--library-interval: must be 0 or at least 1m")
	}
	return nil
}
