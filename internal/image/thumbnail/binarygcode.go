package thumbnail

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
)

// The parts of a binary G-code file (libbgcode, doc/specifications.md). All numbers are little
// endian. The file header is the magic number, the version and the type of the checksums. A block
// is a header, parameters, the data and a checksum.
const (
	binaryGCodeMagic  = "GCDE"
	binaryGCodeHeader = 10

	blockGCode     = 1
	blockThumbnail = 5

	checksumCRC32 = 1

	maxBlocks = 1000 // before the G-code itself: a few with metadata, and the thumbnails
)

// isBinaryGCode reports whether a file starts with the magic number of binary G-code.
func isBinaryGCode(r io.ReaderAt) bool {
	var magic [len(binaryGCodeMagic)]byte
	n, _ := r.ReadAt(magic[:], 0)
	return n == len(magic) && string(magic[:]) == binaryGCodeMagic
}

// block is the header of a block of a binary G-code file, and where its parts are.
type block struct {
	kind, compression uint16
	start, data, end  int64 // end includes the checksum
	length            int64 // of the data
}

// fromBinaryGCode returns the largest thumbnail that is a PNG or JPEG, or nil if there is none.
func fromBinaryGCode(r io.ReaderAt, size int64) (best []byte, err error) {
	var header [binaryGCodeHeader]byte
	if err := readBlock(r, header[:], 0); err != nil {
		return nil, err
	}
	checksum := int64(0)
	switch binary.LittleEndian.Uint16(header[8:]) {
	case 0:
	case checksumCRC32:
		checksum = crc32.Size
	default:
		return nil, errorf("The binary G-code file has checksums of an unknown type.")
	}
	at, most, seen := int64(binaryGCodeHeader), 0, 0
	for n := 0; n < maxBlocks && seen < maxGCodeInside && at < size; n++ {
		b, err := blockAt(r, at, checksum)
		if err != nil {
			return nil, err
		}
		if b.kind == blockGCode {
			break
		}
		if b.end > size {
			return nil, errorf("The binary G-code file ends in the middle of a block.")
		}
		at = b.end
		if b.kind != blockThumbnail || b.length > maxEmbedded {
			continue
		}
		seen++
		whole := make([]byte, b.end-b.start)
		if err := readBlock(r, whole, b.start); err != nil {
			return nil, err
		}
		covered := whole[:int64(len(whole))-checksum]
		if checksum > 0 && crc32.ChecksumIEEE(covered) != binary.LittleEndian.Uint32(whole[len(covered):]) {
			return nil, errorf("A thumbnail of the binary G-code file is damaged: its checksum does not match.")
		}
		parameters, data := covered[b.data-b.start-thumbnailParameters:], covered[b.data-b.start:]
		format := binary.LittleEndian.Uint16(parameters)
		pixels := int(binary.LittleEndian.Uint16(parameters[2:])) * int(binary.LittleEndian.Uint16(parameters[4:]))
		if b.compression == 0 && format <= formatJPEG && len(data) > 0 && (best == nil || pixels > most) {
			best, most = data, pixels
		}
	}
	return best, nil
}

const (
	thumbnailParameters = 6 // the format, the width and the height
	otherParameters     = 2 // the encoding

	formatJPEG = 1 // 0 is PNG, 2 is QOI
)

// blockAt reads the header of the block at an offset.
func blockAt(r io.ReaderAt, at, checksum int64) (block, error) {
	var h [12]byte // the type, the compression, the size, and the compressed size if there is one
	if err := readBlock(r, h[:8], at); err != nil {
		return block{}, err
	}
	b := block{kind: binary.LittleEndian.Uint16(h[:]), compression: binary.LittleEndian.Uint16(h[2:]), start: at, data: at + 8}
	b.length = int64(binary.LittleEndian.Uint32(h[4:]))
	if b.compression != 0 {
		if err := readBlock(r, h[8:], at+8); err != nil {
			return block{}, err
		}
		b.data += 4
		b.length = int64(binary.LittleEndian.Uint32(h[8:]))
	}
	b.data += otherParameters
	if b.kind == blockThumbnail {
		b.data += thumbnailParameters - otherParameters
	}
	b.end = b.data + b.length + checksum
	return b, nil
}

// readBlock fills b from an offset. The end of the file is an *Error.
func readBlock(r io.ReaderAt, b []byte, at int64) error {
	n, err := r.ReadAt(b, at)
	switch {
	case n == len(b):
		return nil
	case errors.Is(err, io.EOF):
		return errorf("The binary G-code file ends in the middle of a block.")
	}
	return err
}
