package child

import (
	"errors"
	"os"
	"testing"

	"github.com/meshyard/meshyard/internal/preview"
)

// invalidOutputs contains the output of children that do not follow the protocol, by the subject
// with which they are started.
var invalidOutputs = map[string]func(*frameWriter) error{
	"test: unknown frame":          func(f *frameWriter) error { return f.write('?', nil) },
	"test: data outside of a part": func(f *frameWriter) error { return f.write(frameData, []byte("data")) },
	"test: result within a part": func(f *frameWriter) error {
		return errors.Join(f.writeJSON(framePart, preview.Part{}), f.write(frameResult, []byte("{}")))
	},
	"test: invalid result":   func(f *frameWriter) error { return f.write(frameResult, []byte("{")) },
	"test: invalid part":     func(f *frameWriter) error { return f.write(framePart, []byte("{")) },
	"test: invalid progress": func(f *frameWriter) error { return f.write(frameProgress, []byte("{")) },
	"test: invalid refusal":  func(f *frameWriter) error { return f.write(frameRefused, []byte("{")) },
}

// Variables are initialized before the init function that runs children.
var _ = writeInvalidOutput()

func writeInvalidOutput() struct{} {
	if len(os.Args) == 6 && os.Args[1] == command && invalidOutputs[os.Args[2]] != nil {
		if err := invalidOutputs[os.Args[2]](&frameWriter{w: os.Stdout}); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	return struct{}{}
}

// TestInvalidOutput checks that each violation of the protocol is a *CrashError, so that the
// preview is not tried again.
func TestInvalidOutput(t *testing.T) {
	for subject := range invalidOutputs {
		_, _, _, err := Runner{}.derive(t, nil, preview.Subject(subject))
		if _, ok := errors.AsType[*CrashError](err); !ok {
			t.Errorf("%s: got %T %v, want a *CrashError", subject, err, err)
		}
	}
}
