package child

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/preview"
)

// grayJPEG returns a gray JPEG in color: in its Huffman tables, a bit 0 means that nothing differs
// from the previous block.
func grayJPEG(width, height int, progressive bool, sampling byte) []byte {
	segment := func(marker byte, content ...byte) []byte {
		return append(binary.BigEndian.AppendUint16([]byte{0xff, marker}, uint16(2+len(content))), content...)
	}
	size := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16([]byte{8}, uint16(height)), uint16(width))
	frame, last, scan := byte(0xc0), byte(63), 2 // bits for each block: DC, and the end of AC
	if progressive {
		frame, last, scan = 0xc2, 0, 1
	}
	one := append([]byte{1}, make([]byte, 15)...) // one code of one bit
	table := func(class byte) []byte { return segment(0xc4, append(append([]byte{class}, one...), 0)...) }
	b := []byte{0xff, 0xd8}
	b = append(b, segment(0xdb, append([]byte{0}, bytes.Repeat([]byte{1}, 64)...)...)...)
	b = append(b, segment(frame, append(size, 3, 1, sampling, 0, 2, 0x11, 0, 3, 0x11, 0)...)...)
	b = append(append(b, table(0)...), table(0x10)...)
	b = append(b, segment(0xda, 3, 1, 0, 2, 0, 3, 0, 0, last, 0)...)
	h, v := int(sampling>>4), int(sampling&15)
	units := ((width + 8*h - 1) / (8 * h)) * ((height + 8*v - 1) / (8 * v))
	b = append(b, make([]byte, (units*(h*v+2)*scan+7)/8)...)
	return append(b, 0xff, 0xd9)
}

// blackPNG returns a PNG with 8 or 16 bits for each channel of RGB.
func blackPNG(width, height int, depth, interlaced byte) []byte {
	chunk := func(name string, content []byte) []byte {
		b := append(binary.BigEndian.AppendUint32(nil, uint32(len(content))), name...)
		b = append(b, content...)
		return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
	}
	header := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(width)), uint32(height))
	var data bytes.Buffer
	z, _ := zlib.NewWriterLevel(&data, zlib.BestSpeed)
	passes := [][4]int{{0, 0, 1, 1}}
	if interlaced == 1 {
		passes = [][4]int{{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}}
	}
	for _, p := range passes {
		columns, rows := (width-p[0]+p[2]-1)/p[2], (height-p[1]+p[3]-1)/p[3]
		row := make([]byte, 1+columns*3*int(depth)/8)
		for range rows {
			_, _ = z.Write(row)
		}
	}
	_ = z.Close()
	b := append([]byte("\x89PNG\r\n\x1a\n"), chunk("IHDR", append(header, depth, 2, 0, 0, interlaced))...)
	return append(append(b, chunk("IDAT", data.Bytes())...), chunk("IEND", nil)...)
}

// TestLargeImages checks that photos of phones get a preview within the default limits, and that
// larger images get one or an error that says how large they can be.
func TestLargeImages(t *testing.T) {
	skipUnderRace(t)
	for name, c := range map[string]struct {
		b    []byte
		want string // part of the error
	}{
		"JPEG of 12 million pixels":              {grayJPEG(4032, 3024, false, 0x22), ""},
		"progressive JPEG of 12 million pixels":  {grayJPEG(4032, 3024, true, 0x11), ""},
		"JPEG of 50 million pixels":              {grayJPEG(8160, 6144, false, 0x11), ""},
		"progressive JPEG of 50 million pixels":  {grayJPEG(8160, 6144, true, 0x22), ""},
		"JPEG of 200 million pixels":             {grayJPEG(16320, 12240, false, 0x22), ""},
		"PNG of 48 million pixels with 16 bits":  {blackPNG(8064, 6048, 16, 0), ""},
		"interlaced PNG of 48 million pixels":    {blackPNG(8064, 6048, 8, 1), ""},
		"PNG of 117 million pixels":              {blackPNG(11700, 10000, 8, 0), ""},
		"JPEG of 4.3 billion pixels":             {grayJPEG(65500, 100, false, 0x22)[:1000], "broken"},
		"progressive JPEG of 100 million pixels": {grayJPEG(10000, 10000, true, 0x22), "at most 62 million"},
		"interlaced PNG of 50 million, 16 bits":  {blackPNG(8160, 6144, 16, 1)[:10000], "at most 29 million"},
		"image that is one pixel wide":           {grayJPEG(1, 65500, false, 0x22), ""},
		"JPEG with metadata before a large header": {append(
			[]byte("\xff\xd8"+strings.Repeat("\xff\xfe\xff\xff"+strings.Repeat("x", 65533), 9)),
			grayJPEG(10000, 10000, true, 0x22)[2:]...), "at most 23 million"},
	} {
		t.Run(name, func(t *testing.T) {
			put := func(_ preview.Part, write func(io.Writer) error) error { return write(io.Discard) }
			_, usage, err := Runner{Deadline: 10 * time.Minute}.Derive(t.Context(), file(t, c.b), preview.Image, put,
				func(string, float64) {})
			var bad *mesh.Error
			if c.want == "" && err != nil || c.want != "" && (!errors.As(err, &bad) || !strings.Contains(bad.Message, c.want)) {
				t.Errorf("got %T: %v, want %q", err, err, c.want)
			}
			if usage.Memory > DefaultMemory {
				t.Errorf("the child held %d MiB, want at most %d", usage.Memory>>20, DefaultMemory>>20)
			}
			t.Logf("%s of processor time, %d MiB: %v", usage.CPU.Round(time.Millisecond), usage.Memory>>20, err)
		})
	}
}
