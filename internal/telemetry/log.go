// Package telemetry provides logging, request logs and the probes of liveness and readiness. Log
// lines contain no tokens, queries or bodies. Package metrics provides metrics, and package tracing
// traces.
package telemetry

import (
	"io"
	"log/slog"
	"os"
)

// NewLogger returns a logger for lines with the given level or a higher one. The format is "json",
// "text" or "", which means text on a terminal and JSON otherwise. Log lines of a request contain
// its IDs.
func NewLogger(w io.Writer, level slog.Level, format string) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if format == "text" || format == "" && isTerminal(w) {
		return slog.New(WithRequest(slog.NewTextHandler(w, options)))
	}
	return slog.New(WithRequest(slog.NewJSONHandler(w, options)))
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
