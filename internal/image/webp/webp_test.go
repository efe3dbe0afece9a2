package webp

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"os"
	"testing"
)

func sample(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile("../../../testdata/images/photo.webp")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// colors of places of the sample, as all browsers show them.
var colors = map[image.Point]color.NRGBA{{20, 280}: {40, 90, 160, 255}, {200, 150}: {255, 210, 0, 255},
	{20, 20}: {230, 0, 0, 255}}

func check(t *testing.T, name string, img image.Image) {
	t.Helper()
	if got := img.Bounds().Size(); got != image.Pt(400, 300) {
		t.Fatalf("%s: got %v", name, got)
	}
	for at, want := range colors {
		got := color.NRGBAModel.Convert(img.At(at.X, at.Y)).(color.NRGBA)
		for i, d := range []int{int(got.R) - int(want.R), int(got.G) - int(want.G), int(got.B) - int(want.B)} {
			if d < -4 || d > 4 {
				t.Errorf("%s: at %v, channel %d: got %v, want %v", name, at, i, got, want)
			}
		}
	}
}

func TestColors(t *testing.T) {
	img, err := Decode(bytes.NewReader(sample(t)))
	if err != nil {
		t.Fatal(err)
	}
	check(t, "photo", img)
	for y, want := range map[uint8]uint8{0: 0, 16: 0, 126: 128, 235: 255, 255: 255} {
		if r, g, b := rgb(y, 128, 128); r != want || g != want || b != want {
			t.Errorf("gray %d: got %d %d %d, want %d", y, r, g, b, want)
		}
	}
	part := img.(*Lossy).SubImage(image.Rect(200, 150, 220, 170))
	if got, want := part.At(205, 155), img.At(205, 155); got != want || !part.(*Lossy).Opaque() {
		t.Errorf("a part has the color %v, want %v", got, want)
	}
}

// TestAnimation checks that the first frame of an animation is decoded.
func TestAnimation(t *testing.T) {
	frame := sample(t)[12:]
	header := func(name string, size int) []byte {
		return binary.LittleEndian.AppendUint32([]byte(name), uint32(size))
	}
	body := append([]byte("WEBP"), header("VP8X", 10)...)
	body = append(body, animated, 0, 0, 0, 0x8f, 1, 0, 0x2b, 1, 0)
	body = append(append(body, header("ANIM", 6)...), 0, 0, 0, 0, 0, 0)
	for range 2 {
		body = append(body, header("ANMF", 16+len(frame))...)
		body = append(body, 0, 0, 0, 0, 0, 0, 0x8f, 1, 0, 0x2b, 1, 0, 100, 0, 0, 0)
		body = append(body, frame...)
	}
	b := append(header("RIFF", len(body)), body...)
	img, err := Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	check(t, "animation", img)
	if c, err := DecodeConfig(bytes.NewReader(b)); err != nil || c.Width != 400 || c.Height != 300 {
		t.Errorf("got %v, %v", c, err)
	}
	for _, n := range []int{0, 12, 30, 40, 60, 100} {
		if _, err := Decode(bytes.NewReader(b[:n])); err == nil {
			t.Errorf("%d bytes were decoded", n)
		}
	}
}
