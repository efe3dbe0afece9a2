// Package telemetry provides logging, request logs and health checks.
package telemetry

import (
	"io"
	"log/slog"
	"os"
)

// NewLogger returns a logger that writes JSON lines, or text if w is a terminal.
func NewLogger(w io.Writer) *slog.Logger {
	if f, ok := w.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			return slog.New(slog.NewTextHandler(w, nil))
		}
	}
	return slog.New(slog.NewJSONHandler(w, nil))
}
