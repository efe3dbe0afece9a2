package imagemeta

// item is where an item of an AVIF or HEIC is.
type item struct {
	id      uint32
	inside  bool // positions are those within the box idat
	extents []span
}

// fields reads big-endian numbers. After the end, all are 0 and short is true.
type fields struct {
	b     []byte
	short bool
}

func (f *fields) number(bytes int) (n uint64) {
	if f.short = f.short || len(f.b) < bytes; f.short {
		return 0
	}
	for _, c := range f.b[:bytes] {
		n = n<<8 | uint64(c)
	}
	f.b = f.b[bytes:]
	return n
}

// readKinds reads the types of the items from the content of the box iinf.
func readKinds(b []byte, kinds map[uint32]string) {
	count := 6 // version, flags and a count of 16 bits
	if len(b) > 0 && b[0] > 0 {
		count = 8
	}
	eachBox(b, count, len(b), func(name string, from, to int) {
		in := fields{b: b[from:to]}
		version := in.number(1)
		in.number(3)
		size := 2
		if version > 2 {
			size = 4
		}
		id := uint32(in.number(size))
		in.number(2)
		if name == "infe" && version >= 2 && len(in.b) >= 4 {
			kinds[id] = string(in.b[:4])
		}
	})
}

// readLocations reads the extents of the items from the content of the box iloc. It ignores items
// that are in other files or constructed from other items.
func readLocations(b []byte) (items []item) {
	in := fields{b: b}
	version := in.number(1)
	in.number(3)
	sizes := in.number(2)
	offset, length, base, index := int(sizes>>12), int(sizes>>8&15), int(sizes>>4&15), int(sizes&15)
	if offset&^12 != 0 || length&^12 != 0 || base&^12 != 0 {
		return nil // not 0, 4 or 8
	}
	idSize := 2
	if version >= 2 {
		idSize = 4
	}
	for count := in.number(idSize); count > 0 && !in.short; count-- {
		it := item{id: uint32(in.number(idSize))}
		method := uint64(0)
		if version >= 1 {
			method = in.number(2) & 15
		} else {
			index = 0
		}
		it.inside = method == 1
		other := in.number(2)
		start := in.number(base)
		extents := in.number(2)
		if index+offset+length == 0 {
			extents = min(extents, 1) // they take no bytes, so the count proves nothing
		}
		for ; extents > 0 && !in.short; extents-- {
			in.number(index)
			from, size := start+in.number(offset), in.number(length)
			if size == 0 {
				size = everything // up to the end
			}
			if from > everything/2 {
				continue
			}
			it.extents = append(it.extents, span{from: int64(from), to: int64(from) + int64(min(size, everything/2))})
		}
		if !in.short && other == 0 && method <= 1 {
			items = append(items, it)
		}
	}
	return items
}
