package telemetry

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

func TestLoggerLevelAndFormat(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		level        slog.Level
		format, want string
	}{
		{slog.LevelInfo, "", `"msg":"told"`},
		{slog.LevelInfo, "json", `"msg":"told"`},
		{slog.LevelInfo, "text", "msg=told"},
		{slog.LevelWarn, "json", ""},
	} {
		var out bytes.Buffer
		NewLogger(&out, c.level, c.format).Info("told")
		if got := out.String(); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("level %v, format %q: got %q, want %q", c.level, c.format, got, c.want)
		}
	}
}

func TestTraceID(t *testing.T) {
	t.Parallel()
	const id = "0af7651916cd43dd8448eb211c80319c"
	for header, want := range map[string]string{
		"00-" + id + "-b7ad6b7169203331-01": id,
		"":                                  "",
		"00-" + id:                          "",
		"00-" + strings.Repeat("0", 32) + "-b7ad6b7169203331-01":    "",
		"00-" + strings.ToUpper(id) + "-b7ad6b7169203331-01":        "",
		"00-" + id + "-b7ad6b7169203331-01-what-a-later-version-is": id,
	} {
		if got := traceID(header); got != want {
			t.Errorf("%q: got %q, want %q", header, got, want)
		}
	}
}
