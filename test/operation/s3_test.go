package operation_test

import (
	"fmt"
	"testing"

	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/test/servertest"
)

// The credentials of all fake S3 servers. Parallel tests cannot set environment variables.
// TestUploadAndDownloadRealMeshesOnS3 runs the main job with an S3 bucket, and checks that
// downloads redirect to a URL of the bucket.
func TestUploadAndDownloadRealMeshesOnS3(t *testing.T) {
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			address := servertest.FakeS3(t)
			s := servertest.Start(t, engine, func(c *config.Settings) { c.BucketURL = address })
			ada := s.User("ada")
			thing := ada.Thing("One")
			stl := servertest.Mesh(t, "numpystl_HalfDonut_bin.stl")
			id := ada.Upload("donut.stl", stl)
			twin := ada.Upload("twin.stl", stl)
			ada.Finalize("thing", thing, id, twin).Want(t, 200)
			ada.Publish(thing).Want(t, 200)
			to := ada.Get(fmt.Sprintf("/files/%d/download", id)).Want(t, 302).Header.Get("Location")
			nobody := s.Client("")
			signed := nobody.Get(to).Want(t, 302).Header.Get("Location")
			if got := string(nobody.Get(signed).Want(t, 200).Bytes); got != string(stl) {
				t.Errorf("%d bytes came back, want %d", len(got), len(stl))
			}
			left := ada.Upload("left.stl", stl)
			if r := ada.GraphQL(`mutation ($id: ID!) { deletePendingUpload(input: {id: $id}) { deletedId } }`,
				map[string]any{"id": left}); r.Code() != "" {
				t.Errorf("%+v", r.Errors)
			}
			servertest.NothingLeft(t, s, 2)
		})
	}
}
