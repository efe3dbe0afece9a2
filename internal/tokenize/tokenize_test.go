package tokenize_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/meshyard/meshyard/internal/tokenize"
)

func TestWords(t *testing.T) {
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
		{"F4竜", "f4 竜"},
		{"Oʻzbek dragonʼs dragon＇s", "ozbek dragons"},
		{"1️⃣ plate", "1 plate"},
		{"\u3164 \uff9e ͺ", ""},
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
		if got := strings.Join(tokenize.Words(c.text), " "); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

// TestTitles tests real titles of models.
func TestTitles(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"Coin Sorter and Counting/Wrapping Tubes", "coin sorter and counting wrapping tubes"},
		{"3D-Printable Laser Cutter", "3d printable 3dprintable laser cutter"},
		{"Stepper-driven tank platform for remotely operated vehicle",
			"stepper driven stepperdriven tank platform for remotely operated vehicle"},
		{"1:60 Country Picnic", "1 60 country picnic"},
		{"Make-a-bot", "make a bot makeabot"},
		{"OpenSCAD style guide", "openscad open scad style guide"},
		{"Joe's FPV QuadCopter variant", "joes fpv quadcopter quad copter variant"},
		{"iSight Clamp for ToM", "isight sight clamp for tom to"},
		{"E_Roth_3", "e roth 3 eroth3"},
		{"scooter46290", "scooter46290 scooter 46290"},
		{"Darth_Talon's_Lightsaber", "darth talons lightsaber darthtalonslightsaber"},
		{"wmm_zkwawel_1368_1-8", "wmm zkwawel 1368 1 8"},
		{"DOTA2: Bloodseeker re-skin", "dota2 dota bloodseeker re skin reskin"},
		{"Obi-Wan’s Lightsaber (Activated)", "obi wans obiwans lightsaber activated"},
		{"「Lamu'」", "lamu"},
		{"Jericho destroyer ‘Archon’", "jericho destroyer archon"},
		{"Starfall Tactics — Helskor Vanguard cruiser", "starfall tactics helskor vanguard cruiser"},
		{"Intergray Xsi　　fr. Night Striker", "intergray xsi fr night striker"},
		{"🐺So much Corgi!🐺", "so much corgi"},
		{"Żuk", "zuk"},
		{"Écorché", "ecorche"},
		{"Citroën H Van", "citroen h van"},
		{"Castillo Otiñar Versión Mejorada", "castillo otinar version mejorada"},
		{"Oroboros - Juline l'Oubliée", "oroboros juline loubliee"},
		{"Voûtes de l'église de Saint-Just de Luzac", "voutes de leglise saint just saintjust luzac"},
		{"F4 Phantom / TURK HAVA KUVVETLERİ", "f4 phantom turk hava kuvvetleri"},
		{"Skanzen Řepora - \"Kuří Nožky\" :)", "skanzen repora kuri nozky"},
		{"Chinese Pavilion in Vlašim, Czech Republic", "chinese pavilion in vlasim czech republic"},
		{"The Statue of Miklós Barabás", "the statue of miklos barabas"},
		{"Безопасность в небе - Инфографика", "безопасность в небе инфографика"},
		{"Карниз ДК-195 157х157mm", "карниз дк 195 дк195 157х157mm 157 mm"},
		{"бмп-2", "бмп 2 бмп2"},
		{"штык", "штык"},
		{"澎湖天后宮", "澎湖 湖天 天后 后宮 宮"},
		{"「孫 悟空」Dragon ball", "孫 悟空 空 dragon ball"},
		{"英雄紀元_火龍", "英雄 雄紀 紀元 元 火龍 龍"},
		{"ロリ城", "ロリ リ城 城"},
		{"Ibuki-no- Kami  鋳奉貴神", "ibuki no ibukino kami 鋳奉 奉貴 貴神 神"},
		{"SWORDMASTER-闇-", "swordmaster 闇"},
		{"第九方盘终极武器P90", "第九 九方 方盘 盘终 终极 极武 武器 器 p90"},
		{"ゴジラ Godzilla 哥吉拉2000 Animation 動畫", "ゴジ ジラ ラ godzilla 哥吉 吉拉 拉 2000 animation 動畫 畫"},
		{"스트랭스", "스트랭스"},
		{"「ยักษ์」", "ยัก กษ์ ษ์"},
	} {
		if got := strings.Join(tokenize.Words(c.text), " "); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
		checkText(t, c.text)
	}
}

