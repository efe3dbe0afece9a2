package zipfile

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode/decodetest"
)

func TestJoin(t *testing.T) {
	for _, c := range []struct{ folder, reference, want string }{
		{"", "a", "a"}, {"", "/a//b/./c", "a/b/c"}, {"3D", "a", "3D/a"}, {"3D", "/a", "a"}, {"3D/Objects", "../a", "3D/a"},
		{"3D", "../../a", ""}, {"", "../a", ""}, {"3D", "/../a", ""}, {"", "a/../../b", ""},
	} {
		got, ok := JoinPath(c.folder, c.reference)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%q in %q: got %q, %v, want %q", c.reference, c.folder, got, ok, c.want)
		}
	}
}

// TestInflated checks that the limit counts the actual decompressed bytes of all files, whatever
// their headers declare.
func TestInflated(t *testing.T) {
	file := decodetest.ZIP(t, map[string]string{"a.model": "123456", "b": "123456", "c": "12345678901"})
	limits := mesh.DefaultLimits
	limits.Inflated = 10
	c, err := Open(context.Background(), "3MF", decodetest.Source(file), limits, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Open(c.File("C"))
	decodetest.CheckError(t, err, mesh.TooLarge, "too many bytes: at most 10 are supported")
	if b, err := c.ReadFile(c.File("a.model"), 6); err != nil || string(b) != "123456" {
		t.Errorf("got %q and the error %v", b, err)
	}
	if b, err := c.ReadFile(c.File("b"), 5); err != nil || b != nil {
		t.Errorf("of a large file got %q and the error %v", b, err)
	}
	_, err = c.Open(c.File("b"))
	decodetest.CheckError(t, err, mesh.TooLarge, "too many bytes: at most 10 are supported")
	_, err = io.ReadAll(&entryReader{Archive: c, r: strings.NewReader("12345"), size: 5})
	decodetest.CheckError(t, err, mesh.TooLarge, "too many bytes: at most 10 are supported")
	c.left = freeInflation * 2
	_, err = io.ReadAll(&entryReader{Archive: c, r: strings.NewReader(strings.Repeat(" ", freeInflation+1)), size: 80_000})
	decodetest.CheckError(t, err, mesh.TooLarge, "more than 200 times")
}

// TestDirectory checks that a large directory of an archive is not read into memory.
func TestDirectory(t *testing.T) {
	files := map[string]string{}
	for i := range 40 {
		files[strings.Repeat("x", 60_000+i)] = ""
	}
	file := decodetest.ZIP(t, files)
	limits := mesh.DefaultLimits
	limits.Elements = 100
	_, err := Open(context.Background(), "3MF", decodetest.Source(file), limits, nil)
	decodetest.CheckError(t, err, mesh.TooLarge, "more than 100 files")
}
