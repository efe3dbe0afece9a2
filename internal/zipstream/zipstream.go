// Package zipstream creates ZIP archives while they are served. Entries are stored, not compressed,
// so the size of an archive is known before any file is read, and a download can be resumed at any
// byte.
//
// The package archive/zip can write an archive only from its start. The layout follows PKWARE's
// APPNOTE.TXT 6.3.10: a local header, the data and a data descriptor for each entry (sections 4.3.7
// and 4.3.9), then the central directory (4.3.12). Archives and files of 4 GiB or more use the
// ZIP64 records of 4.3.14, 4.3.15 and 4.5.3.
package zipstream

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"sort"
	"time"
)

// File is one entry of an archive.
type File struct {
	Name string // with slashes; unique in the archive
	Size int64  // bytes that Open yields
	Open func() (io.ReadSeekCloser, error)
	// CRC32 returns the IEEE checksum if it is known. If it is nil or returns false, the archive
	// reads the file to compute the checksum.
	CRC32 func() (sum uint32, ok bool)
	// Checked is called with a checksum that was computed. It may be nil.
	Checked func(sum uint32)
}

const (
	zip64Limit  = 1<<32 - 1
	maxEntries  = 1<<16 - 1
	utf8Names   = 1 << 11
	descriptors = 1 << 3
)

// segment is a part of the archive: bytes that are generated when they are read, or the data of a
// file.
type segment struct {
	start, size int64
	bytes       func() ([]byte, error)
	file        *entry
}

type entry struct {
	File
	offset int64 // of the local header
	sum    uint32
	known  bool
}

// Archive reads an archive. It implements [io.ReadSeekCloser]. It is not safe for concurrent use.
type Archive struct {
	modified time.Time
	entries  []*entry
	segments []segment
	size     int64

	at      int64
	open    io.ReadSeekCloser // the file that is being read
	openFor *entry
	openAt  int64
	crc     uint32 // of the open file up to openAt, if it was read from its start
	whole   bool
}

// New returns an archive of the files, all with the same modification time.
func New(files []File, modified time.Time) *Archive {
	a := &Archive{modified: modified.UTC()}
	for _, f := range files {
		e := &entry{File: f, offset: a.size}
		a.entries = append(a.entries, e)
		header := a.localHeader(e)
		a.add(segment{size: int64(len(header)), bytes: func() ([]byte, error) { return header, nil }})
		a.add(segment{size: f.Size, file: e})
		a.add(segment{size: descriptorSize(e), bytes: func() ([]byte, error) { return a.descriptor(e) }})
	}
	directory := a.size
	for _, e := range a.entries {
		a.add(segment{size: int64(46 + len(e.Name) + len(e.extra())),
			bytes: func() ([]byte, error) { return a.directoryHeader(e) }})
	}
	end := a.end(directory, a.size-directory)
	a.add(segment{size: int64(len(end)), bytes: func() ([]byte, error) { return end, nil }})
	return a
}

func (a *Archive) add(s segment) {
	s.start = a.size
	a.segments = append(a.segments, s)
	a.size += s.size
}

// Size is the size of the archive in bytes.
func (a *Archive) Size() int64 { return a.size }

// Seek implements [io.Seeker].
func (a *Archive) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += a.at
	case io.SeekEnd:
		offset += a.size
	}
	if offset < 0 {
		return 0, errors.New("zipstream: seek before the start")
	}
	a.at = offset
	return offset, nil
}

// Read implements [io.Reader].
func (a *Archive) Read(p []byte) (int, error) {
	if a.at >= a.size {
		return 0, io.EOF
	}
	if len(p) == 0 {
		return 0, nil
	}
	// The last segment that starts at or before the position; empty ones come before it.
	i := sort.Search(len(a.segments), func(i int) bool { return a.segments[i].start > a.at }) - 1
	s := a.segments[i]
	if s.file != nil {
		return a.readFile(p, s)
	}
	b, err := s.bytes()
	if err != nil {
		return 0, err
	}
	n := copy(p, b[a.at-s.start:])
	a.at += int64(n)
	return n, nil
}

// readFile reads data of a file. It also computes the checksum if the file is read from its start.
func (a *Archive) readFile(p []byte, s segment) (int, error) {
	at := a.at - s.start
	if a.openFor != s.file || a.openAt != at {
		if err := a.Close(); err != nil {
			return 0, err
		}
		f, err := s.file.Open()
		if err != nil {
			return 0, err
		}
		a.open, a.openFor, a.openAt, a.crc, a.whole = f, s.file, at, 0, at == 0
		if _, err := f.Seek(at, io.SeekStart); err != nil {
			return 0, err
		}
	}
	n, err := a.open.Read(p[:min(int64(len(p)), s.size-at)])
	a.crc = crc32.Update(a.crc, crc32.IEEETable, p[:n])
	a.at, a.openAt = a.at+int64(n), a.openAt+int64(n)
	switch {
	case a.openAt == s.size:
		if a.whole {
			s.file.learn(a.crc)
		}
		return n, nil
	case err == io.EOF:
		return n, io.ErrUnexpectedEOF // the file is shorter than its size
	}
	return n, err
}

