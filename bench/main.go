// Command bench compares the server with minimal programs that do the same work, and with another
// build of the server.
//
// Each comparison runs the contenders as separate processes, in alternating turns. It prints
// ratios, because absolute numbers depend on the machine and its other load. The bare handlers
// check no tokens and no permissions, log nothing and use the database driver directly.
//
// To compare a change with the commit before it, by the requests that people send:
//
//	go run ./internal/pgtest/with -- go run ./bench -only requests -before ./meshyard-before
//
// It needs Linux, because it reads /proc, and a PostgreSQL server, as described in package pgtest.
// The exit status is 0 if everything was measured: people evaluate the results.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// options are the values of the flags.
type options struct {
	place       string        // folder on a disk that contains dir
	dir         string        // folder for all files of the run, accessible only to the current user
	server      string        // the binary to measure
	before      string        // another binary to compare it with; "": none
	size        int64         // bytes of an upload
	pairs       int           // number of turns of each contender
	round       time.Duration // duration of one turn of requests
	connections []int         // numbers of concurrent connections
	grown       int           // things that are added through the API
	things      int           // things that are imported; 0: the default of each comparison
	rows        string        // part of the names of the rows of requests; "": all
	withPeers   bool          // whether requests includes PostGraphile
}

func main() {
	var o options
	var only string
	mib := flag.Int64("size", 1024, "`MiB` of the upload")
	flag.IntVar(&o.pairs, "pairs", 15, "number of turns of each contender")
	flag.DurationVar(&o.round, "round", 250*time.Millisecond, "duration of one turn of requests")
	connections := flag.String("connections", "16",
		"numbers of concurrent keep-alive connections: a `list` such as 1,16,64 prints a table for each")
	flag.StringVar(&only, "only", "",
		"`comparison` to run: requests, requests-postgres, requests-sqlite, upload, million, million-postgres, million-sqlite; default all but those of a million things")
	flag.StringVar(&o.rows, "rows", "", "`part` of the names of the rows of requests; default all")
	flag.BoolVar(&o.withPeers, "peers", true, "whether requests includes PostGraphile")
	flag.IntVar(&o.grown, "grown", 300, "things that requests adds through the API")
	flag.IntVar(&o.things, "things", 0,
		"things that are imported, by default 10,000 for requests, a million on PostgreSQL and 100,000 on SQLite for million")
	flag.StringVar(&o.server, "server", "", "meshyard binary `file`; built by default")
	flag.StringVar(&o.before, "before", "", "another meshyard binary `file` that requests measures in the same turns")
	flag.StringVar(&o.place, "dir", defaultPlace(), "`folder` on a disk for temporary files and databases")
	bare := flag.String("bare", "", "internal: run as a bare handler")
	flag.Parse()
	o.size = *mib << 20
	for number := range strings.SplitSeq(*connections, ",") {
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 {
			fmt.Fprintf(os.Stderr, "bench: -connections %s: must be numbers above 0, separated by commas\n", *connections)
			os.Exit(2)
		}
		o.connections = append(o.connections, n)
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// If the reader of the output exits, servers and folders must still be cleaned up.
	signal.Ignore(syscall.SIGPIPE)
	var err error
	switch {
	case *bare != "":
		err = serveBare(ctx, *bare, flag.Args())
	default:
		err = run(ctx, o, only)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// defaultPlace returns /var/tmp unless TMPDIR is set, because /var/tmp is on a disk where /tmp may
// be in memory.
func defaultPlace() string {
	if info, err := os.Stat("/var/tmp"); os.Getenv("TMPDIR") == "" && err == nil && info.IsDir() {
		return "/var/tmp"
	}
	return os.TempDir()
}

func run(ctx context.Context, o options, only string) (err error) {
	comparisons := []struct {
		name string
		run  func(context.Context, options) error
	}{
		{"requests-postgres", func(ctx context.Context, o options) error { return compareRequests(ctx, o, postgres) }},
		{"requests-sqlite", func(ctx context.Context, o options) error { return compareRequests(ctx, o, sqlite) }},
		{"upload", compareUploads},
		{"million-postgres", func(ctx context.Context, o options) error {
			return compareSizes(ctx, o, postgres, cmp.Or(o.things, 1_000_000))
		}},
		{"million-sqlite", func(ctx context.Context, o options) error {
			return compareSizes(ctx, o, sqlite, cmp.Or(o.things, 100_000))
		}},
	}
	if o.dir, err = os.MkdirTemp(o.place, "meshyard-bench-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(o.dir)) }()
	if o.server == "" {
		o.server = filepath.Join(o.dir, "meshyard")
		// Use the linker flags of releases. Without them, the linker writes a file of which the kernel
		// maps 5 MB more into the memory of the process.
		build := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-ldflags", "-s -w", "-o", o.server,
			"github.com/meshyard/meshyard/cmd/meshyard")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return fmt.Errorf("build the server: %w", err)
		}
	}
	ran := false
	for _, c := range comparisons {
		group, _, _ := strings.Cut(c.name, "-")
		if only != "" && only != c.name && only != group || only == "" && group == "million" {
			continue
		}
		ran = true
		own := o
		own.dir = filepath.Join(o.dir, c.name)
		if err := os.Mkdir(own.dir, 0o750); err != nil {
			return err
		}
		if err := c.run(ctx, own); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	if !ran {
		return fmt.Errorf("-only %s: see -help", only)
	}
	return nil
}
