package preview

import (
	"slices"
	"strings"

	"github.com/meshyard/meshyard/internal/mesh"
)

// Reason is why a file has no preview. Clients translate it to the language of their user.
type Reason string

// The reasons that the content of a file gives; see mesh.Reason.
const (
	Malformed   = Reason(mesh.Malformed)
	Unsupported = Reason(mesh.Unsupported)
	Encrypted   = Reason(mesh.Encrypted)
	TooLarge    = Reason(mesh.TooLarge)
	Empty       = Reason(mesh.Empty)
	OutOfMemory = Reason(mesh.OutOfMemory)
	TooSlow     = Reason(mesh.TooSlow)
)

// The other reasons. Missing: the bucket does not have the content. Crashed: the preview process
// crashed. Interrupted: every attempt ended for another reason, such as a stop of the server.
// ImageFormat: images of this format cannot be decoded. NoConverter: the file needs a converter,
// and the operator has set none.
const (
	Missing     Reason = "missing"
	Crashed     Reason = "crashed"
	Interrupted Reason = "interrupted"
	ImageFormat Reason = "image_format"
	NoConverter Reason = "no_converter"
)

// Reasons are all reasons.
var Reasons = []Reason{Malformed, Unsupported, Encrypted, TooLarge, Empty, OutOfMemory, TooSlow, Missing, Crashed,
	Interrupted, ImageFormat, NoConverter}

// ReasonOf returns the reason of an error of a file. A preview process may have been taken over by
// a file, so a reason that does not exist is Malformed.
func ReasonOf(err *mesh.Error) Reason {
	if r := Reason(err.Reason); slices.Contains(Reasons, r) {
		return r
	}
	return Malformed
}

// HasDetails reports whether the message of a failure says more than its reason.
func (r Reason) HasDetails() bool { return r != Missing && r != Crashed && r != Interrupted }

// Upper returns the name of the reason in the GraphQL schema.
func (r Reason) Upper() string { return strings.ToUpper(string(r)) }
