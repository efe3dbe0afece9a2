package words_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/meshyard/meshyard/internal/words"
)

func TestOf(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"#3DBenchy - The jolly 3D printing torture-test", "3dbenchy 3d benchy the jolly printing torture test torturetest"},
		{"Spiral bevel gear", "spiral bevel gear"},
		{"BrianEnigma", "brianenigma brian enigma"},
		{"HTMLParser", "htmlparser html parser"},
		{"iPhone 6s", "iphone phone 6s"},
		{"X-Wing", "x wing xwing"},
		{"spider_man", "spider man spiderman"},
		{"a-b-c-d", "a b c d"},
		{"M3x20 bolt", "m3x20 20 bolt"},
		{"Gear2", "gear2 gear"},
		{"Dragon's egg", "dragons egg"},
		{"Rock ’n’ roll", "rock n roll"},
		{"Étagère à vin", "etagere a vin"},
		{"Straße über Łódź, Ærø", "strasse uber lodz aero"},
		{"Дракон", "дракон"},
		{"Ёлка", "елка"},
		{"竜の像", "竜の の像 像"},
		{"ドラゴン", "ドラ ラゴ ゴン ン"},
		{"像", "像"},
		{"Ｆｕｌｌ width ﬁt", "full width fit"},
		{"हिन्दी", "हिन्दी"},
		{"½ scale", "12 scale"},
		{"zero\u200bwidth \u202emirror", "zerowidth mirror"},
		{"bad\xffbytes", "bad bytes"},
		{"two\x00words", "two words"},
		{"(((|&!:*'\"%_\\;--", ""},
		{"🐉 dragon 🔥", "dragon"},
		{"gear gear GEAR", "gear"},
	} {
		if got := strings.Join(words.Of(c.text), " "); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

func TestQuery(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"Gears", "gear"},
		{"boxes", "box"},
		{"batteries", "batter"},
		{"dishes", "dish"},
		{"glass bus chess tennis", "glass bus chess tennis"},
		{"the tower of Pisa", "tower pisa"},
		{"the", "the"},
		{"X-Wing", "xwing(x+wing)"},
		{"3DBenchy", "3dbenchy(3d+benchy)"},
		{"iPhone", "iphone"},
		{"benchy boat benchy", "benchy boat"},
		{"竜の像", "竜の の像"},
		{"像", "像"},
		{"1 2 3 4 5 6 7 8 9 10 11 12", "1 2 3 4 5 6 7 8 9 10"},
		{"%%% ' OR 1=1 --", "1"},
		{"\x00", ""},
	} {
		var got []string
		for _, w := range words.Query(c.text) {
			text := w.Stem
			if w.Parts != nil {
				text += "(" + strings.Join(w.Parts, "+") + ")"
			}
			got = append(got, text)
		}
		if got := strings.Join(got, " "); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b        string
		limit, want int
	}{
		{"bencjy", "benchy", 1, 1}, {"ocotcat", "octocat", 1, 1}, {"dragno", "dragon", 1, 1}, {"spirall", "spiral", 1, 1}, {"", "", 1, 0},
		{"gear", "gear", 1, 0}, {"gear", "", 2, 3}, {"kitten", "sitting", 3, 3}, {"kitten", "sitting", 2, 3}, {"ca", "abc", 3, 3},
		{"дракон", "драконн", 1, 1}, {"abcdef", "badcfe", 3, 3},
	} {
		if got := words.Distance(c.a, c.b, c.limit); got != c.want {
			t.Errorf("%s %s within %d: %d, want %d", c.a, c.b, c.limit, got, c.want)
		}
	}
}

func TestMarks(t *testing.T) {
	for _, c := range []struct{ text, query, want string }{
		{"#3DBenchy - The jolly 3D printing torture-test", "benchy", "#3D[Benchy] - The jolly 3D printing torture-test"},
		{"Spiral bevel gears", "gear", "Spiral bevel [gears]"},
		{"Étagère", "etagere", "[Étagère]"},
		{"The Octocat", "ocotcat", "The [Octocat]"},
		{"X-Wing and xwing", "x-wing", "[X-Wing] and [xwing]"},
		{"Spider-Man", "spiderman", "[Spider-Man]"},
		{"小さな竜の像です", "竜の像", "小さな[竜の像]です"},
		{"Dragon’s egg", "dragons", "[Dragon’s] egg"},
		{"nothing", "gear", "nothing"},
	} {
		got, at := "", 0
		for _, m := range words.Marks(c.text, words.Query(c.query)) {
			got += c.text[at:m.Start] + "[" + c.text[m.Start:m.End] + "]"
			at = m.End
		}
		if got += c.text[at:]; got != c.want {
			t.Errorf("%q in %q: %q, want %q", c.query, c.text, got, c.want)
		}
	}
}

// text draws what people, and others, type.
func text() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOf(rapid.OneOf(
			rapid.String(), rapid.SampledFrom([]string{"Gear", "X-Wing", "3DBenchy", "竜の像", "'", "\"", "*", ":", "é", "e\u0301", "Ǆ", "İ", "_", "-", " ", "\u200d", "ｶﾞ", "ς"}),
		)).Draw(t, "pieces"), "")
	})
}

func checkText(t interface {
	Errorf(format string, args ...any)
}, s string,
) {
	if f := words.Fold(s); words.Fold(f) != f {
		t.Errorf("folded %q, and again %q", f, words.Fold(f))
	}
	of := words.Of(s)
	for _, w := range of {
		if w == "" || utf8.RuneCountInString(w) > 40 || !utf8.ValidString(w) || strings.ContainsFunc(w, func(r rune) bool { return !unicode.In(r, unicode.L, unicode.N, unicode.M) }) {
			t.Errorf("%q gives the word %q", s, w)
		}
	}
	if len(of) > 2_000 || len(words.Query(s)) > 10 {
		t.Errorf("%d words, %d are asked for", len(of), len(words.Query(s)))
	}
	if len(of) < 2_000 {
		for _, w := range words.Query(s) {
			found := slices.ContainsFunc(of, func(word string) bool { return strings.HasPrefix(word, w.Stem) })
			parts := len(w.Parts) > 0
			for _, part := range w.Parts {
				parts = parts && slices.ContainsFunc(of, func(word string) bool { return strings.HasPrefix(word, part) })
			}
			if !found && !parts {
				t.Errorf("%q gives %q, and does not find itself with %+v", s, of, w)
			}
		}
	}
	at := 0
	for _, m := range words.Marks(s, words.Query(s)) {
		if m.Start < at || m.End <= m.Start || m.End > len(s) || !utf8.RuneStart(s[m.Start]) || m.End < len(s) && !utf8.RuneStart(s[m.End]) && utf8.ValidString(s) {
			t.Errorf("%q: marks %+v", s, m)
		}
		at = m.End
	}
}

func TestAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkText(t, text().Draw(t, "text")) })
}

func FuzzOf(f *testing.F) {
	for _, s := range []string{"#3DBenchy", "Étagère", "竜の像", "a\xff'b", "İ-ſ", "00ͺ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { checkText(t, s) })
}

func BenchmarkOf(b *testing.B) {
	const text = "#3DBenchy - The jolly 3D printing torture-test. Étagère pour l'imprimante: a small boat that is hard to print, with overhangs, holes and a chimney, by CreativeTools."
	b.ReportAllocs()
	for b.Loop() {
		words.Of(text)
	}
}
