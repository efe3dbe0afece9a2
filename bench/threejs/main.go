// Command threejs compares the conversion of an STL file to three.js JSON with three.js itself
// (STLLoader, toJSON and JSON.stringify) in Node.js. Both run as separate processes, in alternating
// turns, on the same file. The command prints the ratios of the median times, without process
// start, and of the median peak memory, and whether they reach their targets. It needs Linux,
// Node.js, and the packages that make bench-threejs installs.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/meshyard/meshyard/bench/peak"
	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode"
	"github.com/meshyard/meshyard/internal/mesh/meshtest"
	"github.com/meshyard/meshyard/internal/mesh/write/threejs"
)

// The targets: the maximum time and memory of Meshyard relative to three.js.
const (
	timeRatio   = 0.2
	memoryRatio = 0.1
)

const script = "internal/mesh/write/threejs/testdata/convert.mjs"

func main() {
	triangles := flag.Int("triangles", 1_000_000, "of the STL file")
	pairs := flag.Int("pairs", 5, "number of turns")
	convert := flag.Bool("convert", false, "internal: convert one file to another")
	flag.Parse()
	err := error(nil)
	if *convert {
		err = measured(flag.Arg(0), flag.Arg(1))
	} else {
		err = compare(*triangles, *pairs)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// figures are the results of one run.
type figures struct {
	took   time.Duration
	memory int64 // peak memory in bytes
}

func compare(triangles, pairs int) error {
	dir, err := os.MkdirTemp("", "meshyard-threejs-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	stl, out := filepath.Join(dir, "a.stl"), filepath.Join(dir, "a.json")
	if err := os.WriteFile(stl, meshtest.SphereSTL(triangles), 0o600); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var ours, theirs []figures
	for range pairs {
		f, err := run(exec.Command(self, "-convert", stl, out))
		if err != nil {
			return err
		}
		ours = append(ours, f)
		if f, err = run(exec.Command("node", "--max-old-space-size=8192", script, stl, out)); err != nil {
			return err
		}
		theirs = append(theirs, f)
	}
	a, b := median(ours), median(theirs)
	const mib = 1 << 20
	fmt.Printf("%d triangles of STL to three.js JSON, median of %d\n", triangles, pairs)
	fmt.Printf("  Meshyard  %8v %6d MiB\n", a.took, a.memory/mib)
	fmt.Printf("  three.js  %8v %6d MiB\n", b.took, b.memory/mib)
	took, memory := float64(a.took)/float64(b.took), float64(a.memory)/float64(b.memory)
	fmt.Printf("  ratio     %8.3f %9.3f\n", took, memory)
	fmt.Printf("  target   ≤%8.3f %9.3f   %s, %s\n", timeRatio, memoryRatio, outcome(took <= timeRatio), outcome(memory <= memoryRatio))
	return nil
}

func outcome(met bool) string {
	if met {
		return "met"
	}
	return "MISSED"
}

// run runs a command that prints its duration in milliseconds and its peak memory in bytes.
func run(c *exec.Cmd) (f figures, err error) {
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return f, fmt.Errorf("%v: %w", c.Args, err)
	}
	ms := int64(0)
	if _, err := fmt.Sscan(string(out), &ms, &f.memory); err != nil {
		return f, fmt.Errorf("%v printed %q: %w", c.Args, out, err)
	}
	f.took = time.Duration(ms) * time.Millisecond
	return f, nil
}

func median(all []figures) (m figures) {
	slices.SortFunc(all, func(a, b figures) int { return int(a.took - b.took) })
	m.took = all[len(all)/2].took
	slices.SortFunc(all, func(a, b figures) int { return int(a.memory - b.memory) })
	m.memory = all[len(all)/2].memory
	return m
}

// measured converts a file as the server does, and prints the duration in milliseconds and the peak
// memory in bytes.
func measured(from, to string) error {
	start := time.Now()
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	m, err := decode.Decode(context.Background(), decode.Source{ReaderAt: in, Size: info.Size(), Name: from}, mesh.DefaultLimits, nil)
	if err != nil {
		return err
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer out.Close()
	if err := write(out, m); err != nil {
		return err
	}
	took := time.Since(start)
	most, err := peak.Self()
	fmt.Println(took.Milliseconds(), most)
	return errors.Join(err, out.Close())
}

func write(w io.Writer, m *mesh.Mesh) error {
	triangles := m.Triangles()
	return threejs.Write(w, m.Shaded(mesh.CreaseAngle), threejs.Options{Triangles: triangles})
}
