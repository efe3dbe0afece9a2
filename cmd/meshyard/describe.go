package main

import (
	"fmt"

	"github.com/meshyard/meshyard/cmd/meshyard/server"
	"github.com/meshyard/meshyard/graph"
	"github.com/meshyard/meshyard/internal/config"
	"github.com/meshyard/meshyard/rest"
)

type schemaCmd struct{}

func (*schemaCmd) Run() error {
	stdout.print(graph.New(nil).SDL())
	return nil
}

type documentsCmd struct {
	Document string `arg:"" optional:"" help:"Name or SHA-256 of the document to print."`
}

func (c *documentsCmd) Run(s config.Settings) error {
	documents, err := server.Documents(s, graph.New(nil))
	if err != nil {
		return err
	}
	for _, d := range documents {
		switch c.Document {
		case "":
			stdout.println(d.ID(), d.Name)
		case d.ID(), d.Name:
			stdout.print(d.Text)
			return nil
		}
	}
	if c.Document != "" {
		return fmt.Errorf("no registered document has the name or SHA-256 %q", c.Document)
	}
	return nil
}

type openAPICmd struct{}

func (*openAPICmd) Run(s config.Settings) error {
	text, err := rest.OpenAPI(graph.New(nil), s.BaseURL)
	if err != nil {
		return err
	}
	stdout.println(string(text))
	return nil
}
