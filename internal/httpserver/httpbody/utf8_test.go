package httpbody

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestValidUnicode(t *testing.T) {
	for text, want := range map[string]bool{
		`"a"`: true, `"\u00e4\n\\"`: true, `"\ud83e\udd8a"`: true, `"\uD83E\uDD8Ax"`: true, `"\\ud800"`: true,
		`"\\\\u"`: true, `"\u"`: true, `"\uzzzz"`: true, `\`: true,
		"\"\xff\"": false, `"\ud800"`: false, `"\udd8a\ud83e"`: false, `"\ud83e\u0061"`: false, `"\ud83ex\udd8a"`: false,
		`"\ud83e`: false, `"\\\ud800"`: false,
	} {
		if got := validUnicode([]byte(text)); got != want {
			t.Errorf("validUnicode(%s) = %v, want %v", text, got, want)
		}
	}
}

// FuzzValidUnicode checks that encoding/json decodes accepted text without replacement characters.
func FuzzValidUnicode(f *testing.F) {
	f.Add(`"\ud83e\udd8a"`)
	f.Add(`"\\ud800\ud800"`)
	f.Fuzz(func(t *testing.T, text string) {
		var s string
		if !validUnicode([]byte(text)) || json.Unmarshal([]byte(text), &s) != nil {
			return
		}
		sent := strings.Count(text, string(utf8.RuneError)) + strings.Count(strings.ToLower(text), `\ufffd`)
		if got := strings.Count(s, string(utf8.RuneError)); got > sent {
			t.Errorf("%q is read as %q", text, s)
		}
	})
}
