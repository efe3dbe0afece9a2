package graphql_test

import (
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/meshyard/meshyard/test/servertest"
)

// TestPagePictures checks that server-rendered pages let the browser choose the size of each image,
// reserve space for it, and load the first one without delay.
func TestPagePictures(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada, visitor := s.User("ada"), s.Client("")
		var id int64
		for i := range 6 {
			id = ada.Thing(fmt.Sprint("Vase ", i))
			ada.Finalize("thing", id, ada.Upload("vase.stl", servertest.Mesh(t, "hschendel_simple_bin.stl"))).Want(t, 200)
			ada.Publish(id).Want(t, 200)
		}
		(&gallery{s: s, db: servertest.OpenDB(t, s)}).
			exec(t, "UPDATE previews SET state = 'done', picture = 'png', width = 1200, height = 900")
		s.Fold()
		const cards, stage = "(max-width: 560px) calc(50vw - 1.4rem), 20rem",
			"(max-width: 899px) calc(100vw - 2rem), (max-width: 1480px) 60vw, 54rem"
		for address, want := range map[string]map[string]string{
			"/": {"src": "preview_featured.jpg",
				"srcset": "preview_card.jpg 340w, preview_featured.jpg 628w", "sizes": cards, "width": "628", "height": "472"},
			"/explore?q=vase": {"src": "preview_featured.jpg",
				"srcset": "preview_card.jpg 340w, preview_featured.jpg 628w", "sizes": cards, "width": "628", "height": "472"},
			fmt.Sprintf("/thing:%d", id): {"src": "display_large.jpg",
				"srcset": "display_medium.jpg 800w, display_large.jpg 1200w", "sizes": stage, "width": "1200", "height": "900"},
		} {
			pictures := picturesOf(t, visitor.Get(address).Want(t, http.StatusOK))
			if len(pictures) == 0 {
				t.Errorf("%s: has no pictures", address)
			}
			for i, got := range pictures {
				want, alt := maps.Clone(want), got["alt"]
				delete(got, "alt")
				switch {
				case i == 0:
					want["fetchpriority"] = "high"
				case i >= 4:
					want["loading"] = "lazy"
				}
				if !maps.Equal(got, want) {
					t.Errorf("%s: picture %d %q: got %v, want %v", address, i, alt, got, want)
				}
			}
		}
	})
}

// picturesOf returns the attributes of the images in a page, with only the last elements of URLs.
func picturesOf(t *testing.T, r *servertest.Response) []map[string]string {
	t.Helper()
	document, err := html.Parse(strings.NewReader(string(r.Bytes)))
	if err != nil {
		t.Fatal(err)
	}
	var pictures []map[string]string
	for n := range document.Descendants() {
		if n.Type != html.ElementNode || n.Data != "img" {
			continue
		}
		a := map[string]string{}
		for _, attribute := range n.Attr {
			a[attribute.Key] = attribute.Val
		}
		a["src"] = filepath.Base(a["src"])
		sources := strings.Split(a["srcset"], ", ")
		for i := range sources {
			sources[i] = filepath.Base(sources[i])
		}
		a["srcset"] = strings.Join(sources, ", ")
		pictures = append(pictures, a)
	}
	return pictures
}
