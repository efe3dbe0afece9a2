package mesh

import "fmt"

// Reason is why a file could not be decoded to a mesh.
type Reason string

// Malformed: the file violates its format. Unsupported: the file is valid but uses a feature that
// is not supported. Encrypted: the file has a password. TooLarge: the file exceeds the limits.
// Empty: the file is valid but has no triangles and no points. OutOfMemory and TooSlow: the file
// needs more memory or time than it may use.
const (
	Malformed   Reason = "malformed"
	Unsupported Reason = "unsupported"
	Encrypted   Reason = "encrypted"
	TooLarge    Reason = "too_large"
	Empty       Reason = "empty"
	OutOfMemory Reason = "out_of_memory"
	TooSlow     Reason = "too_slow"
)

// Error explains to the user who uploaded a file why it has no mesh. It is permanent: decoding the
// file again gives the same error.
type Error struct {
	Reason Reason
	// one sentence that names the format, the position (line, byte or element) and the problem;
	// safe to show to the user
	Message string
}

func (e *Error) Error() string { return e.Message }

// Errorf returns an *Error with a formatted message. Text from the file must be quoted and short,
// because the message is shown to the user.
func Errorf(reason Reason, format string, args ...any) error {
	return &Error{reason, fmt.Sprintf(format, args...)}
}
