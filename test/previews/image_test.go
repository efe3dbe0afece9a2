package previews_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/models/previews"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestRenderingIsAnImage checks that the rendering of a model is an image with its own ID. Ranking
// or removing it does not change the model, no ID is valid for both /images and /files, and
// regenerating the preview does not restore a removed rendering.
func TestRenderingIsAnImage(t *testing.T) {
	servertest.Concurrent(t, func(t *testing.T, s *servertest.Server) {
		ada, bob := s.User("ada"), s.User("bob")
		stl, png := servertest.Mesh(t, "numpystl_HalfDonut_bin.stl"), servertest.Mesh(t, "lib3mf_thumbnail.png")
		thing := ada.Thing("Donut")
		model, other, photo := ada.Upload("donut.stl", stl), ada.Upload("the other.stl", stl), ada.Upload("photo.png", png)
		ada.Finalize("thing", thing, model, other, photo).Want(t, 200)
		ada.Publish(thing).Want(t, 200)
		for _, id := range []int64{model, other, photo} {
			servertest.Settled(t, ada, id)
		}
		path := func(format string, id int64) string { return fmt.Sprintf("/things/%d/"+format, thing, id) }
		modelBytes := func() []byte {
			t.Helper()
			return servertest.Fetch(t, s, fmt.Sprintf("%s/download:%d", s.URL, model))
		}
		if !bytes.Equal(modelBytes(), stl) {
			t.Fatal("the model has other bytes than were uploaded")
		}

		// Some clients take the names of files from the URLs.
		var zipped struct {
			Data map[string][]struct{ Name, URL string } `json:"zip_data"`
		}
		bob.Get(fmt.Sprint("/things/", thing)).Want(t, 200, &zipped)
		if files, images := zipped.Data["files"], zipped.Data["images"]; len(files) != 2 || len(images) != 3 {
			t.Errorf("zip_data has the files %v and the images %v", files, images)
		}
		for _, entry := range slices.Concat(zipped.Data["files"], zipped.Data["images"]) {
			segment := entry.URL[strings.LastIndexByte(entry.URL, '/')+1:]
			if segment != url.PathEscape(entry.Name) || len(servertest.Fetch(t, s, entry.URL)) == 0 {
				t.Errorf("zip_data: the URL of %s is %s", entry.Name, entry.URL)
			}
		}

		ids := servertest.ImageIDs(t, bob, thing)
		if len(ids) != 3 || ids[0] != photo {
			t.Fatalf("images %v, want the photo %d and two renderings after it", ids, photo)
		}
		rendering, otherRendering := ids[1], ids[2]
		for _, id := range ids[1:] {
			if id == model || id == other || id == photo {
				t.Errorf("rendering %d has the id of a file", id)
			}
		}
		var file struct {
			DefaultImage struct{ ID int64 } `json:"default_image"`
		}
		ada.Get(fmt.Sprint("/files/", model)).Want(t, 200, &file)
		if file.DefaultImage.ID != rendering {
			t.Errorf("default_image of the model is %d, want its rendering %d", file.DefaultImage.ID, rendering)
		}

		// The ID of a model is no image, and the ID of a rendering is no file.
		for _, id := range []int64{model, other} {
			for _, method := range []string{"GET", "PATCH", "DELETE"} {
				ada.Do(method, path("images/%d", id), servertest.Object{"rank": 1}).Want(t, 404)
			}
		}
		for _, id := range ids {
			ada.Get(path("files/%d", id)).Want(t, 404)
			ada.Do("DELETE", path("files/%d", id), nil).Want(t, 404)
		}
		ada.Get(fmt.Sprint("/files/", rendering)).Want(t, 404)
		if got := servertest.ImageIDs(t, ada, thing); !slices.Equal(got, ids) {
			t.Fatalf("images are %v after refusals, want %v", got, ids)
		}

		// Only the owner, moderators and administrators may change images.
		bob.Do("PATCH", path("images/%d", rendering), servertest.Object{"rank": 1}).Want(t, 403)
		bob.Do("DELETE", path("images/%d", rendering), nil).Want(t, 403)

		// Renderings without a rank come last, and renderings with a rank are sorted among the image
		// files.
		first := func(want int64) {
			t.Helper()
			var thingNow struct {
				DefaultImage struct {
					ID  int64
					URL string
				} `json:"default_image"`
			}
			bob.Get(fmt.Sprint("/things/", thing)).Want(t, 200, &thingNow)
			if got := servertest.ImageIDs(t, bob, thing)[0]; got != want || thingNow.DefaultImage.ID != want {
				t.Errorf("the first image is %d and the default image %d, want %d", got, thingNow.DefaultImage.ID, want)
			}
			if len(servertest.Fetch(t, s, thingNow.DefaultImage.URL)) == 0 {
				t.Error("no bytes at the URL of the default image")
			}
		}
		first(photo)
		ada.Do("PATCH", path("images/%d", otherRendering), servertest.Object{"rank": 5}).Want(t, 200)
		first(otherRendering)
		ada.Do("PATCH", path("images/%d", rendering), servertest.Object{"featured": true}).Want(t, 200)
		first(rendering)
		ada.Do("PATCH", path("images/%d", photo), servertest.Object{"featured": true, "rank": 99}).Want(t, 200)
		first(photo)
		ada.Do("PATCH", path("images/%d", photo), servertest.Object{"featured": false}).Want(t, 200)
		first(photo)

		// Removing the rendering does not change the model and its content.
		ada.Do("DELETE", path("images/%d", rendering), nil).Want(t, 200)
		ada.Do("DELETE", path("images/%d", rendering), nil).Want(t, 404)
		ada.Get(path("images/%d", rendering)).Want(t, 404)
		if !bytes.Equal(modelBytes(), stl) {
			t.Error("the model has other bytes after its rendering was removed")
		}
		ada.Get(path("files/%d", model)).Want(t, 200)
		want := []int64{photo, otherRendering}
		if _, err := s.Store.Previews.SchedulePreviews(context.Background(), previews.AgainAll); err != nil {
			t.Fatal(err)
		}
		for _, id := range []int64{model, other, photo} {
			servertest.Settled(t, ada, id)
		}
		ada.Finalize("thing", thing, model).Want(t, 200) // finalizing again changes nothing
		if got := servertest.ImageIDs(t, bob, thing); !slices.Equal(got, want) {
			t.Errorf("images are %v after the previews were made again, want %v", got, want)
		}

		// Deleting a model also deletes its rendering.
		ada.Do("DELETE", path("files/%d", other), nil).Want(t, 200)
		if got := servertest.ImageIDs(t, bob, thing); !slices.Equal(got, []int64{photo}) {
			t.Errorf("images are %v after the model was deleted, want the photo", got)
		}
		ada.Do("DELETE", path("images/%d", photo), nil).Want(t, 200)
		if got := servertest.ImageIDs(t, bob, thing); len(got) != 0 {
			t.Errorf("images are %v, want none", got)
		}
		// IDs of files and renderings are not reused.
		if next := ada.Upload("next.stl", stl); slices.Contains(append(ids, model, other), next) {
			t.Errorf("id %d is given out again", next)
		}
		if !bytes.Equal(modelBytes(), stl) {
			t.Error("the model has other bytes in the end")
		}
	}, servertest.Derives)
}

