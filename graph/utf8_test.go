package graph

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWholeCharacters(t *testing.T) {
	for text, want := range map[string]bool{
		`"a"`: true, `"\u00e4\n\\"`: true, `"\ud83e\udd8a"`: true, `"\uD83E\uDD8Ax"`: true, `"\\ud800"`: true, `"\\\\u"`: true, `"\u"`: true, `"\uzzzz"`: true, `\`: true,
		"\"\xff\"": false, `"\ud800"`: false, `"\udd8a\ud83e"`: false, `"\ud83e\u0061"`: false, `"\ud83ex\udd8a"`: false, `"\ud83e`: false, `"\\\ud800"`: false,
	} {
		if got := wholeCharacters([]byte(text)); got != want {
			t.Errorf("wholeCharacters(%s) = %v, want %v", text, got, want)
		}
	}
}

// Text that passes is read by encoding/json without a character put in the place of another.
func FuzzWholeCharacters(f *testing.F) {
	f.Add(`"\ud83e\udd8a"`)
	f.Add(`"\\ud800\ud800"`)
	f.Fuzz(func(t *testing.T, text string) {
		var s string
		if !wholeCharacters([]byte(text)) || json.Unmarshal([]byte(text), &s) != nil {
			return
		}
		sent := strings.Count(text, string(utf8.RuneError)) + strings.Count(strings.ToLower(text), `\ufffd`)
		if got := strings.Count(s, string(utf8.RuneError)); got > sent {
			t.Errorf("%q is read as %q", text, s)
		}
	})
}
