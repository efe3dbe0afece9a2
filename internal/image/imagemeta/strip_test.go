package imagemeta

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/image/webp"
)

// secret stands for what must not be in a stripped image, and kept for what must be.
const (
	secret = "52.3702N 4.8952E serial 4711"
	kept   = "the color profile"
)

// part is a part of an image: a segment, a chunk, a block or a box.
func segment(marker byte, content string) string {
	return string(binary.BigEndian.AppendUint16([]byte{0xff, marker}, uint16(len(content)+2))) + content
}

func chunk(name, content string) string {
	b := append(binary.BigEndian.AppendUint32(nil, uint32(len(content))), name+content...)
	return string(binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:])))
}

func riffChunk(name, content string) string {
	return string(binary.LittleEndian.AppendUint32([]byte(name), uint32(len(content)))) + content +
		strings.Repeat("\x00", len(content)%2)
}

func box(name string, content ...string) string {
	all := strings.Join(content, "")
	return string(binary.BigEndian.AppendUint32(nil, uint32(8+len(all)))) + name + all
}

// blocks returns a block of GIF data, and the end of the data.
func blocks(content string) string { return string(rune(len(content))) + content + "\x00" }

// exifData is TIFF data with an orientation of a type, and a secret.
func exifData(o Orientation, kind uint16, order binary.AppendByteOrder) string {
	b := []byte("II*\x00\x08\x00\x00\x00")
	if order.String() == "BigEndian" {
		b = []byte("MM\x00*\x00\x00\x00\x08")
	}
	b = order.AppendUint16(b, 2)
	b = order.AppendUint32(order.AppendUint16(order.AppendUint16(b, 0x010f), 2), uint32(len(secret)))
	b = order.AppendUint32(b, 38)
	b = order.AppendUint32(order.AppendUint16(order.AppendUint16(b, 0x0112), kind), 1)
	if kind == 4 {
		b = order.AppendUint32(b, uint32(o))
	} else {
		b = order.AppendUint16(order.AppendUint16(b, uint16(o)), 0)
	}
	return string(order.AppendUint32(b, 0)) + secret
}

func picture() *image.Paletted {
	img := image.NewPaletted(image.Rect(0, 0, 40, 30), color.Palette{color.White, color.RGBA{200, 30, 10, 255},
		color.Black})
	for i := range img.Pix {
		img.Pix[i] = uint8(i / 7 % 3)
	}
	return img
}

// jpegWith returns a JPEG with further segments after the first marker and before the last one.
func jpegWith(t testing.TB, first, last string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, picture(), nil); err != nil {
		t.Fatal(err)
	}
	end := b.Len() - 2
	return []byte(b.String()[:2] + first + b.String()[2:end] + last + b.String()[end:])
}

func pngWith(t testing.TB, first, last string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, picture()); err != nil {
		t.Fatal(err)
	}
	header, end := 8+12+13, b.Len()-12
	return []byte(b.String()[:header] + first + b.String()[header:end] + last + b.String()[end:])
}

func gifWith(t testing.TB, first, last string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := gif.Encode(&b, picture(), nil); err != nil {
		t.Fatal(err)
	}
	header, end := 13+int(colorTable(b.Bytes()[10])), b.Len()-1
	return []byte(b.String()[:header] + first + b.String()[header:end] + last + b.String()[end:])
}

