package sliced

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"strings"

	"github.com/klauspost/compress/zlib"
)

// The parts of a binary G-code file (libbgcode, doc/specifications.md). All numbers are little
// endian. The file header is the magic number, the version and the type of the checksums. A block
// is a header, parameters, the data and a checksum.
const (
	binaryMagic  = "GCDE"
	binaryHeader = 10

	blockGCode     = 1
	blockThumbnail = 5

	checksumCRC32 = 1

	maxBlocks   = 1000 // before the G-code itself: a few with metadata, and the thumbnails
	maxMetadata = 2 << 20
)

// The compressions of a block.
const (
	compressionNone = iota
	compressionDeflate
	compressionHeatshrink11 // with a window of 11 bits
	compressionHeatshrink12
)

// The parameters of blocks.
const (
	thumbnailParameters = 6 // the format, the width and the height
	otherParameters     = 2 // the encoding

	formatQOI   = 2 // 0 is PNG, 1 is JPEG
	encodingINI = 0
)

// isBinary reports whether a file starts with the magic number of binary G-code.
func isBinary(r io.ReaderAt) bool {
	var magic [len(binaryMagic)]byte
	n, _ := r.ReadAt(magic[:], 0)
	return n == len(magic) && string(magic[:]) == binaryMagic
}

// block is the header of a block of a binary G-code file, and where its parts are.
type block struct {
	kind, compression uint16
	start, data, end  int64 // end includes the checksum
	length, inflated  int64 // of the data
}

// readBinary reads the metadata and the largest thumbnail of binary G-code.
func readBinary(r io.ReaderAt, size int64) (facts Facts, picture []byte, err error) {
	var header [binaryHeader]byte
	if err := readBlock(r, header[:], 0); err != nil {
		return Facts{}, nil, err
	}
	checksum := int64(0)
	switch binary.LittleEndian.Uint16(header[8:]) {
	case 0:
	case checksumCRC32:
		checksum = crc32.Size
	default:
		return Facts{}, nil, malformed("The binary G-code file has checksums of an unknown type.")
	}
	var metadata reader
	at, most, seen := int64(binaryHeader), 0, 0
	for n := 0; n < maxBlocks && seen < maxPictures && at < size; n++ {
		b, err := blockAt(r, at, checksum)
		if err != nil {
			return Facts{}, nil, err
		}
		if b.kind == blockGCode {
			break
		}
		if b.end > size {
			return Facts{}, nil, malformed("The binary G-code file ends in the middle of a block.")
		}
		at = b.end
		if b.length > maxEmbedded || b.kind != blockThumbnail && b.length > maxMetadata {
			continue
		}
		parameters, data, err := b.read(r, checksum)
		if err != nil {
			return Facts{}, nil, err
		}
		format := binary.LittleEndian.Uint16(parameters)
		if b.kind != blockThumbnail {
			if format == encodingINI {
				metadata.ini(b.decompress(data))
			}
			continue
		}
		seen++
		pixels := int(binary.LittleEndian.Uint16(parameters[2:])) * int(binary.LittleEndian.Uint16(parameters[4:]))
		if b.compression == compressionNone && format <= formatQOI && len(data) > 0 && (picture == nil || pixels > most) {
			picture, most = data, pixels
		}
	}
	return metadata.finish(), picture, nil
}

// read returns the parameters and the data of a block whose checksum matches.
func (b block) read(r io.ReaderAt, checksum int64) (parameters, data []byte, err error) {
	whole := make([]byte, b.end-b.start)
	if err := readBlock(r, whole, b.start); err != nil {
		return nil, nil, err
	}
	covered := whole[:int64(len(whole))-checksum]
	if checksum > 0 && crc32.ChecksumIEEE(covered) != binary.LittleEndian.Uint32(whole[len(covered):]) {
		return nil, nil, malformed("The binary G-code file is damaged: a checksum does not match.")
	}
	return covered[b.data-b.start-b.parameters():], covered[b.data-b.start:], nil
}

func (b block) parameters() int64 {
	if b.kind == blockThumbnail {
		return thumbnailParameters
	}
	return otherParameters
}

// decompress returns the metadata of a block, or nil if it is damaged or too long.
func (b block) decompress(data []byte) []byte {
	if b.inflated > maxMetadata {
		return nil
	}
	switch b.compression {
	case compressionNone:
		return data
	case compressionDeflate:
		z, err := zlib.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil
		}
		text, err := io.ReadAll(io.LimitReader(z, b.inflated+1))
		if err != nil || int64(len(text)) != b.inflated {
			return nil
		}
		return text
	case compressionHeatshrink11:
		return heatshrink(data, 11, 4, int(b.inflated))
	case compressionHeatshrink12:
		return heatshrink(data, 12, 4, int(b.inflated))
	}
	return nil
}

// ini reads pairs of names and values.
func (r *reader) ini(text []byte) {
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, "="); ok {
			key, value = strings.TrimSpace(key), strings.TrimSpace(value)
			if strings.EqualFold(key, "Producer") {
				r.slicer("", value)
				continue
			}
			r.set(key, value)
		}
	}
}

// blockAt reads the header of the block at an offset.
func blockAt(r io.ReaderAt, at, checksum int64) (block, error) {
	var h [12]byte // the type, the compression, the size, and the compressed size if there is one
	if err := readBlock(r, h[:8], at); err != nil {
		return block{}, err
	}
	b := block{kind: binary.LittleEndian.Uint16(h[:]), compression: binary.LittleEndian.Uint16(h[2:]), start: at,
		data: at + 8}
	b.inflated = int64(binary.LittleEndian.Uint32(h[4:]))
	b.length = b.inflated
	if b.compression != compressionNone {
		if err := readBlock(r, h[8:], at+8); err != nil {
			return block{}, err
		}
		b.data += 4
		b.length = int64(binary.LittleEndian.Uint32(h[8:]))
	}
	b.data += b.parameters()
	b.end = b.data + b.length + checksum
	return b, nil
}

// readBlock fills b from an offset. The end of the file is a *mesh.Error.
func readBlock(r io.ReaderAt, b []byte, at int64) error {
	n, err := r.ReadAt(b, at)
	switch {
	case n == len(b):
		return nil
	case errors.Is(err, io.EOF):
		return malformed("The binary G-code file ends in the middle of a block.")
	}
	return err
}