// TestImageURLsNeedNoToken checks that the URL of every image in a response returns an image
// without a token: for published things and makes, and also for drafts that the caller can see. For
// a published thing, the URL in lists of images is that of the image resource of the thing.
func TestImageURLsNeedNoToken(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		thing, draft := ada.Thing("Donut"), ada.Thing("Draft")
		stl, png := servertest.Mesh(t, "numpystl_HalfDonut_bin.stl"), servertest.Mesh(t, "lib3mf_thumbnail.png")
		for _, id := range []int64{thing, draft} {
			model, photo := ada.Upload("donut.stl", stl), ada.Upload("photo.png", png)
			ada.Finalize("thing", id, model, photo).Want(t, 200)
			servertest.Settled(t, ada, model)
			servertest.Settled(t, ada, photo)
		}
		ada.Publish(thing).Want(t, 200)
		var made struct {
			CreateMake struct{ Make struct{ ID string } }
		}
		ada.Query(`mutation ($id: ID!) { createMake(input: {thingId: $id}) { make { id } } }`,
			servertest.Object{"id": servertest.ID(thing)}, &made)
		var makeID int64
		_, _ = fmt.Sscan(made.CreateMake.Make.ID, &makeID)
		ada.Finalize("make", makeID, ada.Upload("made.png", png)).Want(t, 200)

		type image struct {
			ID  int64
			URL string
		}
		for path, want := range map[string]int{
			fmt.Sprintf("/things/%d/images", thing): 2, fmt.Sprintf("/things/%d/images", draft): 2,
			fmt.Sprintf("/copies/%d/images", makeID): 1,
		} {
			var images []image
			ada.Get(path).Want(t, 200, &images)
			if len(images) != want {
				t.Fatalf("%s: %d images, want %d", path, len(images), want)
			}
			for _, i := range images {
				if got := http.DetectContentType(servertest.Fetch(t, s, i.URL)); got != "image/png" && got != "image/webp" {
					t.Errorf("%s: the URL %s without a token leads to %s", path, i.URL, got)
				}
				if own := fmt.Sprintf("%s/things/%d/images/%d", s.URL, thing, i.ID); strings.Contains(path,
					fmt.Sprint("/things/", thing)) && i.URL != own {
					t.Errorf("%s: URL %s, want %s", path, i.URL, own)
				}
			}
		}
		var images []image
		ada.Get(fmt.Sprintf("/things/%d/images", thing)).Want(t, 200, &images)
		var one image
		if ada.Get(images[0].URL).Want(t, 200, &one); one.ID != images[0].ID {
			t.Errorf("with a token, the URL of image %d returns image %d", images[0].ID, one.ID)
		}
		s.Administrator().Query(`mutation ($id: ID!) { featureThing(input: {id: $id}) { thing { id } } }`,
			servertest.Object{"id": servertest.ID(thing)}, new(any))
		var featured []struct {
			Spotlight struct{ Large string } `json:"spotlight_images"`
		}
		ada.Get("/featured").Want(t, 200, &featured)
		if large := featured[0].Spotlight.Large; !strings.Contains(large, "/preview_featured.") ||
			len(servertest.Fetch(t, s, large)) == 0 {
			t.Errorf("the spotlight image is %s, want the rendition for featured things", large)
		}
		ada.Get(fmt.Sprintf("/things/%d/images", draft)).Want(t, 200, &images)
		nobody, invalid := s.Client(""), s.Client("meshyard_unknown")
		for _, path := range []string{fmt.Sprintf("/things/%d/images/%d", draft, images[0].ID),
			fmt.Sprintf("/things/%d/images/999", thing), fmt.Sprintf("/things/%d/images", thing), "/things/999/images/1"} {
			nobody.Get(path).Want(t, 401)
		}
		ada.Get(fmt.Sprintf("/things/%d/images", thing)).Want(t, 200, &images)
		invalid.Get(images[0].URL).Want(t, 401)
	}, servertest.Derives)
}
