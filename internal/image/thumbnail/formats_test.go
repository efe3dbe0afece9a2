package thumbnail

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"strings"
	"testing"

	"github.com/klauspost/compress/zlib"

	"github.com/meshyard/meshyard/internal/image/imagemeta"
)

func sample(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("../../../testdata/images/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// near reports whether two colors differ by at most n in each channel.
func near(got color.Color, want color.NRGBA, n int) bool {
	c := color.NRGBAModel.Convert(got).(color.NRGBA)
	for _, d := range []int{int(c.R) - int(want.R), int(c.G) - int(want.G), int(c.B) - int(want.B),
		int(c.A) - int(want.A)} {
		if d < -n || d > n {
			return false
		}
	}
	return true
}

// TestColors checks colors of images whose pixels are not stored as sRGB, by place.
func TestColors(t *testing.T) {
	gray := color.NRGBA{128, 128, 128, 255}
	for name, c := range map[string]struct {
		b    []byte
		want map[image.Point]color.NRGBA
	}{
		"lossy WebP": {sample(t, "photo.webp"), map[image.Point]color.NRGBA{
			{20, 280}: {40, 90, 160, 255}, {200, 150}: {255, 210, 0, 255}, {20, 20}: {230, 0, 0, 255},
		}},
		"JPEG with Display P3": {sample(t, "display_p3.jpg"), map[image.Point]color.NRGBA{{20, 20}: {219, 67, 48, 255},
			{180, 20}: {0, 185, 77, 255}}},
		"PNG with a profile": {pngOf(t, pngICC(iccOf(t))), map[image.Point]color.NRGBA{{2, 2}: {219, 67, 48, 255},
			{12, 2}: {0, 185, 77, 255}, {2, 12}: gray}},
		"PNG with numbers": {pngOf(t, pngChunk("cICP", "\x0c\x0d\x00\x01")),
			map[image.Point]color.NRGBA{{2, 2}: {219, 67, 48, 255}, {12, 2}: {0, 185, 77, 255}, {2, 12}: gray}},
		"PNG of sRGB": {pngOf(t, pngChunk("cICP", "\x01\x0d\x00\x01")),
			map[image.Point]color.NRGBA{{2, 2}: {201, 80, 61, 255}, {12, 2}: {60, 180, 90, 255}, {2, 12}: gray}},
		"PNG, damaged profile": {pngOf(t, pngICC(iccOf(t)[:300])), map[image.Point]color.NRGBA{{2, 2}: {201, 80, 61, 255},
			{2, 12}: gray}},
		"PNG, linear": {pngOf(t, pngICC(grayICC("curv\x00\x00\x00\x00\x00\x00\x00\x01\x01\x00"))),
			map[image.Point]color.NRGBA{
				{2, 12}: {188, 188, 188, 255}, // half of the light
			}},
	} {
		img := decode(t, c.b)
		for at, want := range c.want {
			if got := img.At(at.X, at.Y); !near(got, want, 4) {
				t.Errorf("%s: at %v: got %v, want %v", name, at, got, want)
			}
		}
	}
}

// iccOf returns the profile of the sample with Display P3.
func iccOf(t *testing.T) []byte {
	t.Helper()
	b := sample(t, "display_p3.jpg")
	info, err := imagemeta.Read(bytes.NewReader(b), int64(len(b)))
	if err != nil || len(info.ICC) == 0 {
		t.Fatalf("the sample has no profile: %v", err)
	}
	return info.ICC
}

// grayICC returns a profile with a curve.
func grayICC(curve string) []byte {
	b := make([]byte, 128)
	copy(b[16:], "GRAYXYZ ")
	copy(b[36:], "acsp")
	b = append(b, 0, 0, 0, 1)
	b = append(b, "kTRC"...)
	b = binary.BigEndian.AppendUint32(b, 144)
	b = binary.BigEndian.AppendUint32(b, uint32(len(curve)))
	return append(b, curve...)
}

func pngChunk(name, content string) string {
	b := append(binary.BigEndian.AppendUint32(nil, uint32(len(content))), name+content...)
	return string(binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:])))
}

