package server

import (
	"context"
	"fmt"
	"log/slog"
)

// quiet returns a logger for a library that logs more than operators need: only warnings and
// errors, except those that a shutdown causes.
func quiet(logger *slog.Logger) *slog.Logger { return slog.New(warnings{logger.Handler()}) }

type warnings struct{ slog.Handler }

func (w warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && w.Handler.Enabled(ctx, level)
}

func (w warnings) Handle(ctx context.Context, r slog.Record) error {
	cancelled := false
	r.Attrs(func(a slog.Attr) bool {
		cancelled = cancelled || fmt.Sprint(a.Value.Any()) == context.Canceled.Error()
		return !cancelled
	})
	if cancelled {
		return nil
	}
	return w.Handler.Handle(ctx, r)
}

func (w warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warnings{w.Handler.WithAttrs(attrs)}
}
func (w warnings) WithGroup(name string) slog.Handler { return warnings{w.Handler.WithGroup(name)} }
