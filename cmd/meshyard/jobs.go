package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"github.com/meshyard/meshyard/cmd/meshyard/server"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/internal/jobs"
)

type jobListCmd struct{}

func (*jobListCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	return withServer(ctx, s, logger, func(a *server.Server) error {
		out := table("ID", "KIND", "ARGUMENTS", "ATTEMPTS", "NEXT ATTEMPT", "ERROR")
		err := a.EachFailedJob(ctx, func(f jobs.Failed) error {
			cause := fmt.Sprintf("%.300s", strings.Join(strings.Fields(f.Error), " "))
			out.row(strconv.FormatInt(f.ID, 10), f.Kind, f.Arguments, strconv.Itoa(f.Attempts), when(f.Next), cause)
			return nil
		})
		if err != nil {
			return err
		}
		return out.Flush()
	})
}

type jobRetryCmd struct {
	IDs []int64 `arg:"" name:"id" optional:"" help:"Ids, as printed by job list."`
	All bool    `help:"Retry all jobs that job list prints."`
}

// Validate implements the interface of kong that checks a command before it runs.
func (c *jobRetryCmd) Validate() error {
	if c.All == (len(c.IDs) > 0) {
		return errors.New("give either the ids of jobs or --all")
	}
	return nil
}

func (c *jobRetryCmd) Run(ctx context.Context, s config.Settings, logger *slog.Logger) error {
	return withServer(ctx, s, logger, func(a *server.Server) error {
		if !c.All {
			for _, id := range c.IDs {
				if err := retry(ctx, a, id); err != nil {
					return err
				}
			}
			return nil
		}
		return a.EachFailedJob(ctx, func(f jobs.Failed) error {
			err := retry(ctx, a, f.ID)
			if errors.Is(err, jobs.ErrNotFailed) { // it has been running since it was listed
				return nil
			}
			return err
		})
	})
}

func retry(ctx context.Context, a *server.Server, id int64) error {
	if err := a.RetryJob(ctx, id); err != nil {
		return err
	}
	stdout.println("queued job", id)
	return nil
}
