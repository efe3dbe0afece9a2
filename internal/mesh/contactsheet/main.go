// Command contactsheet renders all meshes in the given folders into one image, for visual
// inspection.
package main

import (
	"context"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"

	"github.com/meshyard/meshyard/internal/mesh"
	"github.com/meshyard/meshyard/internal/mesh/decode"
	"github.com/meshyard/meshyard/internal/mesh/render"
)

const (
	columns       = 7
	width, height = 256, 192
	caption       = 18
)

func main() {
	out := flag.String("o", "bin/contact-sheet.png", "`file` to write")
	flag.Parse()
	if err := run(*out, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "contactsheet:", err)
		os.Exit(1)
	}
}

func run(out string, folders []string) error {
	var paths []string
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
			if mesh.FormatOf(path) != "" {
				paths = append(paths, path)
			}
			return err
		})
		if err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	rows := (len(paths) + columns - 1) / columns
	sheet := image.NewNRGBA(image.Rect(0, 0, columns*width, rows*(height+caption)))
	draw.Draw(sheet, sheet.Bounds(), image.White, image.Point{}, draw.Src)
	for i, path := range paths {
		at := image.Pt(i%columns*width, i/columns*(height+caption))
		img, err := drawn(path)
		name := filepath.Base(path)
		if err != nil {
			fmt.Printf("%s: %v\n", path, err)
			name += " (none)"
		} else {
			draw.Draw(sheet, image.Rectangle{at, at.Add(image.Pt(width, height))}, img, image.Point{}, draw.Src)
		}
		pen := font.Drawer{Dst: sheet, Src: image.NewUniform(color.Black), Face: basicfont.Face7x13,
			Dot: fixed.P(at.X+4, at.Y+height+13)}
		pen.DrawString(name[:min(len(name), width/7-1)])
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o750); err != nil {
		return err
	}
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	defer f.Close()
	fmt.Printf("%d meshes: %s\n", len(paths), out)
	return png.Encode(f, sheet)
}

func drawn(path string) (image.Image, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	m, err := decode.Decode(context.Background(), decode.Source{ReaderAt: f, Size: info.Size(), Name: path},
		mesh.DefaultLimits, nil)
	if err != nil {
		return nil, err
	}
	return render.Render(context.Background(), m, render.Options{Width: width, Height: height})
}
