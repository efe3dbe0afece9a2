package sliced

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zlib"

	"github.com/meshyard/meshyard/internal/mesh"
)

func pictureOf(file []byte) ([]byte, error) {
	_, picture, err := Read(bytes.NewReader(file), int64(len(file)))
	return picture, err
}

// TestPicture checks that the largest thumbnail is found in the dialects of slicers, and that
// invalid ones are skipped.
func TestPicture(t *testing.T) {
	block := func(kind, size string, picture []byte) string {
		text, out := base64.StdEncoding.EncodeToString(picture), "; "+kind+" begin "+size+fmt.Sprintf(" %d\n", len(picture))
		for len(text) > 0 {
			n := min(78, len(text))
			out, text = out+"; "+text[:n]+"\n", text[n:]
		}
		return out + "; " + kind + " end\n"
	}
	file := "; sliced\n" + block("thumbnail", "16x16", []byte("small")) + "G28\n" + block("thumbnail_JPG", "300x300",
		bytes.Repeat([]byte("large"), 100)) +
		block("thumbnail_BIQU", "900x900", []byte("another format")) + block("thumbnail", "64x64", []byte("between")) +
		"G1 X1\n"
	got, err := pictureOf([]byte(file))
	if err != nil || string(got) != strings.Repeat("large", 100) {
		t.Errorf("got %.20q, %v", got, err)
	}
	for _, none := range []string{"", "G28\n", "; thumbnail begin 1x1 4\n; ????\n; thumbnail end\n",
		"; thumbnail begin 1x1 4\n; AAAA\n", strings.Repeat("x", 100_000)} {
		if got, err := pictureOf([]byte(none)); got != nil || err != nil {
			t.Errorf("%.40q: %q, %v", none, got, err)
		}
	}
}

// TestDialects checks the comments of slicers that write thumbnails in other ways.
func TestDialects(t *testing.T) {
	text := func(picture string) string { return base64.StdEncoding.EncodeToString([]byte(picture)) }
	for name, file := range map[string]string{
		"Creality": "; png begin 96*96 5 3 62 500\n; " + text("small") +
			"\n; png end\n;\n; png begin 300*300 7 3 197 500\n; " + text("picture") + "\n; png end\n",
		"Creality, JPEG": "; jpg begin 200*200 7 3 108 500\n; " + text("picture") + "\n; jpg end\n",
		"Cura": "; thumbnail begin 32 32 5\n; " + text("small") +
			"\n; thumbnail end\n; thumbnail begin 300 300 7\n; " + text("picture") + "\n; thumbnail end\n",
		"Snapmaker":       ";Header Start\n;thumbnail: data:image/png;base64," + text("picture") + "\n;Header End\n",
		"a word as ended": "; thumbnail begin 9x9 7\n; " + text("picture") + "\n; thumbnail end\n; layer end\n",
	} {
		if got, err := pictureOf([]byte(file)); string(got) != "picture" || err != nil {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
	long := ";thumbnail: data:image/png;base64," + text(strings.Repeat("x", 100_000)) + "\n"
	if got, err := pictureOf([]byte(long)); len(got) != 100_000 || err != nil {
		t.Errorf("a long line: got %d bytes, %v", len(got), err)
	}
}

// binaryBlock returns a block of a binary G-code file, with a checksum if there is one.
func binaryBlock(kind, compression uint16, parameters, data []byte, checksum bool) []byte {
	b := binary.LittleEndian.AppendUint16(nil, kind)
	b = binary.LittleEndian.AppendUint16(b, compression)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(data)))
	if compression != 0 {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(data)))
	}
	b = append(append(b, parameters...), data...)
	if checksum {
		b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	}
	return b
}

// binaryGCode returns a binary G-code file with metadata, thumbnails and G-code.
func binaryGCode(checksum bool, thumbnails ...[]byte) []byte {
	b := []byte("GCDE\x01\x00\x00\x00\x00\x00")
	if checksum {
		b[8] = 1
	}
	b = append(b, binaryBlock(0, 0, []byte{0, 0}, []byte("Producer=PrusaSlicer 2.9"), checksum)...)
	b = append(b, binaryBlock(3, 1, []byte{0, 0}, []byte("deflated"), checksum)...)
	b = append(b, bytes.Join(thumbnails, nil)...)
	return append(b, binaryBlock(1, 3, []byte{2, 0}, []byte("G28"), checksum)...)
}

// thumbnailParameter returns the parameters of a block with a thumbnail.
func thumbnailParameter(format, width, height uint16) (b []byte) {
	for _, n := range []uint16{format, width, height} {
		b = binary.LittleEndian.AppendUint16(b, n)
	}
	return b
}

