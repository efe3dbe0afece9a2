//go:build browser

package viewer_test

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/meshyard/meshyard/internal/web/graphiql/graphiqltest"
)

// picture takes a screenshot of the page once nothing moves, and saves it if MESHYARD_TEST_PICTURES
// names a folder.
func picture(t *testing.T, tab *graphiqltest.Tab, name string) image.Image {
	t.Helper()
	var shot, before []byte
	for range 50 {
		tab.Do(t, "let it be drawn", chromedp.Sleep(200*time.Millisecond))
		shot = graphiqltest.Run(t, tab, "take a screenshot", chromedp.CaptureScreenshot())
		if bytes.Equal(shot, before) {
			break
		}
		before = shot
	}
	if folder := os.Getenv("MESHYARD_TEST_PICTURES"); folder != "" {
		if err := os.WriteFile(filepath.Join(folder, name+".png"), shot, 0o600); err != nil {
			t.Error(err)
		}
	}
	img, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// A stain is the area of a color: the number of pixels, their center as a fraction of the image,
// and their brightness from 0 to 1.
type stain struct {
	pixels      int
	x, y, light float64
}

// stains finds areas that are mostly red, green or blue.
func stains(img image.Image) (found [3]stain) {
	b := img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			var c [3]uint32
			c[0], c[1], c[2], _ = img.At(x, y).RGBA()
			for i := range found {
				if c[i] > 3*c[(i+1)%3] && c[i] > 3*c[(i+2)%3] && c[i] > 0x3000 {
					found[i].pixels++
					found[i].x += float64(x) / float64(b.Dx())
					found[i].y += float64(y) / float64(b.Dy())
					found[i].light += float64(c[i]) / 0xffff
				}
			}
		}
	}
	for i := range found {
		n := float64(max(1, found[i].pixels))
		found[i].x, found[i].y, found[i].light = found[i].x/n, found[i].y/n, found[i].light/n
	}
	return found
}

// checkFirstView checks that the model is seen from the front, the right and above, large and in
// the middle.
func checkFirstView(t *testing.T, img image.Image) {
	t.Helper()
	s := stains(img)
	front, right, top := s[0], s[1], s[2]
	all := float64(img.Bounds().Dx() * img.Bounds().Dy())
	if share := float64(front.pixels+right.pixels+top.pixels) / all; share < .08 {
		t.Errorf("the model covers %.3f of the image, want a good part", share)
	}
	if front.pixels < right.pixels || right.pixels < top.pixels/3 || front.x > right.x || top.pixels == 0 {
		t.Errorf("got front %v, right %v, top %v: want to see most of the front, then the right beside it, and the top",
			front, right, top)
	}
}
