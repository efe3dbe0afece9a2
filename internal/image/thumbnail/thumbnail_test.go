package thumbnail

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"strings"
	"testing"
)

// quarters is an image with red, green, blue and white quarters, row by row from the upper left.
func quarters(w, h int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := color.RGBA{255, 255, 255, 255}
			switch {
			case y < h/2 && x < w/2:
				c = color.RGBA{255, 0, 0, 255}
			case y < h/2:
				c = color.RGBA{0, 255, 0, 255}
			case x < w/2:
				c = color.RGBA{0, 0, 255, 255}
			}
			img.SetRGBA(x, y, c)
		}
	}
	return img
}

func at(img image.Image, x, y float64) string {
	b := img.Bounds()
	r, g, bl, _ := img.At(b.Min.X+int(x*float64(b.Dx())), b.Min.Y+int(y*float64(b.Dy()))).RGBA()
	switch {
	case r > 0xc000 && g > 0xc000 && bl > 0xc000:
		return "white"
	case r > 0xc000:
		return "red"
	case g > 0xc000:
		return "green"
	case bl > 0xc000:
		return "blue"
	}
	return "dark"
}

func corners(img image.Image) string {
	return at(img, 0.1, 0.1) + " " + at(img, 0.9, 0.1) + " " + at(img, 0.1, 0.9) + " " + at(img, 0.9, 0.9)
}

// memory is what a preview has for decoding with the default settings.
const memory = 450 << 20

func decode(t *testing.T, b []byte) image.Image {
	t.Helper()
	img, err := Decode(bytes.NewReader(b), int64(len(b)), memory)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// TestScale checks the dimensions and the content of each size, and that the encoding is
// deterministic.
func TestScale(t *testing.T) {
	if len(Sizes) != 15 {
		t.Errorf("%d sizes, want 15", len(Sizes))
	}
	for _, from := range []image.Point{{1600, 1200}, {300, 900}, {5, 3}, {1, 1}} {
		img := quarters(from.X, from.Y)
		for _, s := range Sizes {
			small := Scale(img, s)
			w, h := s.Of(from.X, from.Y)
			if got := small.Bounds().Size(); got != image.Pt(w, h) || s.Crop && got != image.Pt(s.Width, s.Height) ||
				w > s.Width || h > s.Height || w < 1 || h < 1 {
				t.Errorf("%v as %s: %v", from, s, got)
			}
			if from.X > 100 && corners(small) != "red green blue white" {
				t.Errorf("%v as %s: %s", from, s, corners(small))
			}
			for _, as := range []string{PNG, JPEG} {
				var a, b bytes.Buffer
				if err := Encode(&a, small, as); err != nil {
					t.Fatal(err)
				}
				_ = Encode(&b, Scale(img, s), as)
				if !bytes.Equal(a.Bytes(), b.Bytes()) {
					t.Errorf("%s as %s differs from time to time", s, as)
				}
			}
		}
	}
}

// exif adds an orientation to a JPEG.
func exif(t *testing.T, picture []byte, orientation uint16, order binary.ByteOrder) []byte {
	t.Helper()
	tiff := []byte("II*\x00\x08\x00\x00\x00")
	if order == binary.BigEndian {
		tiff = []byte("MM\x00*\x00\x00\x00\x08")
	}
	entry := make([]byte, 14)
	order.PutUint16(entry, 1)
	order.PutUint16(entry[2:], 0x0112)
	order.PutUint16(entry[4:], 3)
	order.PutUint32(entry[6:], 1)
	order.PutUint16(entry[10:], orientation)
	body := append([]byte("Exif\x00\x00"), append(tiff, entry...)...)
	segment := binary.BigEndian.AppendUint16([]byte{0xff, 0xe1}, uint16(len(body)+2))
	return append(append(append([]byte{0xff, 0xd8}, segment...), body...), picture[2:]...)
}

// TestOrientation checks that the orientation is applied, and that the result has no metadata.
func TestOrientation(t *testing.T) {
	var plain bytes.Buffer
	if err := jpeg.Encode(&plain, quarters(64, 48), nil); err != nil {
		t.Fatal(err)
	}
	// The position of the red, green, blue and white corners.
	for orientation, want := range []string{
		1: "red green blue white", 2: "green red white blue", 3: "white blue green red", 4: "blue white red green",
		5: "red blue green white", 6: "blue red white green", 7: "white green blue red", 8: "green white red blue",
	} {
		if orientation == 0 {
			continue
		}
		for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			img := decode(t, exif(t, plain.Bytes(), uint16(orientation), order))
			if corners(img) != want || (img.Bounds().Dx() == 48) != (orientation >= 5) {
				t.Errorf("orientation %d: %s of %v, want %s", orientation, corners(img), img.Bounds(), want)
			}
			whole, written := Normalize(img)
			var out bytes.Buffer
			if err := Encode(&out, whole, written); err != nil || written != JPEG ||
				bytes.Contains(out.Bytes(), []byte("Exif")) {
				t.Errorf("kept as %s, %v, or with EXIF", written, err)
			}
		}
	}
	for _, odd := range []uint16{0, 9, 65535} {
		if img := decode(t, exif(t, plain.Bytes(), odd, binary.LittleEndian)); corners(img) != "red green blue white" {
			t.Errorf("orientation %d: %s", odd, corners(img))
		}
	}
}

