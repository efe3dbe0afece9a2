// Package cad converts CAD files to meshes with a program of the operator, such as gmsh. The
// program is not part of Meshyard, and a hostile file may take it over, so it runs in a sandbox: it
// has no network, can read only the programs and libraries of the system, can write only to a
// folder of its own, can send no signals, and has limited memory, CPU time and disk space.
package cad

import (
	"errors"
	"fmt"
	"os/exec"
	"path"
	"slices"
	"strings"

	"github.com/meshyard/meshyard/internal/mesh"
)

// Format is a CAD file format, written as its usual extension in lower case.
type Format string

// The formats that a converter is used for.
const (
	STEP Format = "step"
	IGES Format = "iges"
	BREP Format = "brep"
)

// formats maps extensions to formats.
var formats = map[string]Format{".step": STEP, ".stp": STEP, ".iges": IGES, ".igs": IGES, ".brep": BREP, ".brp": BREP}

// FormatOf returns the format for the extension of a file name, ignoring case, or "" if it is not
// the extension of a CAD format.
func FormatOf(name string) Format { return formats[strings.ToLower(path.Ext(name))] }

// Known reports whether f is one of the formats.
func (f Format) Known() bool { return f == STEP || f == IGES || f == BREP }

// Title returns the name of the format for messages, such as STEP.
func (f Format) Title() string { return strings.ToUpper(string(f)) }

// Converter is a command that converts a CAD file to a mesh.
type Converter struct {
	// Words are the program and its arguments, with {input} and {output.FORMAT}.
	Words  []string
	Output mesh.Format // the format of the result
}

const input = "{input}"

// outputs are the formats that a converter may write.
var outputs = []mesh.Format{mesh.STL, mesh.GLB, mesh.OBJ, mesh.PLY, mesh.ThreeMF}

// placeholder returns the placeholder for the path of a result in a format.
func placeholder(f mesh.Format) string { return "{output." + string(f) + "}" }

// Parse reads a command such as "gmsh {input} -2 -format stl -bin -o {output.stl}". Its words are
// separated by spaces. It returns an error if the command does not name the input and one output.
func Parse(command string) (*Converter, error) {
	words := strings.Fields(command)
	found := slices.DeleteFunc(slices.Clone(outputs),
		func(f mesh.Format) bool { return !strings.Contains(command, placeholder(f)) })
	switch {
	case len(words) == 0:
		return nil, errors.New("must be a command")
	case strings.Contains(words[0], "{"):
		return nil, errors.New("must begin with a program")
	case !strings.Contains(command, input):
		return nil, fmt.Errorf("must contain %s, which is replaced by the path of the CAD file", input)
	case len(found) != 1:
		return nil, errors.New(
			"must contain one of {output.stl}, {output.glb}, {output.obj}, {output.ply} and {output.3mf}, which is replaced by the path of the mesh to write")
	}
	return &Converter{Words: words, Output: found[0]}, nil
}

// Check returns an error if the converter cannot run on this system: its program is missing, or the
// system has no sandbox.
func (c *Converter) Check() error {
	if _, err := exec.LookPath(c.Words[0]); err != nil {
		return fmt.Errorf("the program %q is not installed, or not executable", c.Words[0])
	}
	return sandboxed()
}

// command returns the words with the paths of the input and the output.
func (c *Converter) command(in, out string) []string {
	paths := strings.NewReplacer(input, in, placeholder(c.Output), out)
	words := make([]string, len(c.Words))
	for i, word := range c.Words {
		words[i] = paths.Replace(word)
	}
	return words
}
