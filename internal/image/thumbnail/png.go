package thumbnail

import (
	"bufio"
	"encoding/binary"
	"hash/crc32"
	"image"
	"io"

	"github.com/klauspost/compress/zlib"
)

// encodeFastPNG writes an opaque image as PNG (ISO/IEC 15948) in a third of the time that
// image/png takes at its best speed: each row has the filter Sub, where image/png tries five, which
// suits images with even colors, and the compressor is faster.
func encodeFastPNG(w io.Writer, img *image.NRGBA) error {
	size := img.Bounds().Size()
	if _, err := io.WriteString(w, "\x89PNG\r\n\x1a\n"); err != nil {
		return err
	}
	header := binary.BigEndian.AppendUint32(nil, uint32(size.X))
	header = binary.BigEndian.AppendUint32(header, uint32(size.Y))
	// 8 bits for each channel, RGB, deflate, the filters of the standard, not interlaced
	header = append(header, 8, 2, 0, 0, 0)
	if err := writeChunk(w, "IHDR", header); err != nil {
		return err
	}
	data := bufio.NewWriterSize(chunkWriter{w}, 64<<10)
	z, err := zlib.NewWriterLevel(data, zlib.BestSpeed)
	if err != nil {
		return err
	}
	const sub = 1 // each byte is the difference from that of the pixel to the left
	row := make([]byte, 1+3*size.X)
	row[0] = sub
	for y := range size.Y {
		from, to := img.Pix[y*img.Stride:][:4*size.X], row[1:]
		var left [3]byte
		for ; len(from) >= 4 && len(to) >= 3; from, to = from[4:], to[3:] {
			to[0], to[1], to[2] = from[0]-left[0], from[1]-left[1], from[2]-left[2]
			left = [3]byte{from[0], from[1], from[2]}
		}
		if _, err := z.Write(row); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	if err := data.Flush(); err != nil {
		return err
	}
	return writeChunk(w, "IEND", nil)
}

// chunkWriter writes its input as chunks of image data.
type chunkWriter struct{ io.Writer }

func (c chunkWriter) Write(b []byte) (int, error) {
	if err := writeChunk(c.Writer, "IDAT", b); err != nil {
		return 0, err
	}
	return len(b), nil
}

// writeChunk writes a chunk: its length, its name, its content, and the checksum of both.
func writeChunk(w io.Writer, name string, content []byte) error {
	head := append(binary.BigEndian.AppendUint32(nil, uint32(len(content))), name...)
	sum := crc32.Update(crc32.ChecksumIEEE(head[4:]), crc32.IEEETable, content)
	for _, b := range [][]byte{head, content, binary.BigEndian.AppendUint32(nil, sum)} {
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}
