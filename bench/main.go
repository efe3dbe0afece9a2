// Command bench compares the server with minimal programs that do the same work.
//
// Each comparison runs the real server (A) and a bare handler (B) as separate processes, in
// alternating turns. It prints the ratio of the two, because absolute numbers depend on the machine
// and its other load. The bare handlers are as fast as possible: they check no tokens and no
// permissions, log nothing and use the database driver directly.
//
// It needs Linux, because it reads /proc, and a PostgreSQL server, as described in package pgtest:
//
//	go run ./internal/pgtest/with -- go run ./bench
//
// The exit status is 0 if everything was measured, even if targets are missed: people evaluate the
// results.
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
	place     string        // folder on a disk that contains dir
	dir       string        // folder for all files of the run, accessible only to the current user
	server    string        // the binary to measure
	size      int64         // bytes of an upload
	pairs     int           // number of turns of A and B
	round     time.Duration // duration of one turn of requests
	conns     int           // concurrent connections
	files     int           // number of rows to request
	things    int           // in large catalogues; 0: the default of each comparison
	search    time.Duration // duration of the random search of amplification
	seed      uint64        // of the random search
	probes    string        // part of the names of the fields that amplification tries; "": all
	rows      string        // part of the names of the rows that peers measures; "": all
	withPeers bool          // whether the comparison peers includes PostGraphile
}

func main() {
	var o options
	var only string
	mib := flag.Int64("size", 1024, "`MiB` of the upload")
	flag.IntVar(&o.pairs, "pairs", 5, "number of turns of A and B")
	flag.DurationVar(&o.round, "round", 4*time.Second, "duration of one turn of requests")
	connections := flag.String("connections", "16", "concurrent keep-alive connections; a `list` such as 1,16,64 runs each comparison with each number")
	flag.IntVar(&o.files, "files", 10_000, "number of files to request")
	flag.StringVar(&only, "only", "", "one of: upload, peers, postgres, sqlite, listing-postgres, listing-sqlite, mixed-postgres, mixed-sqlite, hostile, amplification-postgres, amplification-sqlite, bombs, slow, size, rendering, previews-postgres, previews-sqlite, import, million-postgres, million-sqlite, million for the last two; default all but those")
	flag.DurationVar(&o.search, "search", 20*time.Second, "duration of the random search of amplification on each engine")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the random search")
	flag.StringVar(&o.probes, "probes", "", "`part` of the names of the fields that amplification tries")
	flag.StringVar(&o.rows, "rows", "", "`part` of the names of the rows that peers measures")
	flag.BoolVar(&o.withPeers, "peers", true, "whether the comparison peers includes PostGraphile")
	flag.IntVar(&o.things, "things", 0, "things in large catalogues; default a million on PostgreSQL, 100,000 on SQLite and for peers")
	flag.StringVar(&o.server, "server", "", "meshyard binary `file`; built by default")
	flag.StringVar(&o.place, "dir", defaultPlace(), "`folder` on a disk for temporary files and databases")
	bare := flag.String("bare", "", "internal: run as a bare handler")
	crowded := flag.String("crowd", "", "internal: run as many clients")
	flag.Parse()
	o.size = *mib << 20

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// If the reader of the output exits, servers and folders must still be cleaned up.
	signal.Ignore(syscall.SIGPIPE)
	var err error
	switch {
	case *bare != "":
		err = serveBare(ctx, *bare, flag.Args())
	case *crowded != "":
		err = crowd(ctx, *crowded, flag.Args())
	default:
		err = run(ctx, o, only, *connections)
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

func run(ctx context.Context, o options, only, connections string) (err error) {
	comparisons := []struct {
		name string
		run  func(context.Context, options) error
	}{
		{"upload", compareUploads},
		{"peers", comparePeers},
		{"postgres", func(ctx context.Context, o options) error { return compareFileInfo(ctx, o, postgres) }},
		{"sqlite", func(ctx context.Context, o options) error { return compareFileInfo(ctx, o, sqlite) }},
		{"listing-postgres", func(ctx context.Context, o options) error { return compareListings(ctx, o, postgres) }},
		{"listing-sqlite", func(ctx context.Context, o options) error { return compareListings(ctx, o, sqlite) }},
		{"mixed-postgres", func(ctx context.Context, o options) error { return compareMixedLoad(ctx, o, postgres) }},
		{"mixed-sqlite", func(ctx context.Context, o options) error { return compareMixedLoad(ctx, o, sqlite) }},
		{"hostile", measureHostile},
		{"amplification-postgres", func(ctx context.Context, o options) error { return amplify(ctx, o, postgres) }},
		{"amplification-sqlite", func(ctx context.Context, o options) error { return amplify(ctx, o, sqlite) }},
		{"bombs", queueBombs},
		{"slow", measureSlowClients},
		{"size", measureSize},
		{"rendering", compareRendering},
		{"previews-postgres", func(ctx context.Context, o options) error { return comparePreviews(ctx, o, postgres) }},
		{"previews-sqlite", func(ctx context.Context, o options) error { return comparePreviews(ctx, o, sqlite) }},
		{"import", compareImports},
		{"million-postgres", func(ctx context.Context, o options) error {
			return compareSizes(ctx, o, postgres, 10_000, cmp.Or(o.things, 1_000_000))
		}},
		{"million-sqlite", func(ctx context.Context, o options) error {
			return compareSizes(ctx, o, sqlite, 10_000, cmp.Or(o.things, 100_000))
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
		build := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-ldflags", "-s -w", "-o", o.server, "github.com/meshyard/meshyard/cmd/meshyard")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return fmt.Errorf("build the server: %w", err)
		}
	}
	ran := false
	for number := range strings.SplitSeq(connections, ",") {
		if o.conns, err = strconv.Atoi(number); err != nil || o.conns < 1 {
			return fmt.Errorf("-connections %s: must be numbers above 0, separated by commas", connections)
		}
		for _, c := range comparisons {
			if long := strings.HasPrefix(c.name, "million"); only == "" && long || only != "" && only != c.name && !(only == "million" && long) {
				continue
			}
			ran = true
			own := o
			own.dir = filepath.Join(o.dir, c.name+"-"+number)
			if err := os.Mkdir(own.dir, 0o750); err != nil {
				return err
			}
			if err := c.run(ctx, own); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
		}
	}
	if !ran {
		return fmt.Errorf("-only %s: see -help", only)
	}
	return nil
}
