package cleanname

import (
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
)

// TestGuessCharset encodes names of several languages as programs of their systems do, and checks
// that they are decoded to the same names.
func TestGuessCharset(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		encoding encoding.Encoding
		names    []string
	}{
		{charmap.CodePage437, []string{"Größe/Bär.stl"}},
		{charmap.CodePage437, []string{"Schlüssel.stl"}},
		{charmap.CodePage437, []string{"Modèle/été.stl", "Modèle/façade à côté.stl"}},
		{charmap.CodePage437, []string{"niño.stl"}},
		{charmap.CodePage437, []string{"Æblegård/å.stl"}},
		{charmap.CodePage850, []string{"Ærø/køl.stl"}},
		{charmap.CodePage850, []string{"São João/peça.stl"}},
		{charmap.Windows1252, []string{"Größe/", "Größe/Bär.stl"}},
		{charmap.Windows1252, []string{"Schlüssel.stl"}},
		{charmap.Windows1252, []string{"Modèle/été.stl"}},
		{charmap.Windows1252, []string{"Écrou Ø10.stl"}},
		{charmap.Windows1252, []string{"niño.stl"}},
		{charmap.Windows1252, []string{"Jalkapöytä.stl"}},
		{charmap.Windows1252, []string{"Zahnräder für Türöffner.stl"}},
		{charmap.Windows1252, []string{"ÜBERGRÖSSE/ÄNDERUNG.stl"}},
		{charmap.CodePage437, []string{"ÜBERGRÖSSE/ÄNDERUNG.stl"}},
		{charmap.CodePage437, []string{"Schraube für Gehäuse 5°.stl"}},
		{charmap.Windows1252, []string{"Drehteil 45°/Vis à tête ±0.1.stl"}},
		{charmap.Windows1252, []string{"Ångström/Sjömärke.stl"}},
		{charmap.CodePage437, []string{"Ångström/Sjömärke.stl"}},
		{charmap.Windows1252, []string{"Çay.stl"}},
		{charmap.Windows1252, []string{"piñata/cañón.stl"}},
		{charmap.CodePage437, []string{"piñata/cañón.stl"}},
		{japanese.ShiftJIS, []string{"ケース/蓋.stl"}},
		{japanese.ShiftJIS, []string{"恐竜/ティラノサウルス.stl"}},
		{japanese.ShiftJIS, []string{"猫.stl"}},
		{simplifiedchinese.GBK, []string{"恐龙.stl"}},
		{simplifiedchinese.GBK, []string{"底座.stl", "支架左.stl", "支架右.stl"}},
		{simplifiedchinese.GBK, []string{"收纳盒/盖子.3mf", "收纳盒/盒体.3mf"}},
		{simplifiedchinese.GBK, []string{"龙.stl"}},
		{charmap.Windows1251, []string{"Кот.stl"}},
		{charmap.CodePage866, []string{"Подставка для телефона.stl"}},
		{japanese.ShiftJIS, []string{"テスト/ギア.stl"}},
		{japanese.ShiftJIS, []string{"歯車.stl"}},
		{japanese.ShiftJIS, []string{"日本語/部品.stl", "日本語/説明書.txt"}},
		{japanese.ShiftJIS, []string{"ねじ M3.stl"}},
		{japanese.ShiftJIS, []string{"表/ソ.stl"}}, // their second bytes are backslashes
		{japanese.ShiftJIS, []string{"スマホスタンド ver2.stl"}},
		{simplifiedchinese.GBK, []string{"齿轮.stl"}},
		{simplifiedchinese.GBK, []string{"中文/手机支架.stl"}},
		{simplifiedchinese.GBK, []string{"模型/外壳 v2.stl", "模型/说明.txt"}},
		{simplifiedchinese.GBK, []string{"小熊.stl"}},
		{charmap.CodePage866, []string{"Шестерня.stl"}},
		{charmap.Windows1251, []string{"Шестерня/деталь.stl"}},
	} {
		var encoded []string
		for _, name := range c.names {
			raw, err := c.encoding.NewEncoder().String(name)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			encoded = append(encoded, raw)
		}
		guess := guessCharset(encoded)
		for i, want := range c.names {
			if got := guess.decode(encoded[i]); got != want {
				t.Errorf("%q of %v: got %q by %s", want, c.encoding, got, guess.name)
			}
		}
	}
}

// FuzzCharset checks that any name is decoded to valid UTF-8.
func FuzzCharset(f *testing.F) {
	f.Add("Gr\x94\xe1e")
	f.Add("\x83e\x83X\x83g")
	f.Add("\xff\x81")
	f.Fuzz(func(t *testing.T, name string) {
		if clean := Segment(guessCharset([]string{name}).decode(name)); clean != Segment(clean) {
			t.Errorf("%q: got %q, and again %q", name, clean, Segment(clean))
		}
	})
}
