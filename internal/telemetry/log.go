// Package telemetry says what happens: logs, one event a line.
package telemetry

import (
	"io"
	"log/slog"
	"os"
)

// NewLogger writes JSON lines, or text where w is a terminal.
func NewLogger(w io.Writer) *slog.Logger {
	if f, ok := w.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			return slog.New(slog.NewTextHandler(w, nil))
		}
	}
	return slog.New(slog.NewJSONHandler(w, nil))
}
