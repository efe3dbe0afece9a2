package viewer

import (
	"strings"
	"testing"

	"github.com/meshyard/meshyard/internal/web/assets/assetstest"
)

func TestAssets(t *testing.T) {
	t.Parallel()
	assetstest.Check(t, files(), func(name string) bool { return strings.HasPrefix(name, "viewer/") })
}
