package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/meshyard/meshyard/internal/mesh/meshtest"
	"github.com/meshyard/meshyard/models"
)

const (
	slowClients   = 10_000
	uploadsAtOnce = 64
	slowLatency   = 2.0   // median latency relative to the latency without load
	slowMemory    = 512.0 // MiB
	// crowdLasts is how long the crowds run before the measurement. It is longer than the time that a
	// server waits for a request header.
	crowdLasts = 15 * time.Second
)

// measureSlowClients measures the latency of other requests under three loads. In the first, ten
// thousand slow clients send one byte a second, of request headers, queries and uploads. In the
// second, many clients upload large files. The third is both together. It also measures the memory
// of the server, and whether everything recovers afterwards. The rate limit is off, because it is
// not the protection against slow clients.
func measureSlowClients(ctx context.Context, o options) (err error) {
	a, token, err := openCatalogue(ctx, o, "")
	if err != nil {
		return err
	}
	caller, err := a.Store.Authenticate(ctx, token)
	if err == nil {
		_, err = a.Store.Upload(ctx, caller, models.NewUpload{Name: "ball.stl", Bytes: bytes.NewReader(meshtest.SphereSTL(100))})
	}
	if err = errors.Join(err, a.Close()); err != nil {
		return err
	}
	server, err := startServer(ctx, o, "--upload-limit", fmt.Sprintf("%dMiB", o.size>>20+1))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	generator, err := newLoadGenerator(server.address, 2, func(int) []byte {
		return request{http.MethodGet, "/files/1", ""}.text(server.address, token)
	})
	if err != nil {
		return err
	}
	defer generator.close()
	if _, err := generator.run(ctx, o.round/2); err != nil { // warm-up
		return err
	}
	alone, err := generator.run(ctx, 2*o.round)
	if err != nil {
		return err
	}
	idle, err := server.usage()
	if err != nil {
		return err
	}
	slow := []string{"slow", server.address, token, fmt.Sprint(slowClients)}
	uploads := []string{"uploads", server.address, token, fmt.Sprint(uploadsAtOnce), fmt.Sprint(o.size)}
	t := newTable("GET /files/{id} by 2 connections, alone and under load; %d MiB each upload", o.size>>20)
	t.row("median alone, ms", "%.2f", milliseconds(alone.median))
	t.row("99th percentile alone, ms", "%.2f", milliseconds(alone.p99))
	t.row("memory alone, MiB", "%.0f", mebibytes(idle.rss))
	for _, crowd := range []struct {
		name string
		kind [][]string
	}{
		{fmt.Sprintf("with %d slow clients", slowClients), [][]string{slow}},
		{fmt.Sprintf("with %d uploads", uploadsAtOnce), [][]string{uploads}},
		{"with both", [][]string{slow, uploads}},
	} {
		loaded, peak, err := measureWithCrowd(ctx, server, generator, o, crowd.kind)
		if err != nil {
			return fmt.Errorf("%s: %w", crowd.name, err)
		}
		t.atMost(crowd.name+": median relative to alone", "%.2f", series{loaded.median.Seconds() / alone.median.Seconds()}, slowLatency)
		t.row(crowd.name+": 99th percentile, ms", "%.2f", milliseconds(loaded.p99))
		t.below(crowd.name+": peak memory, MiB", "%.0f", mebibytes(peak), slowMemory)
	}
	if err := sleep(ctx, crowdLasts); err != nil {
		return err
	}
	after, err := generator.run(ctx, 2*o.round)
	if err != nil {
		return err
	}
	left, err := filepath.Glob(filepath.Join(o.dir, "bucket", "pending", "*.tmp"))
	if err != nil {
		return err
	}
	connections, err := os.ReadDir(server.file("fd"))
	if err != nil {
		return err
	}
	t.row("median afterwards, relative to alone", "%.2f", series{after.median.Seconds() / alone.median.Seconds()})
	t.row("open files and connections afterwards", "%.0f", series{float64(len(connections))})
	t.atMost("unfinished files afterwards", "%.0f", series{float64(len(left))}, 0)
	t.print()
	return nil
}

func milliseconds(d time.Duration) series { return series{d.Seconds() * 1000} }
func mebibytes(n int64) series            { return series{float64(n) / (1 << 20)} }

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// measureWithCrowd measures requests while crowds run, and returns the peak memory of the server.
func measureWithCrowd(ctx context.Context, server *process, generator *loadGenerator, o options, crowds [][]string) (t turn, peak int64, err error) {
	self, err := os.Executable()
	if err != nil {
		return t, 0, err
	}
	server.resetPeak()
	for _, arguments := range crowds {
		// In reality these clients run on other machines. Here they have a low priority, so that they
		// leave the CPUs to the server and the measurement.
		crowd := exec.CommandContext(ctx, "nice", append([]string{"-n", "19", self, "-crowd"}, arguments...)...)
		crowd.Stderr = os.Stderr
		there, err := crowd.StdoutPipe()
		if err == nil {
			err = crowd.Start()
		}
		if err != nil {
			return t, 0, err
		}
		defer func() {
			_ = crowd.Process.Kill()
			_ = crowd.Wait()
		}()
		if _, err := there.Read(make([]byte, 1)); err != nil {
			return t, 0, fmt.Errorf("the crowd did not start: %w", err)
		}
	}
	if err := sleep(ctx, crowdLasts); err != nil {
		return t, 0, err
	}
	if t, err = generator.run(ctx, 2*o.round); err != nil {
		return t, 0, err
	}
	u, err := server.usage()
	return t, u.peak, err
}

// crowd runs this process as many clients until it is killed. It writes a byte to standard output
// when all clients are connected.
func crowd(ctx context.Context, kind string, arguments []string) error {
	address, token := arguments[0], arguments[1]
	var n int
	var size int64
	if _, err := fmt.Sscan(arguments[2], &n); err != nil {
		return err
	}
	if kind == "uploads" {
		if _, err := fmt.Sscan(arguments[3], &size); err != nil {
			return err
		}
		source := newSource()
		for range n {
			go func() {
				for ctx.Err() == nil {
					if _, err := source.upload(ctx, address, "/files/0/uploadFile", token, size); err != nil {
						fmt.Fprintln(os.Stderr, "bench: crowd:", err)
						time.Sleep(time.Second)
					}
				}
			}()
		}
		_, _ = io.WriteString(os.Stdout, "!")
		<-ctx.Done()
		return nil
	}
	return beSlow(ctx, address, token, n)
}
