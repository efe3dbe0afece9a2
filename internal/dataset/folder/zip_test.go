package folder

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"

	"github.com/meshyard/meshyard/internal/layout"
)

// entry is an entry of an archive to write.
type entry struct {
	name  string // in any encoding
	flags uint16 // in addition to those of UTF-8
	extra []byte
	mode  fs.FileMode
	text  string
}

// packed writes a ZIP archive and returns its path.
func packed(t *testing.T, entries ...entry) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Flags: e.flags, Extra: e.extra, Method: zip.Store,
			CRC32:            crc32.ChecksumIEEE([]byte(e.text)),
			CompressedSize64: uint64(len(e.text)), UncompressedSize64: uint64(len(e.text))}
		if e.mode != 0 {
			h.SetMode(e.mode)
		}
		w, err := z.CreateRaw(h)
		if err == nil {
			_, err = io.WriteString(w, e.text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "things.zip")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// listed returns the paths of the files of a tree.
func listed(t *testing.T, tree *Tree) (files []string) {
	t.Helper()
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestZIPNames checks the names of entries that the programs of several systems write.
func TestZIPNames(t *testing.T) {
	t.Parallel()
	encode := func(to interface{ String(string) (string, error) }, text string) string {
		raw, err := to.String(text)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	cp437 := encode(charmap.CodePage437.NewEncoder(), "Größe/Bär.stl")
	unicodePath := func(of, name string) []byte {
		field := binary.LittleEndian.AppendUint32([]byte{1}, crc32.ChecksumIEEE([]byte(of)))
		field = append(field, name...)
		extra := binary.LittleEndian.AppendUint16([]byte{0x75, 0x70}, uint16(len(field)))
		return append(append([]byte("UT\x00\x00"), extra...), field...)
	}
	long := strings.Repeat("€", 83) + ".3mf" // 253 bytes
	for _, c := range []struct {
		name    string
		entries []entry
		want    []string
	}{
		{"CP437", []entry{{name: cp437}}, []string{"Größe/Bär.stl"}},
		{"Windows-1252", []entry{{name: "Gr\xf6\xdfe/"}, {name: "Gr\xf6\xdfe/B\xe4r.stl"}}, []string{"Größe/Bär.stl"}},
		{"Shift JIS with a second byte of a backslash", []entry{{name: encode(japanese.ShiftJIS.NewEncoder(), "ソフト/表.stl")}},
			[]string{"ソフト/表.stl"}},
		{"UTF-8 without the flag", []entry{{name: "Größe.stl"}}, []string{"Größe.stl"}},
		{"UTF-8 with the flag", []entry{{name: "Größe.stl", flags: flagUTF8}}, []string{"Größe.stl"}},
		{"the flag without UTF-8", []entry{{name: cp437, flags: flagUTF8}}, []string{"Größe/Bär.stl"}},
		{"a Unicode path", []entry{{name: "Gr?e.stl", extra: unicodePath("Gr?e.stl", "Größe.stl")}}, []string{"Größe.stl"}},
		{"a Unicode path of another name", []entry{{name: "a.stl", extra: unicodePath("b.stl", "b.stl")}}, []string{"a.stl"}},
		{"separators of Windows", []entry{{name: `Win Thing\`}, {name: `Win Thing\files\a.stl`}, {name: `C:\x\b.stl`}},
			[]string{"Win Thing/files/a.stl", "x/b.stl"}},
		{"NFD", []entry{{name: "Tu\u0308r.stl"}}, []string{"T\u00fcr.stl"}},
		{"NFC and NFD", []entry{{name: "T\u00fcr/a.stl"}, {name: "Tu\u0308r/b.stl"}, {name: "Tu\u0308r/a.stl"}},
			[]string{"Tür/a (2).stl", "Tür/a.stl", "Tür/b.stl"}},
		{"control characters", []entry{{name: "a\x1b[2J\x00\u202eb.stl"}, {name: "\x01"}}, []string{"_", "a[2Jb.stl"}},
		{"names that lead out", []entry{{name: "../a.stl"}, {name: `b\..\..\c.stl`}, {name: "/d.stl"}, {name: "./e.stl"}},
			[]string{"d.stl", "e.stl"}},
		{"of the operating system", []entry{{name: "__MACOSX/._a.stl"}, {name: "a/@eaDir/a.stl/thumb.jpg"},
			{name: "a/.DS_Store"}, {name: "a/Thumbs.db"}, {name: `a\desktop.ini`}, {name: "a/._a.stl"}, {name: "a/a.stl"}},
			[]string{"a/a.stl"}},
		{"a file and a folder", []entry{{name: "a"}, {name: "a/b"}, {name: "a/c"}}, []string{"a", "a (2)/b", "a (2)/c"}},
		{"long names", []entry{{name: long}, {name: long}}, []string{strings.Repeat("€", 82) + " (2).3mf", long}},
	} {
		z, err := OpenZIP(packed(t, c.entries...), 0)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got := listed(t, z.Tree)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		for _, name := range got {
			if base := filepath.Base(name); len(base) > 255 || !utf8.ValidString(name) {
				t.Errorf("%s: %q has %d bytes", c.name, name, len(base))
			}
		}
		z.Close()
	}
}

// TestZIPNotes checks that names that were guessed or left out are noted.
func TestZIPNotes(t *testing.T) {
	t.Parallel()
	z, err := OpenZIP(packed(t, entry{name: "../a.stl"}, entry{name: "Gr\xf6\xdfe.stl"}), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	want := []string{"names that are not UTF-8 were read as Windows-1252: Größe.stl",
		"../a.stl: was skipped: its name leads out of the archive"}
	if diff := cmp.Diff(want, z.Notes); diff != "" {
		t.Error(diff)
	}
}

// TestZIPEncrypted checks that encrypted files are marked and cannot be opened.
func TestZIPEncrypted(t *testing.T) {
	t.Parallel()
	z, err := OpenZIP(packed(t, entry{name: "a/a.stl", flags: flagEncrypted}, entry{name: "a/README.txt", text: "x"},
		entry{name: "a/b.stl", mode: fs.ModeSymlink | 0o777}), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	got, err := z.List("a")
	slices.SortFunc(got, func(a, b layout.Entry) int { return strings.Compare(a.Name, b.Name) })
	want := []layout.Entry{{Name: "README.txt", Size: 1}, {Name: "a.stl", Skip: "it is encrypted"},
		{Name: "b.stl", Mode: fs.ModeSymlink}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v, %s", err, diff)
	}
	if text, err := z.Text("a/README.txt", 10); string(text) != "x" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
	if _, err := z.Open("a/a.stl"); err == nil || !strings.Contains(err.Error(), "encrypted") {
		t.Errorf("opened an encrypted entry: %v", err)
	}
}

// TestZIPLimit checks the limit of the unpacked size, and that an entry cannot be larger than it
// declares.
func TestZIPLimit(t *testing.T) {
	t.Parallel()
	file := packed(t, entry{name: "a.stl", text: strings.Repeat("x", 600)},
		entry{name: "b.stl", text: strings.Repeat("x", 600)})
	var large *TooLargeError
	if _, err := OpenZIP(file, 1199); !errors.As(err, &large) || large.Unpacked != 1200 || large.Limit != 1199 {
		t.Errorf("got %v, want that 1200 bytes are more than 1199", err)
	}
	z, err := OpenZIP(file, 1200)
	if err != nil {
		t.Fatal(err)
	}
	z.Close()

	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []uint32{600, 10, 1<<32 - 2} { // as the central directory declares it
		at := bytes.Index(b, []byte("PK\x01\x02"))
		binary.LittleEndian.PutUint32(b[at+24:], size)
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		z, err := OpenZIP(file, 0)
		if size > 1<<31 {
			if !errors.As(err, &large) {
				t.Errorf("4 GiB in a small archive: got %v, want an error", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := fs.ReadFile(z.Tree, "a.stl")
		if (err == nil) != (size == 600) || len(text) > 600 {
			t.Errorf("declared as %d bytes: got %d bytes, %v", size, len(text), err)
		}
		z.Close()
	}
}
