package license

import (
	"os"
	"strings"
	"testing"
)

// TestTexts checks the texts of testdata: each means the license that it says, or Unknown.
func TestTexts(t *testing.T) {
	all, err := os.ReadFile("testdata/texts.txt")
	if err != nil {
		t.Fatal(err)
	}
	texts := strings.Split(string(all), "\n=== ")[1:]
	if len(texts) < 60 {
		t.Errorf("got %d texts, want at least 60", len(texts))
	}
	for _, text := range texts {
		head, text, _ := strings.Cut(text, "\n")
		function, want, _ := strings.Cut(head, ": ")
		var got ID
		switch function {
		case "recognize":
			got = Recognize(text)
		case "readme":
			got = FromReadme(text)
		case "declared":
			got = Declared(strings.Split(strings.TrimSpace(text), "\n"))
		default:
			t.Fatalf("%s is none of the functions", function)
		}
		if !ID(want).Valid() || got != ID(want) {
			t.Errorf("%s: got %s, want %s:\n%s", function, got, want, text)
		}
	}
}

func TestStricter(t *testing.T) {
	for _, c := range [][3]ID{
		{"CC-BY-4.0", "CC-BY-NC-4.0", "CC-BY-NC-4.0"}, {"CC-BY-NC-ND-4.0", "CC-BY-4.0", "CC-BY-NC-ND-4.0"},
		{"CC0-1.0", "CC0-1.0", "CC0-1.0"},
		{"CC-BY-ND-4.0", "CC-BY-NC-4.0", Unknown}, {"CC-BY-4.0", Unknown, Unknown},
		{AllRightsReserved, "MIT", AllRightsReserved},
	} {
		if got := Stricter(c[0], c[1]); got != c[2] {
			t.Errorf("Stricter(%s, %s) = %s, want %s", c[0], c[1], got, c[2])
		}
	}
}
