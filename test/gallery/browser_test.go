//go:build browser

package gallery_test

import (
	"os"
	"testing"

	"github.com/meshyard/meshyard/internal/web/graphiql/graphiqltest"
	"github.com/meshyard/meshyard/test/servertest"
)

// TestMain ends the browser that the tests share.
func TestMain(m *testing.M) { os.Exit(graphiqltest.Main(m)) }

// TestBrowserGraphiQL checks that GraphiQL of the complete server works without network access,
// shows the documentation and runs an example.
func TestBrowserGraphiQL(t *testing.T) {
	s := servertest.Start(t, "sqlite")
	ada := s.User("ada")
	picture := graphiqltest.Drive(t, s.URL, ada.Token)
	if path := os.Getenv("MESHYARD_TEST_SCREENSHOT"); path != "" {
		if err := os.WriteFile(path, picture, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
