package servertest

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
	"testing"
)

// LogBuffer is a log that several goroutines can write to.
type LogBuffer struct {
	Mu   sync.Mutex
	Text bytes.Buffer
}

func (b *LogBuffer) Write(p []byte) (int, error) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	return b.Text.Write(p)
}

func (b *LogBuffer) String() string {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	return b.Text.String()
}

// With returns the log lines in which a field has a value.
func (b *LogBuffer) With(t *testing.T, field, value string) (lines []map[string]any) {
	t.Helper()
	for line := range strings.Lines(b.String()) {
		fields := map[string]any{}
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("log line %q: %v", line, err)
		}
		if fields[field] == value {
			lines = append(lines, fields)
		}
	}
	return lines
}