func pngICC(profile []byte) string {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, _ = z.Write(profile)
	_ = z.Close()
	return pngChunk("iCCP", "a name\x00\x00"+b.String())
}

// pngOf returns a PNG of 20 by 20 pixels in four colors, with a further chunk.
func pngOf(t *testing.T, chunk string) []byte {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, 20, 20))
	for y := range 20 {
		for x := range 20 {
			c := color.NRGBA{201, 80, 61, 255}
			switch {
			case y >= 10:
				c = color.NRGBA{128, 128, 128, 255}
			case x >= 10:
				c = color.NRGBA{60, 180, 90, 255}
			}
			img.SetNRGBA(x, y, c)
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	const header = 8 + 12 + 13
	return []byte(b.String()[:header] + chunk + b.String()[header:])
}

// TestTransparentColors checks that the profile of an image with transparency is applied.
func TestTransparentColors(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, 2, 1))
	img.Set(0, 0, color.NRGBA{201, 80, 61, 128})
	toSRGB(img, imagemeta.Info{ICC: iccOf(t)})
	if got := img.At(0, 0); !near(got, color.NRGBA{219, 67, 48, 128}, 4) {
		t.Errorf("got %v", color.NRGBAModel.Convert(got))
	}
	if got := img.At(1, 0); got != (color.RGBA{}) {
		t.Errorf("a transparent pixel became %v", got)
	}
}

// TestContainers checks that the orientation is read wherever a format has it.
func TestContainers(t *testing.T) {
	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, quarters(64, 48), nil); err != nil {
		t.Fatal(err)
	}
	turned := exif(t, photo.Bytes(), 6, binary.BigEndian)
	long := bytes.Replace(turned, []byte{0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0}, []byte{0x01, 0x12, 0, 4, 0, 0, 0, 1, 0,
		0, 0, 6}, 1)
	filled := bytes.Replace(turned, []byte("\xff\xe1"), []byte("\xff\xff\xff\xff\xe1"), 1)
	const start = 2 + 2 + 2 + 6 // of the TIFF data
	tiff := string(turned[start:][:22]) + "\x00\x00\x00\x00"
	var plain bytes.Buffer
	if err := png.Encode(&plain, quarters(64, 48)); err != nil {
		t.Fatal(err)
	}
	const header, end = 8 + 12 + 13, 12
	before := plain.String()[:header] + pngChunk("eXIf", tiff) + plain.String()[header:]
	after := plain.String()[:plain.Len()-end] + pngChunk("eXIf", tiff) + plain.String()[plain.Len()-end:]
	for name, b := range map[string]string{
		"JPEG": string(turned), "JPEG, LONG": string(long), "JPEG, fill bytes": string(filled), "PNG": before,
		"PNG, at the end": after,
	} {
		img := decode(t, []byte(b))
		if corners(img) != "blue red white green" || img.Bounds().Size() != image.Pt(48, 64) {
			t.Errorf("%s: %s of %v", name, corners(img), img.Bounds().Size())
		}
	}
	if img := decode(t, sample(t, "exif6.png")); img.Bounds().Size() != image.Pt(400, 300) {
		t.Errorf("sample: %v", img.Bounds().Size())
	}
	lossy := string(sample(t, "photo.webp")[12:])
	body := "WEBPVP8X\x0a\x00\x00\x00\x08\x00\x00\x00\x8f\x01\x00\x2b\x01\x00" + lossy + "EXIF\x1a\x00\x00\x00" + tiff
	b := append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
	// The upper left corner gets to the upper right.
	if img := decode(t, b); img.Bounds().Size() != image.Pt(300, 400) ||
		!near(img.At(280, 20), color.NRGBA{230, 0, 0, 255}, 4) {
		t.Errorf("WebP: %v, %v", img.Bounds().Size(), img.At(280, 20))
	}
	if img := decode(t, sample(t, "apng.png")); img.Bounds().Size() != image.Pt(400, 300) {
		t.Errorf("APNG: %v", img.Bounds().Size())
	}
}

