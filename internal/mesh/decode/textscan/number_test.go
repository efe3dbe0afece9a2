package textscan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

func TestParseFloat(t *testing.T) {
	numbers := []string{"0", "-0", "+1", "1.", ".5", "1e5", "1E+05", "-1.5e-3", "18446744073709551617",
		"0.1234567890123456789", "9007199254740993",
		"0." + strings.Repeat("0", 30) + "1", strings.Repeat("9", 40), "4.9e-324", "1e-400",
		"123456789012345678901234567890e-20"}
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		x := math.Float64frombits(random.Uint64())
		if !math.IsNaN(x) && !math.IsInf(x, 0) {
			numbers = append(numbers, fmt.Sprint(x), fmt.Sprintf("%.7f", math.Mod(x, 1e6)))
		}
	}
	for _, s := range numbers {
		want, err := strconv.ParseFloat(s, 64)
		got, ok := ParseFloat([]byte(s))
		if err != nil || !ok || math.Float64bits(got) != math.Float64bits(want) {
			t.Errorf("%s: got %v, %v, want %v", s, got, ok, want)
		}
	}
	for _, s := range []string{"", "-", ".", "+.", "e5", "1e", "1e400", "1.2.3", "1-2", "--1", "nan", "Inf", "infinity",
		"0x1p3", "1_000", " 1", "1 ", "1,5"} {
		if got, ok := ParseFloat([]byte(s)); ok {
			t.Errorf("%q is read as %v", s, got)
		}
	}
}

func TestParseIndex(t *testing.T) {
	for s, want := range map[string]int64{"0": 0, "-0": 0, "+7": 7, "-12": -12, "007": 7,
		"999999999999999999": 999999999999999999} {
		if got, ok := ParseInt([]byte(s)); !ok || got != want {
			t.Errorf("%s: got %v, %v", s, got, ok)
		}
	}
	for _, s := range []string{"", "-", "+", "1.0", "1e5", "a", "--1", "1 ", "18446744073709551617",
		"-18446744073709551617"} {
		if got, ok := ParseInt([]byte(s)); ok {
			t.Errorf("%q is read as %v", s, got)
		}
	}
}

func TestQuote(t *testing.T) {
	for s, want := range map[string]string{"a\"\n\x00": `"a\"\n\x00"`, strings.Repeat("ä", 13): `"` +
		strings.Repeat("ä", 12) + `"…`,
		"x" + strings.Repeat("ä", 13): `"x` + strings.Repeat("ä", 11) + `"…`} {
		if got := Quote([]byte(s)); got != want {
			t.Errorf("%q: got %s, want %s", s, got, want)
		}
	}
}
