package zipstream

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"testing"
	"testing/iotest"
	"time"
)

type closer struct{ *bytes.Reader }

func (closer) Close() error { return nil }

var modified = time.Date(2026, 11, 22, 2, 30, 4, 0, time.UTC)

// fixture returns the files of an archive, some of them empty, and counts how often they are
// opened.
func fixture(opened *int) (files []File, contents [][]byte) {
	for i, size := range []int{0, 1, 70_000, 0, 333} {
		content := bytes.Repeat([]byte{byte(i), 'x', 7}, size/3+1)[:size]
		contents = append(contents, content)
		files = append(files, File{Name: fmt.Sprintf("files/föö %d.stl", i), Size: int64(size),
			Open: func() (io.ReadSeekCloser, error) {
				*opened++
				return closer{bytes.NewReader(content)}, nil
			}})
	}
	return files, contents
}

// TestArchive checks that archive/zip reads the same bytes, and that the size is the announced one.
func TestArchive(t *testing.T) {
	var opened int
	files, contents := fixture(&opened)
	a := New(files, modified)
	got, err := io.ReadAll(a)
	if err != nil || int64(len(got)) != a.Size() {
		t.Fatalf("read %d bytes, announced %d: %v", len(got), a.Size(), err)
	}
	if opened > len(files)+2 { // the two empty files are opened only for their checksums
		t.Errorf("opened files %d times", opened)
	}
	z, err := zip.NewReader(bytes.NewReader(got), int64(len(got)))
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r) // verifies the checksum
		if err != nil || !bytes.Equal(content, contents[i]) || f.Name != files[i].Name || f.Method != zip.Store ||
			!f.Modified.Equal(modified) {
			t.Errorf("%s: %d bytes, want %d: %v", f.Name, len(content), len(contents[i]), err)
		}
	}
}

// TestManyFiles checks that archive/zip reads an archive with as many files as the ZIP format can
// count in 16 bits, and one with more, which needs ZIP64.
func TestManyFiles(t *testing.T) {
	for _, n := range []int{maxEntries - 1, maxEntries, maxEntries + 1} {
		files := make([]File, n)
		for i := range files {
			files[i] = File{Name: fmt.Sprint(i),
				Open: func() (io.ReadSeekCloser, error) { return closer{bytes.NewReader(nil)}, nil }}
		}
		got, err := io.ReadAll(New(files, modified))
		if err != nil {
			t.Fatal(err)
		}
		z, err := zip.NewReader(bytes.NewReader(got), int64(len(got)))
		if err != nil {
			t.Fatalf("%d files: %v", n, err)
		}
		if len(z.File) != n {
			t.Errorf("got %d files, want %d", len(z.File), n)
		}
	}
}

// TestResume checks that reading from any position returns the same bytes as reading from the
// start.
func TestResume(t *testing.T) {
	var opened int
	files, _ := fixture(&opened)
	whole, err := io.ReadAll(New(files, modified))
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{0, 1, 29, 45, 46, 120, 20_000, 70_100, len(whole) - 500, len(whole) - 22, len(whole) - 1,
		len(whole)} {
		a := New(files, modified)
		if _, err := a.Seek(int64(at), io.SeekStart); err != nil {
			t.Fatal(err)
		}
		rest, err := io.ReadAll(a)
		if err != nil || !bytes.Equal(rest, whole[at:]) {
			t.Errorf("from %d: %d bytes, want %d: %v", at, len(rest), len(whole)-at, err)
		}
	}
	if err := iotest.TestReader(New(files, modified), whole); err != nil {
		t.Error(err)
	}
}

// TestShortFile checks that a file that is shorter than its size causes an error and not a damaged
// archive.
func TestShortFile(t *testing.T) {
	short := File{Name: "a.stl", Size: 10,
		Open: func() (io.ReadSeekCloser, error) { return closer{bytes.NewReader([]byte("123"))}, nil }}
	if _, err := io.ReadAll(New([]File{short}, modified)); err == nil {
		t.Error("a file of 3 bytes was taken for one of 10")
	}
}

// TestZip64 checks that archives and files beyond 4 GiB use ZIP64, which archive/zip can read.
func TestZip64(t *testing.T) {
	const large = 1<<32 + 5
	zero := func() (uint32, bool) { return 0, true }
	file := File{Name: "large", Size: large, CRC32: zero,
		Open: func() (io.ReadSeekCloser, error) { return new(zeros), nil }}
	small := File{Name: "after", Size: 0, CRC32: zero}
	a := New([]File{file, small}, modified)
	z, err := zip.NewReader(at{a}, a.Size())
	if err != nil {
		t.Fatal(err)
	}
	if len(z.File) != 2 || z.File[0].UncompressedSize64 != large {
		t.Fatalf("the directory lists %d files, the first of %d bytes", len(z.File), z.File[0].UncompressedSize64)
	}
	if offset, err := z.File[1].DataOffset(); err != nil || offset < large {
		t.Errorf("the second file is at %d: %v", offset, err)
	}
}

// zeros is an endless file of zeros.
type zeros struct{}

func (*zeros) Read(p []byte) (int, error)              { clear(p); return len(p), nil }
func (*zeros) Seek(offset int64, _ int) (int64, error) { return offset, nil }
func (*zeros) Close() error                            { return nil }

type at struct{ a *Archive }

func (r at) ReadAt(p []byte, offset int64) (int, error) {
	if _, err := r.a.Seek(offset, io.SeekStart); err != nil {
		return 0, err
	}
	return io.ReadFull(r.a, p)
}
