package jobs

import (
	"testing"
	"time"
)

// TestReindexerSchedule checks that the reindexer of River does not run on SQLite, where it would
// log errors every midnight.
func TestReindexerSchedule(t *testing.T) {
	t.Parallel()
	if s := reindexerSchedule("postgres"); s != nil {
		t.Errorf("postgres: got %v, want River's default", s)
	}
	s := reindexerSchedule("sqlite")
	if s == nil || s.Next(time.Now()).Before(time.Now().AddDate(100, 0, 0)) {
		t.Errorf("sqlite: got %v, want a schedule that never runs", s)
	}
}
