package child

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// kind is the kind of a frame.
type kind byte

// The frames that a child writes to its standard output. A part consists of a framePart, any number
// of frameData, and a framePartEnd. The last frame is a frameResult, a frameRefused or a
// frameFailed.
const (
	frameProgress kind = 'p' // progress as JSON, several times a second
	framePart     kind = 'o' // preview.Part as JSON
	frameData     kind = 'd' // bytes of the part
	framePartEnd  kind = 'e'
	frameResult   kind = 'r' // preview.Result as JSON
	frameRefused  kind = 'x' // mesh.Error as JSON: the file is at fault
	frameFailed   kind = 'f' // text: the file is not at fault
)

const (
	// maxFrame is the maximum payload of a frame, maxOutput that of all frames of a child, in bytes.
	maxFrame  = 64 << 10
	maxOutput = 2 << 30
)

// progress is the progress of a stage, from 0 to 1, and the peak resident memory in bytes.
type progress struct {
	Stage  string
	Done   float64
	Memory int64
}

// frameWriter writes frames. It is safe for concurrent use.
type frameWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (f *frameWriter) write(k kind, payload []byte) error {
	var head [5]byte
	head[0] = byte(k)
	binary.LittleEndian.PutUint32(head[1:], uint32(len(payload)))
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, err := f.w.Write(head[:]); err != nil {
		return err
	}
	_, err := f.w.Write(payload)
	return err
}

func (f *frameWriter) writeJSON(k kind, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return f.write(k, b)
}

// partWriter writes the data of a part as frameData.
type partWriter struct{ *frameWriter }

func (p partWriter) Write(b []byte) (int, error) {
	for done := 0; done < len(b); {
		n := min(len(b)-done, maxFrame)
		if err := p.write(frameData, b[done:done+n]); err != nil {
			return done, err
		}
		done += n
	}
	return len(b), nil
}

// frameReader reads frames. err is the first error of reading or decoding a frame, including
// io.EOF.
type frameReader struct {
	r        io.Reader
	left     int64 // bytes left of maxOutput
	progress func(stage string, done float64)
	memory   int64 // peak memory of the last progress frame
	buf      [maxFrame]byte
	err      error
}

var errProtocol = errors.New("invalid output from the preview process")

// next returns the next frame. The payload is valid until the next call.
func (f *frameReader) next() (kind, []byte, error) {
	if f.err != nil {
		return 0, nil, f.err
	}
	var head [5]byte
	if _, f.err = io.ReadFull(f.r, head[:]); f.err != nil {
		return 0, nil, f.err
	}
	n := binary.LittleEndian.Uint32(head[1:])
	if f.left -= int64(n); n > maxFrame || f.left < 0 {
		return 0, nil, f.fail(fmt.Errorf("%w: a frame of %d bytes exceeds the limit", errProtocol, n))
	}
	if _, f.err = io.ReadFull(f.r, f.buf[:n]); f.err != nil {
		return 0, nil, f.err
	}
	return kind(head[0]), f.buf[:n], nil
}