// TestLongTextWithoutSpaces checks that a long run in a script without spaces is indexed
// completely.
func TestLongTextWithoutSpaces(t *testing.T) {
	run := strings.Repeat("春眠不覺曉處處聞啼鳥", 10) + "黃河" + strings.Repeat("a", 100)
	of := tokenize.Words(run)
	if !slices.Contains(of, "黃河") || !slices.Contains(of, strings.Repeat("a", 40)) {
		t.Errorf("got words %q, want 黃河 and 40 letters a among them", of)
	}
	if marks := tokenize.Marks(run, tokenize.Query("黃河")); len(marks) != 1 || run[marks[0].Start:marks[0].End] != "黃河" {
		t.Errorf("got marks %v, want one of 黃河", marks)
	}
}

func TestBounds(t *testing.T) {
	var many strings.Builder
	for i := range 3_000 {
		many.WriteString(strconv.Itoa(i) + " ")
	}
	if n := len(tokenize.Words(many.String())); n != 2_000 {
		t.Errorf("got %d words of a long text, want 2,000", n)
	}
	if of := tokenize.Words(strings.Repeat("x", 41)); len(of) != 1 || len(of[0]) != 40 {
		t.Errorf("got words %q, want one of 40 letters", of)
	}
	for word, want := range map[string]int{"cat": 0, "20230101": 0, "gear": 1, "octocat": 1, "printing": 2, "竜の像だ": 1} {
		if got := tokenize.Tolerance(word); got != want {
			t.Errorf("%s: %d errors, want %d", word, got, want)
		}
	}
}

func TestQuery(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"Gears", "gear"},
		{"boxes", "box"},
		{"batteries", "batter"},
		{"dishes", "dish"},
		{"glass bus chess tennis lens series", "glass bus chess tennis lens series"},
		{"buses lenses heroes shoes pandas logos pies glasses", "bus lens hero shoe panda logo pie glass"},
		{"tap and die", "tap die"},
		{"ͺ-a", "a"},
		{"F4竜", "f4 竜"},
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
		for _, w := range tokenize.Query(c.text) {
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
		{"bencjy", "benchy", 1, 1}, {"ocotcat", "octocat", 1, 1}, {"dragno", "dragon", 1, 1}, {"spirall", "spiral", 1, 1},
		{"", "", 1, 0},
		{"gear", "gear", 1, 0}, {"gear", "", 2, 3}, {"kitten", "sitting", 3, 3}, {"kitten", "sitting", 2, 3},
		{"ca", "abc", 3, 3},
		{"дракон", "драконн", 1, 1}, {"abcdef", "badcfe", 3, 3},
	} {
		if got := tokenize.Distance(c.a, c.b, c.limit); got != c.want {
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
		{"xylophone, x wings", "X-Wing", "xylophone, [x] [wings]"},
		{"anything", "ͺ-an", "[anything]"},
		{"bench", "ͺ-an", "bench"},
		{"ｶﾞﾝﾀﾞﾑ", "ガンダム", "[ｶﾞﾝﾀﾞﾑ]"},
		{"ゴジラGodzilla2000", "godzilla", "ゴジラ[Godzilla2000]"},
		{"「ยักษ์」", "ยักษ์", "「[ยักษ์]」"},
		{"Spider-Man", "spiderman", "[Spider-Man]"},
		{"小さな竜の像です", "竜の像", "小さな[竜の像]です"},
		{"Dragon’s egg", "dragons", "[Dragon’s] egg"},
		{"nothing", "gear", "nothing"},
	} {
		got, at := "", 0
		for _, m := range tokenize.Marks(c.text, tokenize.Query(c.query)) {
			got += c.text[at:m.Start] + "[" + c.text[m.Start:m.End] + "]"
			at = m.End
		}
		if got += c.text[at:]; got != c.want {
			t.Errorf("%q in %q: %q, want %q", c.query, c.text, got, c.want)
		}
	}
}

// text generates texts like those that users type, and others.
func text() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOf(rapid.OneOf(
			rapid.String(), rapid.SampledFrom([]string{"Gear", "X-Wing", "3DBenchy", "竜の像", "'", "\"", "*", ":", "é", "e\u0301",
				"Ǆ", "İ", "_", "-", " ", "\u200d", "ｶﾞ", "ς", "ͺ", "ʼ", "ﹰ", "㊀", "1️⃣", "\u3164", "ยักษ์", "हिन्दी", "Дракон",
				"M3x20", "🐺"}),
		)).Draw(t, "pieces"), "")
	})
}

