package mesh

import "fmt"

// Reason says why no mesh could be made of a file.
type Reason string

// The reasons. Malformed is of the file, Unsupported is of us, TooLarge is of the limits, Empty is a sound file with nothing to show.
const (
	Malformed   Reason = "malformed"
	Unsupported Reason = "unsupported"
	TooLarge    Reason = "too large"
	Empty       Reason = "empty"
)

// Error says to the person who uploaded a file why nothing can be derived from it. Trying again would give the same.
type Error struct {
	Reason  Reason
	Message string // one sentence that names the format, the place (line, byte or element) and what was wrong there; public
}

func (e *Error) Error() string { return e.Message }

// Errorf makes an Error. What it is given from a file must be quoted and short, for it is shown.
func Errorf(reason Reason, format string, args ...any) error {
	return &Error{reason, fmt.Sprintf(format, args...)}
}