// header is a PNG with a header and no pixels.
func header(w, h uint32) []byte {
	chunk := append([]byte("IHDR"), make([]byte, 13)...)
	binary.BigEndian.PutUint32(chunk[4:], w)
	binary.BigEndian.PutUint32(chunk[8:], h)
	copy(chunk[12:], []byte{8, 6, 0, 0, 0})
	b := binary.BigEndian.AppendUint32([]byte("\x89PNG\r\n\x1a\n"), 13)
	return binary.BigEndian.AppendUint32(append(b, chunk...), crc32.ChecksumIEEE(chunk))
}

// TestDecodeRefuses checks the errors for files that are not images, are damaged, or are too large.
func TestDecodeRefuses(t *testing.T) {
	var photo bytes.Buffer
	_ = jpeg.Encode(&photo, quarters(64, 48), nil)
	for want, b := range map[string][]byte{
		"not a PNG, JPEG, GIF or WebP":      []byte("<svg/>"),
		"at most 117 million are supported": header(60_000, 60_000),
		"The PNG is broken":                 header(10, 10),
		"The JPEG is broken":                photo.Bytes()[:100],
		"The GIF is broken":                 []byte("GIF89a"),
		"The WebP is broken":                []byte("RIFF\x04\x00\x00\x00WEBP"),
		"at most 31 million are supported": append([]byte{0xff, 0xd8, 0xff, 0xc2, 0, 17, 8, 0x27, 0x10, 0x27, 0x10, 3, 1,
			0x11, 0, 2, 0x11, 1, 3, 0x11, 1}, 0xff, 0xda, 0, 2),
	} {
		_, err := Decode(bytes.NewReader(b), int64(len(b)), memory)
		if ours := new(Error); !errors.As(err, &ours) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %q", b, err, want)
		}
	}
	if _, err := Decode(bytes.NewReader(nil), 0, memory); err == nil {
		t.Error("an empty file was decoded")
	}
}

func TestDecode(t *testing.T) {
	var p, g bytes.Buffer
	see := image.NewNRGBA(image.Rect(0, 0, 20, 20))
	_ = png.Encode(&p, see)
	_ = gif.Encode(&g, quarters(40, 30), nil)
	if _, written := Normalize(decode(t, p.Bytes())); written != PNG {
		t.Errorf("what can be seen through is kept as %s", written)
	}
	if whole, written := Normalize(decode(t, g.Bytes())); written != JPEG || corners(whole) != "red green blue white" {
		t.Errorf("a GIF is kept as %s: %s", written, corners(whole))
	}
	real, err := os.ReadFile("../../../testdata/meshes/lib3mf_thumbnail.png")
	if err != nil {
		t.Fatal(err)
	}
	decode(t, real)
}

