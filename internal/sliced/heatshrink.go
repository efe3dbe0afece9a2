package sliced

// heatshrink decompresses data of the heatshrink format: a bit of 1 and a byte, or a bit of 0, the
// distance back minus 1 in window bits and the length minus 1 in lookahead bits, most significant
// bit first. It returns nil if the result has not exactly size bytes.
func heatshrink(data []byte, window, lookahead, size int) []byte {
	at := 0
	bits := func(n int) (v int, ok bool) {
		if at+n > 8*len(data) {
			return 0, false
		}
		for range n {
			v = v<<1 | int(data[at/8]>>(7-at%8))&1
			at++
		}
		return v, true
	}
	var out []byte
	for len(out) < size {
		literal, ok := bits(1)
		if !ok {
			return nil
		}
		if literal == 1 {
			b, ok := bits(8)
			if !ok {
				return nil
			}
			out = append(out, byte(b))
			continue
		}
		back, ok1 := bits(window)
		length, ok2 := bits(lookahead)
		if !ok1 || !ok2 || back >= len(out) || len(out)+length+1 > size {
			return nil
		}
		for range length + 1 {
			out = append(out, out[len(out)-back-1])
		}
	}
	return out
}
