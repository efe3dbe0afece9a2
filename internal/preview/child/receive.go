package child

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/preview"
)

// result reads all frames, passes the parts to put, and returns the result or the error of the last
// frame.
func (f *frameReader) result(put preview.Put) (result preview.Result, err error) {
	for {
		k, payload, err := f.next()
		if err != nil {
			return result, err
		}
		switch k {
		case framePart:
			err = f.part(payload, put)
		case frameResult:
			err = f.decode(payload, &result)
			return result, err
		default:
			err = f.common(k, payload)
		}
		if err != nil {
			return result, err
		}
	}
}

// part passes a part to put. payload is the content of the framePart.
func (f *frameReader) part(payload []byte, put preview.Put) error {
	var part preview.Part
	if err := f.decode(payload, &part); err != nil {
		return err
	}
	return put(part, func(w io.Writer) error {
		for {
			k, payload, err := f.next()
			if err != nil {
				return err
			}
			switch k {
			case frameData:
				_, err = w.Write(payload)
			case framePartEnd:
				return nil
			default:
				err = f.common(k, payload)
			}
			if err != nil {
				return err
			}
		}
	})
}

// common handles the frames that are allowed at any time: progress and errors. It returns an error
// that ends the work.
func (f *frameReader) common(k kind, payload []byte) error {
	switch k {
	case frameProgress:
		var p progress
		if err := f.decode(payload, &p); err != nil {
			return err
		}
		f.memory = max(f.memory, p.Memory)
		f.progress(p.Stage, p.Done)
		return nil
	case frameRefused:
		bad := new(mesh.Error)
		if err := f.decode(payload, bad); err != nil {
			return err
		}
		return bad
	case frameFailed:
		return fmt.Errorf("preview process: %s", payload)
	}
	return f.fail(fmt.Errorf("%w: unexpected frame %q", errProtocol, k))
}

// decode decodes the payload of a frame.
func (f *frameReader) decode(payload []byte, v any) error {
	if err := json.Unmarshal(payload, v); err != nil {
		return f.fail(fmt.Errorf("%w: %w", errProtocol, err))
	}
	return nil
}

// fail records err, so that no more frames are read, and returns it.
func (f *frameReader) fail(err error) error {
	f.err = err
	return err
}
