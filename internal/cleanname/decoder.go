package cleanname

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Decoder converts the names of a source to clean names.
type Decoder struct {
	charset charset
	foreign []string // clean names that were not UTF-8
}

// NewDecoder returns a Decoder for names, of which it guesses the encoding of those that are not
// UTF-8.
func NewDecoder(names []string) *Decoder {
	var foreign []string
	for _, name := range names {
		if !utf8.ValidString(name) {
			foreign = append(foreign, name)
		}
	}
	return &Decoder{charset: guessCharset(foreign)}
}

// Decode converts a name or a path.
func (d *Decoder) Decode(name string) string {
	if utf8.ValidString(name) {
		return name
	}
	text := d.charset.decode(name)
	d.foreign = append(d.foreign, text)
	return text
}

// Note returns a note about the names that are not UTF-8, or none.
func (d *Decoder) Note() []string {
	if len(d.foreign) == 0 {
		return nil
	}
	const most = 3
	list := strings.Join(d.foreign[:min(len(d.foreign), most)], ", ")
	if more := len(d.foreign) - most; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return []string{fmt.Sprintf("names that are not UTF-8 were read as %s: %s", d.charset.name, list)}
}
