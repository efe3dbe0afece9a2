package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/meshyard/meshyard/cmd/meshyard/server"
	"github.com/meshyard/meshyard/graph"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/rest"
)

type fsckCmd struct {
	Rehash bool          `help:"Read every content and compare its SHA-256."`
	Grace  time.Duration `help:"Objects younger than this may belong to an upload under way, and are not reported. Default: ${default}." default:"1h"`
}

func (c *fsckCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) (err error) {
	a, err := server.Open(ctx, s, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	problems := 0
	err = a.Store.Check(ctx, c.Grace, c.Rehash, func(problem string) {
		problems++
		fmt.Println(problem)
	})
	if err != nil {
		return err
	}
	if problems > 0 {
		return fmt.Errorf("database and bucket disagree in %d places", problems)
	}
	fmt.Println("database and bucket agree")
	return nil
}

type gcCmd struct {
	DryRun bool          `help:"Only tell what would be removed."`
	Grace  time.Duration `help:"Keep objects younger than this: they may belong to an upload under way. Default: ${default}." default:"1h"`
}

func (c *gcCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) (err error) {
	a, err := server.Open(ctx, s, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	sweep, err := a.Store.CollectGarbage(ctx, c.Grace, c.DryRun)
	if err != nil {
		return err
	}
	removed := "removed"
	if c.DryRun {
		removed = "would remove"
	}
	for _, key := range sweep.Objects() {
		fmt.Println(removed, key)
	}
	fmt.Printf("%s %d expired uploads and %d objects (%d bytes)\n", removed, sweep.ExpiredUploads, len(sweep.Objects()), sweep.Bytes)
	return nil
}

type deriveCmd struct {
	Again models.Again `help:"Make again what failed (failed), or everything (all)." enum:"failed,all," default:"" placeholder:"WHICH"`
}

func (c *deriveCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) (err error) {
	a, err := server.Open(ctx, s, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	wanted, err := a.Store.WantPreviews(ctx, c.Again)
	if err != nil {
		return err
	}
	fmt.Printf("%d previews are to be made: servers that run, or are started, make them\n", wanted)
	return nil
}

type recountCmd struct{}

func (*recountCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) (err error) {
	a, err := server.Open(ctx, s, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	changed, err := a.Store.Recount(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("set %d counts right, and found the popularity of all things anew\n", changed)
	return nil
}

type doctorCmd struct{}

func (*doctorCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) (err error) {
	a, err := server.Open(ctx, s, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	findings, err := a.Store.Diagnose(ctx)
	if err != nil {
		return err
	}
	for _, finding := range findings {
		fmt.Println(finding)
	}
	if len(findings) > 0 {
		return fmt.Errorf("%d findings", len(findings))
	}
	fmt.Println("nothing is due")
	return nil
}

type schemaCmd struct{}

func (*schemaCmd) Run() error {
	fmt.Print(graph.New(nil).SDL())
	return nil
}

type documentsCmd struct {
	Document string `arg:"" optional:"" help:"The name or the SHA-256 of one."`
}

func (c *documentsCmd) Run(s config.Settings) error {
	documents, err := server.Documents(s, graph.New(nil))
	if err != nil {
		return err
	}
	for _, d := range documents {
		switch c.Document {
		case "":
			fmt.Println(d.ID(), d.Name)
		case d.ID(), d.Name:
			fmt.Print(d.Text)
			return nil
		}
	}
	if c.Document != "" {
		return fmt.Errorf("no document %s is registered", c.Document)
	}
	return nil
}

type openAPICmd struct{}

func (*openAPICmd) Run(s config.Settings) error {
	text, err := rest.OpenAPI(graph.New(nil), s.BaseURL)
	if err != nil {
		return err
	}
	fmt.Println(string(text))
	return nil
}
