package qoi

import (
	"bytes"
	"image"
	"image/color"
	"testing"
)

// file returns an image of 4×2 pixels in which each kind of chunk occurs.
func file(chunks ...byte) []byte {
	b := append([]byte("qoif\x00\x00\x00\x04\x00\x00\x00\x02\x04\x00"), chunks...)
	return append(b, 0, 0, 0, 0, 0, 0, 0, 1)
}

// The colors are those that the specification defines for the chunks.
func TestDecode(t *testing.T) {
	t.Parallel()
	b := file(
		0xfe, 10, 20, 30, // RGB
		0xff, 40, 50, 60, 70, // RGBA
		0x00|(10*3+20*5+30*7+255*11)%64, // index: the first color
		0x40|3<<4|1<<2,                  // difference: +1, -1, -2
		0x80|(32+9), (8+2)<<4|(8-3),     // luma: green +9, red +9+2, blue +9-3
		0xc0|1, // run of 2
		0xfe, 0, 0, 1,
	)
	img, err := Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	want := []color.NRGBA{{10, 20, 30, 255}, {40, 50, 60, 70}, {10, 20, 30, 255}, {11, 19, 28, 255}, {22, 28, 34, 255},
		{22, 28, 34, 255}, {22, 28, 34, 255}, {0, 0, 1, 255}}
	for i, w := range want {
		if got := img.(*image.NRGBA).NRGBAAt(i%4, i/4); got != w {
			t.Errorf("pixel %d: got %v, want %v", i, got, w)
		}
	}
}

func TestDecodeInvalid(t *testing.T) {
	t.Parallel()
	for name, b := range map[string][]byte{
		"empty": nil, "a short header": []byte("qoif\x00\x00"), "another format": bytes.Repeat([]byte("x"), 20),
		"no pixels": []byte("qoif\x00\x00\x00\x00\x00\x00\x00\x02\x04\x00"),
		"huge":      []byte("qoif\xff\xff\xff\xff\xff\xff\xff\xff\x04\x00"),
		"truncated": file(0xfe, 1, 2, 3)[:18],
	} {
		if _, err := Decode(bytes.NewReader(b)); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(file(0xfe, 10, 20, 30, 0xc0|6))
	f.Fuzz(func(t *testing.T, b []byte) {
		if c, err := DecodeConfig(bytes.NewReader(b)); err != nil || c.Width*c.Height > 1<<20 {
			return
		}
		_, _ = Decode(bytes.NewReader(b))
	})
}
