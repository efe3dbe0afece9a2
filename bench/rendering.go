package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/meshtest"
	"github.com/meshyard/meshyard/internal/preview"
	previewchild "github.com/meshyard/meshyard/internal/preview/child"
)

const (
	drawnSide   = 512  // pixels, as in bench/draw
	drawRatio   = 0.25 // maximum time relative to f3d
	drawMemory  = 200  // MiB for five million triangles
	flatRatio   = 1.5  // maximum cost of a triangle relative to one of a million
	fixedSample = 1000 // triangles of a mesh whose cost is that of the process and the image
)

// compareRendering renders a file of a million triangles with the server's renderer and with f3d,
// in alternating turns, each on one CPU. It measures the time from the start of the process to the
// written PNG. Then it renders meshes of other sizes.
func compareRendering(ctx context.Context, o options) error {
	for _, program := range []string{"f3d", "Xvfb", "taskset"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%s is not installed (apt-get install f3d xvfb util-linux)", program)
		}
	}
	draw := filepath.Join(o.dir, "draw")
	build := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", draw, "github.com/meshyard/meshyard/bench/draw")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("build bench/draw: %w", err)
	}
	display, stop, err := startDisplay(ctx)
	if err != nil {
		return err
	}
	defer stop()
	sizes := []int{fixedSample, 10_000, 100_000, 1_000_000, 5_000_000}
	files := make(map[int]string)
	for _, triangles := range sizes {
		files[triangles] = filepath.Join(o.dir, fmt.Sprintf("%d.stl", triangles))
		if err := os.WriteFile(files[triangles], meshtest.SphereSTL(triangles), 0o600); err != nil {
			return err
		}
	}
	out := filepath.Join(o.dir, "out.png")
	ours := func(triangles int) []string { return []string{"taskset", "-c", "0", draw, files[triangles], out} }
	theirs := []string{"env", "DISPLAY=" + display, "taskset", "-c", "0", "f3d", "--output", out, "--resolution", fmt.Sprintf("%d,%d", drawnSide, drawnSide), files[1_000_000]}
	var times [2]series
	for i := -1; i < o.pairs; i++ { // the first turn is a warm-up
		for _, side := range inTurns(i+1, 0, 1) {
			command := ours(1_000_000)
			if side == 1 {
				command = theirs
			}
			m, err := timed(ctx, command)
			if err != nil {
				return err
			}
			if i >= 0 {
				times[side] = append(times[side], m.seconds)
			}
		}
	}
	t := newTable("a file of a million triangles to a PNG of %d×%d on one processor; %d turns", drawnSide, drawnSide, o.pairs)
	t.row("A  ours, s", "%.2f", times[0])
	t.row("B  f3d, s", "%.2f", times[1])
	t.atMost("A/B", "%.2f", times[0].over(times[1]), drawRatio)
	t.print()

	if err := costOfTriangles(ctx, o, sizes, ours); err != nil {
		return err
	}
	return startPreviews(ctx, o, files[fixedSample])
}

// costOfTriangles prints the processor time of rendering as a fixed part and a cost for each
// triangle beyond it. All meshes are the same body and cover the same samples of the image, so the
// cost of covering and shading them is in the fixed part. It is measured with the first of sizes.
func costOfTriangles(ctx context.Context, o options, sizes []int, command func(triangles int) []string) error {
	took, memory := make(map[int]series), make(map[int]series)
	for i := range o.pairs {
		order := slices.Clone(sizes)
		if i%2 == 1 {
			slices.Reverse(order)
		}
		for _, triangles := range order {
			runs := 1
			if triangles <= 100_000 {
				runs = 5 // one run varies more than the times of two small meshes differ
			}
			var cpu, peak series
			for range runs {
				m, err := timed(ctx, command(triangles))
				if err != nil {
					return err
				}
				cpu, peak = append(cpu, m.cpu), append(peak, float64(m.printed)/(1<<20))
			}
			took[triangles] = append(took[triangles], cpu.median())
			memory[triangles] = append(memory[triangles], slices.Max(peak))
		}
	}
	fixed, million := sizes[0], 1_000_000
	each := func(triangles int) series { // ns
		return took[triangles].minus(took[fixed]).over(slices.Repeat(series{float64(triangles-fixed) / 1e9}, o.pairs))
	}
	t := newTable("processor time; the fixed part is that of %d triangles, which cover the same samples; %d turns", fixed, o.pairs)
	t.row("fixed part, ms", "%.1f", took[fixed].over(slices.Repeat(series{1e-3}, o.pairs)))
	for _, triangles := range sizes[1:] {
		t.row(fmt.Sprintf("%d triangles, ns for each beyond the fixed part", triangles), "%.0f", each(triangles))
	}
	for _, triangles := range sizes[1:] {
		if triangles < million {
			t.atMost(fmt.Sprintf("%d triangles, each / each of %d", triangles, million), "%.2f", each(triangles).over(each(million)), flatRatio)
		}
	}
	for _, triangles := range sizes {
		name := fmt.Sprintf("%d triangles, peak memory, MiB", triangles)
		if triangles == 5_000_000 {
			t.atMost(name, "%.0f", memory[triangles], drawMemory)
		} else {
			t.row(name, "%.0f", memory[triangles])
		}
	}
	t.print()
	return nil
}

// startPreviews compares complete previews of a small mesh in child processes, as the server
// generates them, with the same in this process. The child runs this program, which contains the
// packages of the server.
func startPreviews(ctx context.Context, o options, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	discard := func(_ preview.Part, write func(io.Writer) error) error { return write(io.Discard) }
	silent := func(string, float64) {}
	var here, child series
	for i := -1; i < o.pairs; i++ { // the first turn is a warm-up
		began := time.Now()
		if _, err := preview.Derive(ctx, preview.Source{ReaderAt: f, Size: info.Size()}, "stl", mesh.DefaultLimits, discard, silent); err != nil {
			return err
		}
		middle := time.Now()
		if _, _, err := (previewchild.Runner{}).Derive(ctx, f, "stl", discard, silent); err != nil {
			return err
		}
		if i >= 0 {
			here = append(here, middle.Sub(began).Seconds()*1000)
			child = append(child, time.Since(middle).Seconds()*1000)
		}
	}
	t := newTable("a whole preview of %d triangles; %d turns", fixedSample, o.pairs)
	t.row("in this process, ms", "%.0f", here)
	t.row("in a child process, as in the server, ms", "%.0f", child)
	t.row("the difference, ms", "%.0f", child.minus(here))
	t.print()
	return nil
}

// startDisplay starts a virtual X display, which f3d needs, and returns its name.
func startDisplay(ctx context.Context) (name string, stop func(), err error) {
	cmd := exec.CommandContext(ctx, "Xvfb", "-displayfd", "1", "-screen", "0", "640x640x24", "-nolisten", "tcp")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	number := ""
	if _, err := fmt.Fscan(out, &number); err != nil {
		stop()
		return "", nil, fmt.Errorf("start the display: %w", err)
	}
	return ":" + number, stop, nil
}

// measured is what a command used.
type measured struct {
	seconds, cpu float64 // from start to end, and of processor time
	printed      int64   // the number that the command printed, or 0 if it printed none
}

// timed runs a command and measures it.
func timed(ctx context.Context, command []string) (m measured, err error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	began := time.Now()
	text, err := cmd.CombinedOutput()
	if err != nil {
		return m, fmt.Errorf("%v: %w: %.500s", command, err, text)
	}
	m.seconds = time.Since(began).Seconds()
	m.cpu = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	m.printed, _ = strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64) // f3d prints none
	return m, nil
}