func checkText(t interface {
	Errorf(format string, args ...any)
}, s string,
) {
	if f := tokenize.Fold(s); tokenize.Fold(f) != f {
		t.Errorf("folding %q again: got %q, want no change", f, tokenize.Fold(f))
	}
	of := tokenize.Words(s)
	for _, w := range of {
		if w == "" || utf8.RuneCountInString(w) > 40 || !utf8.ValidString(w) ||
			strings.ContainsFunc(w, func(r rune) bool { return !unicode.In(r, unicode.L, unicode.N, unicode.M) }) {
			t.Errorf("%q: got the word %q, want 1 to 40 letters and digits", s, w)
		}
	}
	if len(of) > 2_000 || len(tokenize.Query(s)) > 10 {
		t.Errorf("got %d words and a query of %d, want at most 2,000 and 10", len(of), len(tokenize.Query(s)))
	}
	if len(of) < 2_000 {
		for _, w := range tokenize.Query(s) {
			found := slices.ContainsFunc(of, func(word string) bool { return strings.HasPrefix(word, w.Stem) })
			parts := len(w.Parts) > 0
			for _, part := range w.Parts {
				parts = parts && slices.ContainsFunc(of, func(word string) bool { return strings.HasPrefix(word, part) })
			}
			if !found && !parts {
				t.Errorf("%q has the words %q, and the query %+v does not find them", s, of, w)
			}
		}
		again := tokenize.Words(strings.Join(of, " "))
		if lost := slices.DeleteFunc(slices.Clone(of), func(w string) bool { return slices.Contains(again, w) }); len(
			lost) > 0 && len(again) < 2_000 {
			t.Errorf("%q has the words %q, without %q", s, of, lost)
		}
		for _, w := range of {
			for _, asked := range tokenize.Query(w) {
				if !slices.ContainsFunc(of, func(word string) bool { return strings.HasPrefix(word, asked.Stem) }) {
					t.Errorf("%q has the words %q, whose query %q does not find it", s, w, asked.Stem)
				}
			}
		}
	}
	for _, w := range tokenize.Query(s) {
		if w.Text == "" || w.Stem == "" || slices.Contains(w.Parts, "") || !strings.HasPrefix(w.Text, w.Stem) {
			t.Errorf("%q: got the query word %+v, want a text, its stem and parts that are not empty", s, w)
		}
	}
	at := 0
	for _, m := range tokenize.Marks(s, tokenize.Query(s)) {
		if m.Start < at || m.End <= m.Start || m.End > len(s) || !utf8.RuneStart(s[m.Start]) || m.End < len(s) &&
			!utf8.RuneStart(s[m.End]) && utf8.ValidString(s) {
			t.Errorf("%q: got mark %+v, want marks in order, within the text and between characters", s, m)
		}
		at = m.End
	}
}

func TestAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkText(t, text().Draw(t, "text")) })
}

func FuzzWords(f *testing.F) {
	for _, s := range []string{"#3DBenchy", "Étagère", "竜の像", "a\xff'b", "İ-ſ", "00ͺ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { checkText(t, s) })
}

// BenchmarkMarks uses the longest allowed description in a script that is expensive to mark, and a
// query of ten words.
func BenchmarkMarks(b *testing.B) {
	long := strings.Repeat("澎湖天后宮", 13_000)
	query := tokenize.Query("spiral dragons gears X-Wing 竜の像 benchy octocat overhang chimney printing")
	b.ReportAllocs()
	for b.Loop() {
		tokenize.Marks(long, query)
	}
}

func BenchmarkWords(b *testing.B) {
	const text = "#3DBenchy - The jolly 3D printing torture-test. Étagère pour l'imprimante: a small boat that is hard to print, with overhangs, holes and a chimney, by CreativeTools."
	b.ReportAllocs()
	for b.Loop() {
		tokenize.Words(text)
	}
}

// FuzzQuery checks that any query yields few words, and that the marks lie within the text.
func FuzzQuery(f *testing.F) {
	f.Add("benchy -torture \"jolly printing\" OR (3d*)", "#3DBenchy - The jolly 3D printing torture-test")
	f.Add("étagère:* & !x | <->", "Étagère")
	f.Add("a\x00b\xff", "竜の像")
	f.Fuzz(func(t *testing.T, query, text string) {
		asked := tokenize.Query(query)
		if len(asked) > 10 {
			t.Errorf("%q: got a query of %d words, want at most 10", query, len(asked))
		}
		for _, w := range asked {
			for _, part := range append([]string{w.Text, w.Stem}, w.Parts...) {
				// Words become part of the search expressions of two engines: they must not contain
				// special characters.
				if part == "" || strings.ContainsFunc(part, func(r rune) bool {
					return strings.ContainsRune(" \t\n\"'*&|!:()<>\\^+-{}%\x00", r) || r == utf8.RuneError
				}) {
					t.Errorf("%q has the query word %q", query, part)
				}
			}
		}
		at := 0
		for _, m := range tokenize.Marks(text, asked) {
			if m.Start < at || m.End <= m.Start || m.End > len(text) {
				t.Errorf("%q in %q: got mark %+v, want marks in order, within the text", query, text, m)
			}
			at = m.End
		}
	})
}
