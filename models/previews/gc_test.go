package previews

import (
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/image/thumbnail"
	"github.com/meshyard/meshyard/internal/preview"
	"github.com/meshyard/meshyard/models"
)

// TestIsScaledImage checks that exactly the image sizes which are generated on demand are scaled
// images, for both encodings.
func TestIsScaledImage(t *testing.T) {
	t.Parallel()
	sum := strings.Repeat("ab", 32)
	for _, encoding := range []string{"png", "jpg"} {
		p := &models.Preview{SHA256: sum, Subject: "3mf", Version: 3, ImageFormat: encoding, Threejs: true, GLB: true}
		for _, part := range p.Parts() {
			if key := p.Key(part.Object()); IsScaledImage(key) {
				t.Errorf("%s: got true, want false", key)
			}
		}
		for _, size := range thumbnail.Sizes {
			if key := p.Key(preview.ImagePart(size.Kind+"_"+size.Name, encoding).Object()); !IsScaledImage(key) {
				t.Errorf("%s: got false, want true", key)
			}
		}
	}
	if IsScaledImage("files/" + sum) {
		t.Error("a content object: got true, want false")
	}
}
