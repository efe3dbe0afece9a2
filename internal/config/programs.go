package config

import (
	"strings"

	"github.com/meshyard/meshyard/internal/slicerlink"
)

// Programs are the changes of the operator to the programs that files can be opened in.
type Programs []slicerlink.Program

// UnmarshalText parses NAME=TEMPLATE, separated by commas.
func (p *Programs) UnmarshalText(text []byte) error {
	*p = nil
	for part := range strings.SplitSeq(string(text), ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		program, err := slicerlink.Parse(part)
		if err != nil {
			return err
		}
		*p = append(*p, program)
	}
	return nil
}
