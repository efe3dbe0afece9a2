// Command bench measures the server against the least program that could do the same, side by side.
//
// Each comparison runs A, the real server as a process of its own, and B, a bare handler as
// another, in turns, and prints the ratio of the two: a number in megabytes or requests a second
// says more about the machine and its other work than about the server. The bare handlers are
// opponents, not strawmen: they check no token, know no owner, log nothing and speak to the
// database without any layer.
//
// It needs Linux, for what /proc tells of a process, and a PostgreSQL as package pgtest finds it:
//
//	go run ./internal/pgtest/with -- go run ./bench
//
// The exit status is 0 where all was measured, whatever the figures: they are for people to judge.
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
	"strings"
	"syscall"
	"time"
)

// options are what the flags set.
type options struct {
	dir    string        // where everything is kept that the run makes
	server string        // the binary that is measured
	size   int64         // bytes of an upload
	pairs  int           // how often A and B take turns
	round  time.Duration // how long one turn of requests lasts
	conns  int           // connections that ask at the same time
	files  int           // rows that are asked for
	things int           // of the large catalogue; 0: a million on PostgreSQL, 100,000 on SQLite
}

func main() {
	var o options
	var only, place string
	mib := flag.Int64("size", 1024, "`MiB` of the upload")
	flag.IntVar(&o.pairs, "pairs", 5, "how often A and B take turns")
	flag.DurationVar(&o.round, "round", 4*time.Second, "how long one turn of requests lasts")
	flag.IntVar(&o.conns, "conns", 16, "keep-alive connections that ask at the same time")
	flag.IntVar(&o.files, "files", 10_000, "files among which requests choose")
	flag.StringVar(&only, "only", "", "one of: upload, postgres, sqlite, listing-postgres, listing-sqlite, beside-postgres, beside-sqlite, hostile, slow, rendering, previews-postgres, previews-sqlite, million-postgres, million-sqlite, million for the last two; default all but those")
	flag.IntVar(&o.things, "things", 0, "things in the large catalogue; default a million on PostgreSQL, 100,000 on SQLite")
	flag.StringVar(&o.server, "server", "", "`file` of a built meshyard; default: it is built")
	flag.StringVar(&place, "dir", defaultPlace(), "`folder` on a disk, for files and databases; what is made there is removed")
	bare := flag.String("bare", "", "for the program itself: be a bare handler")
	draw := flag.String("draw", "", "for the program itself: draw a `file` to the one that follows")
	crowded := flag.String("crowd", "", "for the program itself: be a crowd of clients")
	flag.Parse()
	o.size = *mib << 20

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// a reader that has seen enough must not leave servers and folders behind
	signal.Ignore(syscall.SIGPIPE)
	var err error
	switch {
	case *bare != "":
		err = serveBare(ctx, *bare, flag.Args())
	case *crowded != "":
		err = crowd(ctx, *crowded, flag.Args())
	case *draw != "":
		err = drawFile(ctx, *draw, flag.Arg(0))
	default:
		err = run(ctx, o, place, only)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// defaultPlace is /var/tmp, which is on a disk where /tmp may be memory.
func defaultPlace() string {
	if info, err := os.Stat("/var/tmp"); os.Getenv("TMPDIR") == "" && err == nil && info.IsDir() {
		return "/var/tmp"
	}
	return os.TempDir()
}

func run(ctx context.Context, o options, place, only string) (err error) {
	comparisons := []struct {
		name string
		run  func(context.Context, options) error
	}{
		{"upload", compareUploads},
		{"postgres", func(ctx context.Context, o options) error { return compareFileInfo(ctx, o, postgres) }},
		{"sqlite", func(ctx context.Context, o options) error { return compareFileInfo(ctx, o, sqlite) }},
		{"listing-postgres", func(ctx context.Context, o options) error { return compareListings(ctx, o, postgres) }},
		{"listing-sqlite", func(ctx context.Context, o options) error { return compareListings(ctx, o, sqlite) }},
		{"beside-postgres", func(ctx context.Context, o options) error { return compareBeside(ctx, o, postgres) }},
		{"beside-sqlite", func(ctx context.Context, o options) error { return compareBeside(ctx, o, sqlite) }},
		{"hostile", sufferHostile},
		{"slow", sufferSlow},
		{"rendering", compareRendering},
		{"previews-postgres", func(ctx context.Context, o options) error { return comparePreviews(ctx, o, postgres) }},
		{"previews-sqlite", func(ctx context.Context, o options) error { return comparePreviews(ctx, o, sqlite) }},
		{"million-postgres", func(ctx context.Context, o options) error {
			return compareSizes(ctx, o, postgres, 10_000, cmp.Or(o.things, 1_000_000))
		}},
		{"million-sqlite", func(ctx context.Context, o options) error {
			return compareSizes(ctx, o, sqlite, 10_000, cmp.Or(o.things, 100_000))
		}},
	}
	if o.dir, err = os.MkdirTemp(place, "meshyard-bench-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(o.dir)) }()
	if o.server == "" {
		o.server = filepath.Join(o.dir, "meshyard")
		build := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", o.server, "github.com/meshyard/meshyard/cmd/meshyard")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return fmt.Errorf("build the server: %w", err)
		}
	}
	ran := false
	for _, c := range comparisons {
		if long := strings.HasPrefix(c.name, "million"); only == "" && long || only != "" && only != c.name && !(only == "million" && long) {
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
