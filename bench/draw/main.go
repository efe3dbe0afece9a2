// Command draw renders a mesh file as a PNG image with the packages that the server uses, and
// prints its peak memory in bytes. The benchmark "rendering" measures it.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/meshyard/meshyard/bench/peak"
	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode"
	"github.com/meshyard/meshyard/internal/mesh/render"
	"github.com/meshyard/meshyard/internal/thumbnail"
)

const side = 512 // pixels

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: draw MESH PNG")
		os.Exit(2)
	}
	if err := draw(context.Background(), os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "draw:", err)
		os.Exit(1)
	}
}

func draw(ctx context.Context, from, to string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	m, err := decode.Decode(ctx, decode.Source{ReaderAt: f, Size: info.Size(), Name: from}, mesh.DefaultLimits, nil)
	if err != nil {
		return err
	}
	img, err := render.Render(ctx, m, render.Options{Width: side, Height: side})
	if err != nil {
		return err
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	if err := errors.Join(thumbnail.Encode(out, img, thumbnail.PNG), out.Close()); err != nil {
		return err
	}
	most, err := peak.Self()
	fmt.Println(most)
	return err
}