// TestBinaryPicture checks that the largest thumbnail of a binary G-code file is found, with
// and without checksums, and that a damaged file is an error.
func TestBinaryPicture(t *testing.T) {
	for _, checksum := range []bool{false, true} {
		thumbnail := func(format, side, compression uint16, picture string) []byte {
			return binaryBlock(5, compression, thumbnailParameter(format, side, side), []byte(picture), checksum)
		}
		good := binaryGCode(checksum, thumbnail(0, 16, 0, "small"), thumbnail(1, 300, 0, "picture"),
			thumbnail(3, 900, 0, "of another format"), thumbnail(0, 900, 1, "deflated"))
		if got, err := pictureOf(good); string(got) != "picture" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
		none := binaryGCode(checksum, thumbnail(3, 16, 0, "of another format"))
		if got, err := pictureOf(none); got != nil || err != nil {
			t.Errorf("without a known format: got %q, %v", got, err)
		}
		bad := map[string][]byte{
			"ends in the header": good[:9],
			"ends in a block":    good[:60],
			"a size beyond the end": append(slices.Clone(good[:10]),
				"\x05\x00\x00\x00\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00"...),
			"ends in a thumbnail": good[:bytes.Index(good, []byte("picture"))+3],
		}
		if checksum {
			bad["a wrong checksum"] = bytes.Replace(good, []byte("picture"), []byte("pictura"), 1)
			bad["an unknown checksum"] = append([]byte("GCDE\x01\x00\x00\x00\x02\x00"), good[10:]...)
		}
		for name, file := range bad {
			var damaged *mesh.Error
			if got, err := pictureOf(file); !errors.As(err, &damaged) {
				t.Errorf("%s: got %q, %v; want a *mesh.Error", name, got, err)
			}
		}
	}
}

// TestBinaryMetadata checks the metadata of binary G-code in each compression, and that those that
// cannot be decompressed are ignored.
func TestBinaryMetadata(t *testing.T) {
	t.Parallel()
	printer := "printer_model=MK4S\nfilament_type=PLA\nnozzle_diameter=0.4\nfill_density=15%\nlayer_height=0.2\nsupport_material=0\n" +
		"filament used [mm]=986.61\nfilament used [cm3]=2.37\nfilament used [g]=2.94\nestimated printing time (normal mode)=32m 6s\n"
	var deflated bytes.Buffer
	z := zlib.NewWriter(&deflated)
	_, _ = z.Write([]byte(printer))
	_ = z.Close()
	block := func(kind, compression uint16, data []byte, size int) []byte {
		b := binaryBlock(kind, compression, []byte{0, 0}, data, false)
		binary.LittleEndian.PutUint32(b[4:], uint32(size))
		return binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	}
	for name, c := range map[string]struct {
		block []byte
		known bool
	}{
		"plain":          {block(3, 0, []byte(printer), len(printer)), true},
		"deflate":        {block(3, 1, deflated.Bytes(), len(printer)), true},
		"heatshrink 11":  {block(3, 2, literals(printer), len(printer)), true},
		"heatshrink 12":  {block(3, 3, literals(printer), len(printer)), true},
		"a wrong size":   {block(3, 1, deflated.Bytes(), len(printer)-1), false},
		"a bomb":         {block(3, 1, deflated.Bytes(), 1<<31), false},
		"no deflate":     {block(3, 1, []byte("deflated"), 8), false},
		"an unknown one": {block(3, 9, []byte(printer), len(printer)), false},
	} {
		file := append([]byte("GCDE\x01\x00\x00\x00\x01\x00"),
			binaryBlock(0, 0, []byte{0, 0}, []byte("Producer=PrusaSlicer 2.9.0+linux"), true)...)
		file = append(append(file, c.block...), binaryBlock(1, 3, []byte{2, 0}, []byte("G28"), true)...)
		facts, _, err := Read(bytes.NewReader(file), int64(len(file)))
		if err != nil || facts.Slicer != "PrusaSlicer" || facts.Version != "2.9.0" {
			t.Errorf("%s: got %+v, %v", name, facts, err)
		}
		known := facts.Printer == "MK4S" && facts.Seconds == 1926 && facts.LayerHeight == 0.2 && facts.Nozzle == 0.4 &&
			facts.Infill != nil && *facts.Infill == 15 &&
			facts.Supports != nil && !*facts.Supports &&
			slices.Equal(facts.Tools, []Tool{{0, 986.61, 2370, 2.94, Filament{Material: "PLA"}}})
		if known != c.known {
			t.Errorf("%s: got %+v, known: %t, want %t", name, facts, known, c.known)
		}
	}
}

// literals returns a text as literals of heatshrink.
func literals(text string) (data []byte) {
	at := 0
	bit := func(b byte) {
		if at%8 == 0 {
			data = append(data, 0)
		}
		data[at/8] |= b << (7 - at%8)
		at++
	}
	for i := range len(text) {
		bit(1)
		for j := 7; j >= 0; j-- {
			bit(text[i] >> j & 1)
		}
	}
	return data
}
