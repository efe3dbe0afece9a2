package server

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"
)

// sameFailure is the time after the last occurrence of a line after which it is logged again.
const sameFailure = time.Minute

// quiet returns a logger for a library that logs more than operators need: only warnings and
// errors, except those that a shutdown causes. A line with the same message and the same error as
// one in the last minute is dropped, because during an outage the library logs several each second.
func quiet(logger *slog.Logger) *slog.Logger {
	return slog.New(warnings{logger.Handler(), &failures{at: make(map[failure]time.Time)}})
}

type warnings struct {
	slog.Handler
	seen *failures
}

// failures are the lines of the last minute.
type failures struct {
	mu sync.Mutex
	at map[failure]time.Time
}

type failure struct{ message, cause string }

// repeated reports whether f was seen in the last minute.
func (s *failures) repeated(f failure, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.at, func(_ failure, at time.Time) bool { return now.Sub(at) >= sameFailure })
	_, seen := s.at[f]
	s.at[f] = now
	return seen
}

func (w warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && w.Handler.Enabled(ctx, level)
}

func (w warnings) Handle(ctx context.Context, r slog.Record) error {
	line := failure{message: r.Message}
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "err" || a.Key == "error" {
			line.cause = fmt.Sprint(a.Value.Any())
		}
		return true
	})
	if line.cause == context.Canceled.Error() || line.cause != "" && w.seen.repeated(line, time.Now()) {
		return nil
	}
	return w.Handler.Handle(ctx, r)
}

func (w warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warnings{w.Handler.WithAttrs(attrs), w.seen}
}

func (w warnings) WithGroup(name string) slog.Handler {
	return warnings{w.Handler.WithGroup(name), w.seen}
}
