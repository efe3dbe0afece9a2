package child

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/meshyard/meshyard/internal/preview/cad"
)

// convert makes cmd convert its file first. The caller calls remove after cmd has ended.
func (r Runner) convert(cmd *exec.Cmd, format cad.Format) (remove func(), err error) {
	if r.Converter == nil {
		return nil, errors.New("no CAD converter is set")
	}
	words := slices.Clone(r.Converter.Words)
	if words[0], err = exec.LookPath(words[0]); err == nil {
		words[0], err = filepath.Abs(words[0])
	}
	if err != nil {
		return nil, fmt.Errorf("find the CAD converter: %w", err)
	}
	folder, err := cad.NewFolder()
	if err != nil {
		return nil, fmt.Errorf("create a folder for the CAD converter: %w", err)
	}
	job, err := json.Marshal(cad.Job{Words: words, Output: r.Converter.Output, Format: format, Folder: folder,
		Memory: r.Memory, CPU: r.CPU})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	cmd.Args = append(cmd.Args, string(job))
	ownGroup(cmd)
	return func() { _ = os.RemoveAll(folder) }, nil
}
