package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode"
	"github.com/meshyard/meshyard/internal/mesh/meshtest"
	"github.com/meshyard/meshyard/internal/mesh/render"
	"github.com/meshyard/meshyard/internal/thumbnail"
)

const (
	drawnSide = 512 // pixels
	drawRatio = 0.35
)

// compareRendering renders a file of a million triangles in turns with f3d, each from process start
// to the written PNG on one processor, and then meshes of other sizes, where each triangle should
// take about the same time.
func compareRendering(ctx context.Context, o options) error {
	for _, program := range []string{"f3d", "Xvfb", "taskset"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%s is not installed (apt-get install f3d xvfb util-linux)", program)
		}
	}
	display, stop, err := startDisplay(ctx)
	if err != nil {
		return err
	}
	defer stop()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	file := func(triangles int) (string, error) {
		path := filepath.Join(o.dir, fmt.Sprintf("%d.stl", triangles))
		return path, os.WriteFile(path, meshtest.SphereSTL(triangles), 0o600)
	}
	million, err := file(1_000_000)
	if err != nil {
		return err
	}
	out := filepath.Join(o.dir, "out.png")
	ours := func(path string) []string { return []string{"taskset", "-c", "0", self, "-draw", path, out} }
	theirs := []string{"env", "DISPLAY=" + display, "taskset", "-c", "0", "f3d", "--output", out, "--resolution", fmt.Sprintf("%d,%d", drawnSide, drawnSide), million}
	var times, memory [2]series
	for i := -1; i < o.pairs; i++ { // the first turn is a warm-up
		for _, side := range inTurns(i+1, 0, 1) {
			command := ours(million)
			if side == 1 {
				command = theirs
			}
			seconds, mib, err := timed(ctx, command)
			if err != nil {
				return err
			}
			if i >= 0 {
				times[side], memory[side] = append(times[side], seconds), append(memory[side], mib)
			}
		}
	}
	t := newTable("a file of a million triangles to a PNG of %d×%d on one processor; %d turns", drawnSide, drawnSide, o.pairs)
	t.row("A  ours, s", "%.2f", times[0])
	t.row("B  f3d, s", "%.2f", times[1])
	t.atMost("A/B", "%.2f", times[0].over(times[1]), drawRatio)
	t.row("A  peak memory, MiB", "%.0f", memory[0])
	t.print()

	t = newTable("the same of other sizes")
	for _, triangles := range []int{10_000, 100_000, 1_000_000, 5_000_000} {
		path, err := file(triangles)
		if err != nil {
			return err
		}
		seconds, mib, err := timed(ctx, ours(path))
		if err != nil {
			return err
		}
		t.row(fmt.Sprintf("%d triangles, ns for each", triangles), "%.0f", series{seconds * 1e9 / float64(triangles)})
		t.row(fmt.Sprintf("%d triangles, peak memory, MiB", triangles), "%.0f", series{mib})
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	t.print()
	return nil
}

// startDisplay starts a virtual display, which f3d needs, and returns its name.
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

// timed runs a command and returns its duration and its peak memory.
func timed(ctx context.Context, command []string) (seconds, mib float64, err error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	began := time.Now()
	if text, err := cmd.CombinedOutput(); err != nil {
		return 0, 0, fmt.Errorf("%v: %w: %.500s", command, err, text)
	}
	seconds = time.Since(began).Seconds()
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		mib = float64(usage.Maxrss) / 1024
	}
	return seconds, mib, nil
}

// drawFile renders a file like the server, as a separate process.
func drawFile(ctx context.Context, path, out string) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	m, err := decode.Decode(ctx, decode.Source{ReaderAt: f, Size: info.Size(), Name: path}, mesh.DefaultLimits, nil)
	if err != nil {
		return err
	}
	img, err := render.Render(ctx, m, render.Options{Width: drawnSide, Height: drawnSide})
	if err != nil {
		return err
	}
	to, err := os.Create(out)
	if err != nil {
		return err
	}
	return errors.Join(thumbnail.Encode(to, img, thumbnail.PNG), to.Close())
}