// sample reads an image that a camera or a common encoder has written.
func sample(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("../../../testdata/images/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// webpWith returns an extended WebP with the given chunks around the image.
func webpWith(t testing.TB, flags byte, before, after string) []byte {
	t.Helper()
	simple := string(sample(t, "photo.webp")[12:])
	body := "WEBP" + riffChunk("VP8X", string(append([]byte{flags, 0, 0, 0}, 0x8f, 1, 0, 0x2b, 1, 0))) + before +
		simple + after
	return []byte("RIFF" + string(binary.LittleEndian.AppendUint32(nil, uint32(len(body)))) + body)
}

// heifWith adds an Exif item and an XMP item to an AVIF or a HEIC, and returns it.
func heifWith(t testing.TB, name string) []byte {
	t.Helper()
	b := string(sample(t, name))
	ftyp := int(binary.BigEndian.Uint32([]byte(b)))
	size := int(binary.BigEndian.Uint32([]byte(b[ftyp:])))
	meta, rest := b[ftyp:ftyp+size], b[ftyp+size:]
	exif, xmp := "\x00\x00\x00\x00"+exifData(6, 3, binary.BigEndian), "<x:xmpmeta>"+secret+"</x:xmpmeta>"

	var locations, kinds string
	var pixels int
	eachBox([]byte(meta), 12, len(meta), func(name string, from, to int) {
		switch name {
		case "iloc":
			found := readLocations([]byte(meta[from:to]))
			if len(found) != 1 {
				t.Fatalf("%d items", len(found))
			}
			pixels = int(found[0].extents[0].from) - len(b) + len(rest)
			locations = meta[from:to]
		case "iinf":
			kinds = meta[from:to]
		}
	})
	length := int(binary.BigEndian.Uint32([]byte(rest))) - 8 - (pixels - 8)
	infe := func(id uint16, kind string) string {
		return box("infe", string(binary.BigEndian.AppendUint16([]byte{2, 0, 0, 0}, id)), "\x00\x00", kind, "\x00")
	}
	location := func(id uint16, from, size int) string {
		out := binary.BigEndian.AppendUint16(nil, id)
		out = append(out, 0, 0, 0, 1)
		return string(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(out, uint32(from)), uint32(size)))
	}
	build := func(start int) string {
		iloc := box("iloc", "\x00\x00\x00\x00\x44\x00\x00\x03", location(1, start+len(exif)+pixels, length),
			location(2, start+8, len(exif)), location(3, start+8+len(exif)+length, len(xmp)))
		iinf := box("iinf", "\x00\x00\x00\x00\x00\x03", kinds[6:], infe(2, "Exif"), infe(3, "mime"))
		m := strings.Replace(meta[8:], box("iloc", locations), iloc, 1)
		return box("meta", strings.Replace(m, box("iinf", kinds), iinf, 1))
	}
	grown := build(ftyp + len(build(0)))
	return []byte(b[:ftyp] + grown + box("mdat", exif, rest[8:8+length], xmp) + box("free", secret) + box("mpvd", secret))
}

func strip(t testing.TB, b []byte) []byte {
	t.Helper()
	out, err := io.ReadAll(Strip(bytes.NewReader(b)))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// images are images with secrets everywhere, by what is special about them, with the orientation
// that they have.
func images(t testing.TB) map[string]struct {
	b    []byte
	want Orientation
} {
	t.Helper()
	exif := "Exif\x00\x00" + exifData(6, 3, binary.LittleEndian)
	profile := segment(0xe2, "ICC_PROFILE\x00\x01\x01"+kept)
	others := segment(0xe0, "JFXX\x00\x10"+secret) + segment(0xe1, "http://ns.adobe.com/xap/1.0/\x00"+secret) +
		segment(0xe2, "MPF\x00"+secret) +
		segment(0xed, "Photoshop 3.0\x008BIM"+secret) + segment(0xfe, secret) + segment(0xef, secret)
	jfif := segment(0xe0, "JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x03\x03"+secret[:27])
	texts := chunk("tEXt", "Comment\x00"+secret) + chunk("iTXt", "XML:com.adobe.xmp\x00\x00\x00\x00\x00"+secret) +
		chunk("zTXt", "a\x00\x00"+secret) + chunk("prVt", secret)
	animated := riffChunk("ANIM", "\xff\xff\xff\xff\x00\x00") +
		riffChunk("ANMF", strings.Repeat("\x00", 16)+riffChunk("priv", secret))
	return map[string]struct {
		b    []byte
		want Orientation
	}{
		"JPEG":               {jpegWith(t, jfif+segment(0xe1, exif)+others+profile, others), 6},
		"JPEG, profile only": {jpegWith(t, profile, ""), 1},
		"JPEG, orientation as LONG": {jpegWith(t,
			segment(0xe1, "Exif\x00\x00"+exifData(8, 4, binary.BigEndian))+others+profile, ""), 8},
		"JPEG, fill bytes": {jpegWith(t, "\xff\xff\xff"+segment(0xe1, exif)+"\xff\xff"+others+profile,
			"\xff"+segment(0xfe, secret)), 6},
		"JPEG, bytes in between":   {jpegWith(t, profile+"??"+segment(0xe1, exif)+"\x00"+others, ""), 6},
		"JPEG, another one behind": {append(jpegWith(t, profile, ""), jpegWith(t, segment(0xe1, exif), secret)...), 1},
		"PNG": {pngWith(t, chunk("eXIf", exifData(5, 3, binary.BigEndian))+texts+chunk("gAMA",
			kept[:4]), chunk("tIME", secret[:7])+texts), 5},
		"PNG, EXIF at the end": {pngWith(t, "", texts+chunk("eXIf", exifData(3, 4, binary.LittleEndian))), 3},
		"PNG, data behind":     {append(pngWith(t, texts, texts), secret...), 1},
		"GIF": {gifWith(t, "!\xfe"+blocks(secret)+"!\xff\x0bNETSCAPE2.0"+blocks("\x01\x00\x00"),
			"!\xff\x0bXMP DataXMP"+blocks(secret)+"!\xfe"+blocks(secret)), 1},
		"GIF, data behind": {append(gifWith(t, "", ""), secret...), 1},
		"WebP": {webpWith(t, 0x2c, riffChunk("ICCP", kept),
			riffChunk("EXIF", exifData(8, 3, binary.LittleEndian))+riffChunk("XMP ", secret)+riffChunk("priv", secret)), 8},
		"WebP, EXIF of a JPEG": {webpWith(t, 0x08, "", riffChunk("EXIF", exif)), 6},
		"WebP, data behind":    {append(webpWith(t, 0, "", ""), secret...), 1},
		"WebP, private data":   {webpWith(t, 2, animated, riffChunk("XMP ", secret)), 1},
		"WebP, wrong size":     {webpWith(t, 8, "", "EXIF\xff\xff\xff\x7f"+exifData(6, 3, binary.BigEndian)), 1},
		"AVIF":                 {heifWith(t, "photo.avif"), 1},
		"HEIC":                 {heifWith(t, "photo.heic"), 1},
		"HEIC, video behind": {append(heifWith(t, "photo.heic"), box("ftyp", "mp42")+box("moov", secret)+box("mdat",
			secret)...), 1},
		"HEIC, data of a vendor": {append(heifWith(t, "photo.heic"), box("uuid", secret)+box("moov", box("udta", secret),
			box("trak", box("meta", secret)))...), 1},
		"HEIC, something behind":  {append(heifWith(t, "photo.heic"), "\x00\x00\x00\x01"+secret...), 1},
		"JPEG of a phone":         {sample(t, "gps.jpg"), 1},
		"PNG with an orientation": {sample(t, "exif6.png"), 6},
		"JPEG with Display P3":    {sample(t, "display_p3.jpg"), 1},
		"APNG":                    {sample(t, "apng.png"), 1},
		"WebP without metadata":   {sample(t, "photo.webp"), 1},
		"AVIF without metadata":   {sample(t, "photo.avif"), 1},
		"HEIC without metadata":   {sample(t, "photo.heic"), 1},
		"JPEG without its first EXIF": {jpegWith(t,
			segment(0xe1, "Exif\x00\x00"+exifData(1, 3, binary.BigEndian))+segment(0xe1, exif)+profile, ""), 1},
	}
}

// TestStrip checks that no metadata is left of images of each format, and that the orientation, the
// color profile and the pixels are.
func TestStrip(t *testing.T) {
	secrets := []string{secret, secret[1:20], "iPhone", "ABC123", "xmpmeta", "GPS"}
	for name, c := range images(t) {
		out := strip(t, c.b)
		for _, s := range secrets {
			if bytes.Contains(out, []byte(s)) {
				t.Errorf("%s: contains %q", name, s)
			}
		}
		before, err1 := Read(bytes.NewReader(c.b), int64(len(c.b)))
		after, err2 := Read(bytes.NewReader(out), int64(len(out)))
		if err := errors.Join(err1, err2); err != nil || after.Orientation != c.want ||
			(name != "WebP, wrong size" && before.Orientation != c.want) {
			t.Errorf("%s: orientation %d, then %d, %v; want %d", name, before.Orientation, after.Orientation, err, c.want)
		}
		if !bytes.Equal(before.ICC, after.ICC) || bytes.Contains(c.b, []byte(kept)) != bytes.Contains(out, []byte(kept)) {
			t.Errorf("%s: the profile %q became %q", name, before.ICC, after.ICC)
		}
		if again := strip(t, out); !bytes.Equal(again, out) {
			t.Errorf("%s: stripped twice, it has %d bytes; stripped once, %d", name, len(again), len(out))
		}
		one, err := io.ReadAll(Strip(iotest.OneByteReader(bytes.NewReader(c.b))))
		if err != nil || !bytes.Equal(one, out) {
			t.Errorf("%s: read byte by byte, it has %d bytes, want %d: %v", name, len(one), len(out), err)
		}
		samePixels(t, name, c.b, out)
	}
}

// decoders are those of the formats that can be decoded.
var decoders = map[format]func(io.Reader) (image.Image, error){jpegFormat: jpeg.Decode, pngFormat: png.Decode,
	gifFormat: gif.Decode, webpFormat: webp.Decode}

// samePixels checks that two images have the same pixels, or if no decoder is available, the same
// size and data.
func samePixels(t *testing.T, name string, before, after []byte) {
	t.Helper()
	decode := decoders[formatOf(before)]
	if decode == nil {
		if i := bytes.Index(before, []byte("mdat")); len(after) < i || len(before) < 2000 {
			t.Errorf("%s: %d of %d bytes are left", name, len(after), len(before))
		}
		return
	}
	a, err1 := decode(bytes.NewReader(before))
	b, err2 := decode(bytes.NewReader(after))
	if (err1 == nil) != (err2 == nil) || err1 != nil && !strings.HasPrefix(name, "WebP, private") {
		t.Errorf("%s: %v, then %v", name, err1, err2)
		return
	}
	if err1 != nil {
		return
	}
	for y := range a.Bounds().Dy() {
		for x := range a.Bounds().Dx() {
			if a.At(x, y) != b.At(x, y) {
				t.Fatalf("%s: at %d, %d: %v became %v", name, x, y, a.At(x, y), b.At(x, y))
			}
		}
	}
}

// TestStripKeepsData checks that the data of an AVIF and of a HEIC stays at its position.
func TestStripKeepsData(t *testing.T) {
	for _, name := range []string{"photo.avif", "photo.heic"} {
		with, data := heifWith(t, name), sample(t, name)
		data = data[len(data)-1000:]
		if at := bytes.Index(with, data); at < 0 || at != bytes.Index(strip(t, with), data) {
			t.Errorf("%s: the data is at %d, then at %d", name, at, bytes.Index(strip(t, with), data))
		}
		if plain := sample(t, name); !bytes.Equal(strip(t, plain), plain) {
			t.Errorf("%s: an image without metadata changes", name)
		}
	}
}

// TestStripOthers checks that files that are not images, and damaged images, can be stored.
func TestStripOthers(t *testing.T) {
	for _, same := range []string{"", "x", "solid cube\n", "\xff\xd8", "\xff\xd8\xff", "\x89PNG\r\n\x1a\n",
		"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIH", "GIF89a",
		"RIFF\x04\x00\x00\x00WEBP", "RIFF\x00\x00\x00\x00WEBPVP8 " + secret, "RIFF\x24\x00\x00\x00WAVE" + secret,
		"\x89PNG\r\n\x1a\n\xff\xff\xff\xff????" + secret,
		"\x00\x00\x00\x18ftypmp42" + secret, "\x00\x00\x00\x10ftypavif\x00\x00\x00\x00\x00\x00\x00\x02meta" + secret,
		"GIF89a\x00\x00\x00\x00\x00\x00\x00?" + secret} {
		if got := string(strip(t, []byte(same))); got != same {
			t.Errorf("%.60q became %.60q", same, got)
		}
	}
	for name, c := range images(t) {
		for _, n := range []int{17, 40, 100, len(c.b) / 2, len(c.b) - 1} {
			if n < len(c.b) && len(strip(t, c.b[:n])) == 0 {
				t.Errorf("%s: nothing is left of %d bytes", name, n)
			}
		}
	}
}

// TestStripReadsAll checks that what follows an image is read, and that an error is passed on.
func TestStripReadsAll(t *testing.T) {
	failed := errors.New("the client disconnected")
	for name, c := range images(t) {
		if _, err := io.ReadAll(Strip(io.MultiReader(bytes.NewReader(c.b), iotest.ErrReader(failed)))); !errors.Is(err,
			failed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzStrip checks that any input can be stripped, and that an image that can be decoded keeps its
// pixels.
func FuzzStrip(f *testing.F) {
	for _, c := range images(f) {
		f.Add(c.b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		out := strip(t, b)
		if len(out) > len(b)+tiffSize {
			t.Errorf("%d bytes became %d", len(b), len(out))
		}
		if _, err := Read(bytes.NewReader(b), int64(len(b))); err != nil {
			t.Error(err)
		}
		if decode := decoders[formatOf(b)]; decode != nil {
			if img, err := decode(bytes.NewReader(b)); err == nil && img.Bounds().Dx()*img.Bounds().Dy() < 1<<20 {
				samePixels(t, "an image", b, out)
			}
		}
	})
}
