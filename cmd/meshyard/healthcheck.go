package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/meshyard/meshyard/internal/config"
)

type healthcheckCmd struct {
	All bool `help:"Also check what only some requests need: the bucket. Default: only the database."`
	// The default is longer than what /readyz needs to answer that the database or the bucket hangs.
	Timeout time.Duration `help:"How long the server may take to answer. Default: ${default}." default:"6s" placeholder:"DURATION"`
}

// Run requests /readyz, or /readyz?all, from the server on the listen address of the settings. It
// returns an error unless the status is 200.
func (c *healthcheckCmd) Run(ctx context.Context, s config.Settings) error {
	host, port, err := net.SplitHostPort(s.Listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	if ip := net.ParseIP(host); host == "" || ip.IsUnspecified() {
		host = "localhost"
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	url := "http://" + net.JoinHostPort(host, port) + "/readyz"
	if c.All {
		url += "?all"
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<10))
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %s", url, response.Status, strings.TrimSpace(string(body)))
	}
	stdout.println("the server is ready")
	return nil
}