// FuzzDecode checks that Decode returns for any input.
func FuzzDecode(f *testing.F) {
	var j bytes.Buffer
	_ = jpeg.Encode(&j, quarters(16, 16), nil)
	f.Add(j.Bytes())
	f.Add(header(4, 4))
	f.Fuzz(func(t *testing.T, b []byte) {
		if img, err := Decode(bytes.NewReader(b), int64(len(b)), memory); err == nil {
			Normalize(img)
		}
	})
}

// TestCovering checks which size is chosen for a box.
func TestCovering(t *testing.T) {
	large, wide := image.Pt(1600, 1200), image.Pt(1600, 400)
	for _, c := range []struct {
		from image.Point
		box  Box
		want string
	}{
		{large, Box{}, "full 1600×1200"},
		{large, Box{Width: 320, Height: 240, Crop: true}, "preview_card 340×255"},
		{large, Box{Width: 340, Height: 255, Crop: true}, "preview_card 340×255"},
		{large, Box{Width: 64, Height: 64, Crop: true}, "thumb_small 64×64"},
		{large, Box{Width: 629, Height: 1, Crop: true}, "display_medium 800×600"},
		{large, Box{Width: 1201, Height: 1, Crop: true}, "full 1600×1200"},
		{wide, Box{Width: 700, Height: 300, Crop: true}, "display_large 1200×300"},
		{wide, Box{Width: 700, Height: 301, Crop: true}, "full 1600×400"},
		{large, Box{Width: 320, Height: 240}, "display_small 400×300"},
		{wide, Box{Width: 320, Height: 240}, "display_small 400×100"},
		{wide, Box{Width: 401, Height: 240}, "display_medium 800×200"},
		{large, Box{Width: 320, Crop: true}, "display_small 400×300"},
		{large, Box{Height: 301}, "display_medium 800×600"},
		{large, Box{Width: 9000, Height: 9000}, "full 1600×1200"},
	} {
		name, w, h := c.box.Covering(c.from.X, c.from.Y)
		if got := fmt.Sprintf("%s %d×%d", name, w, h); got != c.want {
			t.Errorf("%v for %+v: got %s, want %s", c.from, c.box, got, c.want)
		}
	}
}

// TestFastPNG checks that a large image, also a part of a larger one, is encoded without loss, in
// about the size that image/png reaches.
func TestFastPNG(t *testing.T) {
	whole := image.NewNRGBA(image.Rect(0, 0, 700, 500))
	for i := range whole.Pix {
		x, y := i/4%700, i/4/700
		whole.Pix[i] = [4]uint8{uint8(x / 3), uint8(y / 3), uint8(x * y / 999), 255}[i%4]
	}
	for name, img := range map[string]image.Image{"whole": whole, "part": whole.SubImage(image.Rect(50, 20, 650, 480))} {
		var b, other bytes.Buffer
		if err := Encode(&b, img, PNG); err != nil {
			t.Fatal(err)
		}
		got, err := png.Decode(bytes.NewReader(b.Bytes()))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		from, size := img.Bounds().Min, img.Bounds().Size()
		if got.Bounds().Size() != size {
			t.Fatalf("%s: %v, want %v", name, got.Bounds().Size(), size)
		}
		for y := range size.Y {
			for x := range size.X {
				want := color.NRGBAModel.Convert(img.At(from.X+x, from.Y+y))
				if at := color.NRGBAModel.Convert(got.At(x, y)); at != want {
					t.Fatalf("%s: at %d, %d: got %v, want %v", name, x, y, at, want)
				}
			}
		}
		if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&other, img); err != nil ||
			2*b.Len() > 3*other.Len() {
			t.Errorf("%s: %d bytes, and %d by image/png", name, b.Len(), other.Len())
		}
	}
}
