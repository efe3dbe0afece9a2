package servertest

import (
	"strings"
	"testing"
)

// HostileTexts are texts that clients may send instead of valid values.
var HostileTexts = []string{
	"", " ", "0", "-1", "1.5", "9223372036854775808", "00001", "0x10", "NaN", "null", "true", "me", "\x00", "a\x00b",
	"\xff\xfe", "💥", "\u202e\u200b", "' OR 1=1 --", `";\`, "%", "_", "%%_", "a?b",
	"?0 ?1 $1", "[]", "{}", "../..", "a/b", "a+b", "now-7d", "now-9999y", "2026-02-30", "99999-01-01",
	strings.Repeat("x", 250), strings.Repeat("é", 5_000),
}

// Unlogged is a fuzz test without log output. The server of a fuzz test must not write to its log
// while an input runs.
type Unlogged struct{ testing.TB }

func (Unlogged) Logf(string, ...any) {}

func (Unlogged) Helper() {}
