package breadthfirst

// writer writes the JSON of the resolved values. It propagates nulls while it writes: it removes an
// object again if a non-null field of it is null.
//
// A long response is written twice: growing the buffer would copy it repeatedly, and the copies
// would stay in memory until the next garbage collection. The first pass counts the bytes of a long
// response instead of storing them, and the second pass writes into a buffer of the right size.
type writer[E any] struct {
	*run[E]
	b       []byte
	counted int  // bytes before b, which were counted but not stored
	whole   bool // b has the capacity for the whole response
	full    bool // the limit is exceeded, and the content of b is not used
}

// long is the length in bytes from which a response is counted before it is written. Tests change
// it.
var long = 1 << 19

// write returns the JSON of an operation, and false if it exceeds the limit. size is the expected
// length.
func (r *run[E]) write(root *group[E], size int) ([]byte, bool) {
	w := &writer[E]{run: r, b: make([]byte, 0, max(512, min(size, long)))}
	written := w.object(root, 0)
	if w.counted > 0 && written && !w.full {
		w = &writer[E]{run: r, b: make([]byte, 0, w.length()), whole: true}
		written = w.object(root, 0)
	}
	if !written {
		return []byte("null"), true
	}
	return w.b, !w.full
}

// length returns the length of the response so far.
func (w *writer[E]) length() int { return w.counted + len(w.b) }

// cut truncates the response to the given length.
func (w *writer[E]) cut(length int) {
	if length < w.counted {
		w.counted, w.b = length, w.b[:0]
	}
	w.b = w.b[:length-w.counted]
}

// count counts and discards the bytes in b if the response is long and this is the first pass.
func (w *writer[E]) count() {
	if !w.whole && len(w.b) >= long {
		w.counted, w.b = w.length(), w.b[:0]
	}
}

// object writes an object. It returns false and writes nothing if the object is null.
func (w *writer[E]) object(g *group[E], i int) bool {
	start := w.length()
	w.b = append(w.b, '{')
	for n := range g.plan.fields {
		if w.full = w.full || w.limit.Bytes > 0 && w.length() > w.limit.Bytes; w.full {
			return true
		}
		w.count()
		f := &g.plan.fields[n]
		if n > 0 {
			w.b = append(w.b, ',')
		}
		w.b = append(w.b, f.key...)
		if w.field(g, n, i) {
			continue
		}
		if f.nonNull {
			w.cut(start)
			return false
		}
		w.b = append(w.b, "null"...)
	}
	w.b = append(w.b, '}')
	return true
}

// field writes the value of a field. It returns false and writes nothing if the value is null.
func (w *writer[E]) field(g *group[E], n, i int) bool {
	f, c := &g.plan.fields[n], &g.columns[n]
	switch {
	case f.Field == nil:
		w.b = AppendString(w.b, g.plan.of.Name)
		return true
	case f.Scalar != nil:
		b, ok := f.Scalar(w.b, g.objects[i])
		if !ok {
			if f.nonNull {
				w.mustNotBeNull(g.fieldPlace(w.ctx, i, f, nil))
			}
			return false
		}
		w.b = b
		return true
	case c.objects != nil:
		return w.value(c.objects, int32(i))
	case c.values != nil:
		v := c.values[i]
		if f.null(v) {
			return false
		}
		w.b = f.Append(w.b, v)
		return true
	case c.ends != nil:
		json := c.scalar(i)
		w.b = append(w.b, json...)
		return len(json) > 0
	}
	return false
}

// value writes the object or the list that is the value of parent i.
func (w *writer[E]) value(l *level[E], i int32) bool {
	from, to := l.starts[i], l.starts[i+1]
	switch {
	case !l.field.list:
		return from < to && w.item(l, from)
	case l.null != nil && l.null[i]:
		return false
	}
	start := w.length()
	w.b = append(w.b, '[')
	for item := from; item < to; item++ {
		if item > from {
			w.b = append(w.b, ',')
		}
		if w.item(l, item) {
			continue
		}
		if l.field.elementNonNull {
			w.cut(start)
			return false
		}
		w.b = append(w.b, "null"...)
	}
	w.b = append(w.b, ']')
	return true
}

func (w *writer[E]) item(l *level[E], item int32) bool {
	s := l.slot(item)
	return s.group >= 0 && w.object(l.groups[s.group], int(s.index))
}