// Close closes the file that is being read.
func (a *Archive) Close() error {
	if a.open == nil {
		return nil
	}
	err := a.open.Close()
	a.open, a.openFor = nil, nil
	return err
}

func (e *entry) learn(sum uint32) {
	if !e.known && e.Checked != nil {
		e.Checked(sum)
	}
	e.sum, e.known = sum, true
}

// checksum returns the checksum of a file. It reads the file if the checksum is not known.
func (e *entry) checksum() (uint32, error) {
	if !e.known && e.CRC32 != nil {
		e.sum, e.known = e.CRC32()
	}
	if e.known {
		return e.sum, nil
	}
	f, err := e.Open()
	if err != nil {
		return 0, err
	}
	defer f.Close()
	sum := crc32.NewIEEE()
	if n, err := io.Copy(sum, f); err != nil {
		return 0, err
	} else if n != e.Size {
		return 0, io.ErrUnexpectedEOF
	}
	e.learn(sum.Sum32())
	return e.sum, nil
}

func (e *entry) large() bool { return e.Size >= zip64Limit }

func descriptorSize(e *entry) int64 {
	if e.large() {
		return 24
	}
	return 16
}

// dosTime returns the modification time in the format of section 4.4.6, in steps of two seconds.
func (a *Archive) dosTime() (clock, date uint16) {
	t := a.modified
	return uint16(t.Hour()<<11 | t.Minute()<<5 | t.Second()/2),
		uint16(max(t.Year()-1980, 0)<<9 | int(t.Month())<<5 | t.Day())
}

func version(e *entry, offset int64) uint16 {
	if e.large() || offset >= zip64Limit {
		return 45
	}
	return 20
}

func (a *Archive) localHeader(e *entry) []byte {
	clock, date := a.dosTime()
	var b buffer
	b.u32(0x04034b50).u16(version(e, 0)).u16(descriptors | utf8Names).u16(0).u16(clock).u16(date).u32(0)
	if e.large() {
		b.u32(zip64Limit).u32(zip64Limit).u16(uint16(len(e.Name))).u16(20)
		b = append(b, e.Name...)
		b.u16(1).u16(16).u64(0).u64(0)
		return b
	}
	b.u32(0).u32(0).u16(uint16(len(e.Name))).u16(0)
	return append(b, e.Name...)
}

func (a *Archive) descriptor(e *entry) ([]byte, error) {
	sum, err := e.checksum()
	if err != nil {
		return nil, err
	}
	var b buffer
	b.u32(0x08074b50).u32(sum)
	if e.large() {
		b.u64(uint64(e.Size)).u64(uint64(e.Size))
	} else {
		b.u32(uint32(e.Size)).u32(uint32(e.Size))
	}
	return b, nil
}

// extra returns the ZIP64 field of an entry in the central directory, or nothing if it is not
// needed.
func (e *entry) extra() []byte {
	var fields buffer
	if e.large() {
		fields.u64(uint64(e.Size)).u64(uint64(e.Size))
	}
	if e.offset >= zip64Limit {
		fields.u64(uint64(e.offset))
	}
	if len(fields) == 0 {
		return nil
	}
	var b buffer
	b.u16(1).u16(uint16(len(fields)))
	return append(b, fields...)
}

func (a *Archive) directoryHeader(e *entry) ([]byte, error) {
	sum, err := e.checksum()
	if err != nil {
		return nil, err
	}
	clock, date := a.dosTime()
	size, offset := uint32(min(e.Size, zip64Limit)), uint32(min(e.offset, zip64Limit))
	extra := e.extra()
	var b buffer
	b.u32(0x02014b50).u16(3<<8 | 45).u16(version(e, e.offset)).u16(descriptors | utf8Names).u16(0).u16(clock).u16(date)
	b.u32(sum).u32(size).u32(size).u16(uint16(len(e.Name))).u16(uint16(len(extra))).u16(0).u16(0).u16(0).
		u32(0o100644 << 16).u32(offset)
	return append(append(b, e.Name...), extra...), nil
}

// end returns the records after the central directory.
func (a *Archive) end(directory, size int64) []byte {
	n := int64(len(a.entries))
	var b buffer
	if n >= maxEntries || directory >= zip64Limit || size >= zip64Limit {
		b.u32(0x06064b50).u64(44).u16(3<<8 | 45).u16(45).u32(0).u32(0).u64(uint64(n)).u64(uint64(n)).u64(uint64(size)).
			u64(uint64(directory))
		b.u32(0x07064b50).u32(0).u64(uint64(directory + size)).u32(1)
	}
	count := uint16(min(n, maxEntries))
	b.u32(0x06054b50).u16(0).u16(0).u16(count).u16(count).u32(uint32(min(size, zip64Limit))).
		u32(uint32(min(directory, zip64Limit))).u16(0)
	return b
}

// buffer appends little-endian numbers.
type buffer []byte

func (b *buffer) u16(v uint16) *buffer { *b = binary.LittleEndian.AppendUint16(*b, v); return b }
func (b *buffer) u32(v uint32) *buffer { *b = binary.LittleEndian.AppendUint32(*b, v); return b }
func (b *buffer) u64(v uint64) *buffer { *b = binary.LittleEndian.AppendUint64(*b, v); return b }