// TestLarge checks that images as large as those of phones are decoded, and which memory is assumed
// for each kind.
func TestLarge(t *testing.T) {
	img := image.NewYCbCr(image.Rect(0, 0, 8064, 6048), image.YCbCrSubsampleRatio420)
	for i := range img.Cb {
		img.Cb[i], img.Cr[i] = 128, 128
	}
	for y := range 6048 {
		row := img.Y[y*img.YStride:][:8064]
		for x := range row {
			row[x] = uint8(x / 32)
		}
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, nil); err != nil {
		t.Fatal(err)
	}
	small := decode(t, exif(t, b.Bytes(), 6, binary.BigEndian))
	if small.Bounds().Size() != image.Pt(900, 1200) {
		t.Errorf("got %v", small.Bounds().Size())
	}
	for _, y := range []int{0, 400, 800, 1199} {
		want := uint8(float64(y) * 8064 / 1200 / 32)
		if got := small.At(450, y); !near(got, color.NRGBA{want, want, want, 255}, 2) {
			t.Errorf("at %d: got %v, want %d", y, got, want)
		}
	}
	frame := func(marker byte, components string) []byte {
		return []byte("\xff\xd8\xff" + string([]byte{marker}) + "\x00\x11\x08\x17\xa0\x1f\x80" + components)
	}
	color420, color444 := "\x03\x01\x22\x00\x02\x11\x01\x03\x11\x01", "\x03\x01\x11\x00\x02\x11\x01\x03\x11\x01"
	ycc := image.Config{ColorModel: color.YCbCrModel}
	for name, c := range map[string]struct{ got, want float64 }{
		"4:2:0":             {jpegMemory(frame(0xc0, color420), ycc), 1.5},
		"4:4:4":             {jpegMemory(frame(0xc0, color444), ycc), 3},
		"gray":              {jpegMemory(frame(0xc1, "\x01\x01\x22\x00"), image.Config{ColorModel: color.GrayModel}), 1},
		"progressive 4:2:0": {jpegMemory(frame(0xc2, color420), ycc), 7.5},
		"unknown":           {jpegMemory([]byte("\xff\xd8\xff\xe1\x00\x04"), ycc), 20},
		"after fill bytes": {jpegMemory([]byte("\xff\xd8\xff\xfe\x00\x03x\xff\xff"+string(frame(0xc2, color420)[3:])),
			ycc), 7.5},
		"interlaced 16 bits": {pngMemory(
			[]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x00\x00\x00\x00\x00\x00\x00\x00\x10\x02\x00\x00\x01"),
			image.Config{}), 16},
	} {
		if c.got != c.want {
			t.Errorf("%s: %g bytes for each pixel, want %g", name, c.got, c.want)
		}
	}
}

// TestReduce checks the means of squares, also at the edges.
func TestReduce(t *testing.T) {
	img := image.NewNRGBA(image.Rect(10, 10, 15, 13))
	for y := range 3 {
		for x := range 5 {
			img.SetNRGBA(10+x, 10+y, color.NRGBA{uint8(10 * x), uint8(100 * y), 7, 255})
		}
	}
	got := reduce(img, 2)
	want := []color.RGBA{{5, 50, 7, 255}, {25, 50, 7, 255}, {40, 50, 7, 255}, {5, 200, 7, 255}, {25, 200, 7, 255},
		{40, 200, 7, 255}}
	for i, c := range want {
		if at := got.RGBAAt(i%3, i/3); at != c {
			t.Errorf("pixel %d: got %v, want %v", i, at, c)
		}
	}
	for _, size := range []image.Point{{1, 1}, {1, 9000}, {9000, 1}, {3200, 2400}, {1601, 1200}, {5000, 3}} {
		small := shrink(image.NewGray(image.Rectangle{Max: size}), largest)
		if w, h := largest.Of(size.X, size.Y); small.Bounds().Size() != image.Pt(w, h) {
			t.Errorf("%v: got %v, want %d×%d", size, small.Bounds().Size(), w, h)
		}
	}
}

// TestHEIF checks what the error for AVIF and HEIC says. Uploads of them get no preview.
func TestHEIF(t *testing.T) {
	for _, name := range []string{"photo.avif", "photo.heic"} {
		b := sample(t, name)
		if _, err := Decode(bytes.NewReader(b), int64(len(b)), memory); err == nil ||
			!strings.Contains(err.Error(), "not a PNG, JPEG, GIF or WebP image") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
