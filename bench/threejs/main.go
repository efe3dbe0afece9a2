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
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode"
	"github.com/meshyard/meshyard/internal/mesh/meshtest"
	"github.com/meshyard/meshyard/internal/mesh/write/threejs"
)

const (
	timeRatio   = 0.2 // maximum time of Meshyard relative to three.js
	memoryRatio = 0.1 // the same for memory
	script      = "internal/mesh/write/threejs/testdata/convert.mjs"
)

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
	var took, memory [2][]float64 // ms and KiB, of Meshyard and of three.js
	for range pairs {
		for side, c := range []*exec.Cmd{exec.Command(self, "-convert", stl, out),
			exec.Command("node", "--max-old-space-size=8192", script, stl, out)} {
			c.Stderr = os.Stderr
			text, err := c.Output()
			if err != nil {
				return fmt.Errorf("%v: %w", c.Args, err)
			}
			var ms, bytes float64 // the command prints its duration and its peak memory
			if _, err := fmt.Sscan(string(text), &ms, &bytes); err != nil {
				return fmt.Errorf("%v printed %q: %w", c.Args, text, err)
			}
			took[side], memory[side] = append(took[side], ms), append(memory[side], bytes/(1<<20))
		}
	}
	fmt.Printf("%d triangles of STL to three.js JSON, medians of %d\n", triangles, pairs)
	for _, f := range []struct {
		name   string
		of     [2][]float64
		target float64
	}{{"ms", took, timeRatio}, {"MiB", memory, memoryRatio}} {
		a, b := median(f.of[0]), median(f.of[1])
		outcome := "met"
		if a/b > f.target {
			outcome = "MISSED"
		}
		fmt.Printf("  Meshyard %.0f %s, three.js %.0f %s, ratio %.3f, target ≤ %.1f: %s\n", a, f.name, b, f.name, a/b,
			f.target, outcome)
	}
	return nil
}

func median(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
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
	m, err := decode.Decode(context.Background(), decode.Source{ReaderAt: in, Size: info.Size(), Name: from},
		mesh.DefaultLimits, nil)
	if err != nil {
		return err
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	err = threejs.Write(out, m.Shaded(mesh.CreaseAngle), threejs.Options{Triangles: m.Triangles()})
	if err := errors.Join(err, out.Close()); err != nil {
		return err
	}
	took := time.Since(start)
	most, err := peak()
	fmt.Println(took.Milliseconds(), most)
	return err
}

// peak returns the peak resident memory of this process in bytes. The value that the kernel reports
// to the parent includes the memory that the parent used when it started this process.
func peak() (kib int64, err error) {
	text, err := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	if err == nil {
		_, err = fmt.Sscan(rest, &kib)
	}
	return kib << 10, err
}
