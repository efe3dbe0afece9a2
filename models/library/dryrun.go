package library

import (
	"context"
	"fmt"
	"os"

	"github.com/meshyard/meshyard/internal/layout"
)

// DryRun calls visit with what each place of a library would become. It reads the folder only.
func (s *Store) DryRun(ctx context.Context, name string, visit func(layout.Result) error) error {
	folder, err := s.folder(name)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(folder.Dir)
	if err != nil {
		return fmt.Errorf("library %s: %w", name, err)
	}
	defer root.Close()
	t, err := walk(ctx, root)
	if err != nil {
		return fmt.Errorf("library %s: %w", name, err)
	}
	return layout.Visit(ctx, source{root}, layout.Places(t.folders[""], folder.layout()), folder.layout(), visit)
}
