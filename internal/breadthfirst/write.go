package breadthfirst

// writer writes the JSON of the resolved values. It propagates nulls while it writes: it removes an
// object again if a non-null field of it is null.
type writer[E any] struct {
	*run[E]
	b    []byte
	full bool // the limit is exceeded, and the content of b is not used
}

// object writes an object. It returns false and writes nothing if the object is null.
func (w *writer[E]) object(g *group[E], i int) bool {
	w.grow()
	start := len(w.b)
	w.b = append(w.b, '{')
	for n := range g.plan.fields {
		if w.full = w.full || w.limit.Bytes > 0 && len(w.b) > w.limit.Bytes; w.full {
			return true
		}
		f := &g.plan.fields[n]
		if n > 0 {
			w.b = append(w.b, ',')
		}
		w.b = append(w.b, f.key...)
		if w.field(g, n, i) {
			continue
		}
		if f.nonNull {
			w.b = w.b[:start]
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
	start := len(w.b)
	w.b = append(w.b, '[')
	for item := from; item < to; item++ {
		if item > from {
			w.b = append(w.b, ',')
		}
		if w.item(l, item) {
			continue
		}
		if l.field.elementNonNull {
			w.b = w.b[:start]
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

// long is the length in bytes from which an answer is long.
const long = 1 << 20

// room makes room for an answer of n bytes, or for the longest answer at once when an answer gets
// long: appending would copy it again and again, and all copies would wait for the garbage
// collector. What is not written to takes no memory.
func (w *writer[E]) room(n int) {
	if n > long {
		n = max(n, w.limit.Bytes*9/8)
	}
	w.b = append(make([]byte, 0, n), w.b...)
}

// grow makes room when an answer gets long.
func (w *writer[E]) grow() {
	if len(w.b) > long && cap(w.b)-len(w.b) < long && cap(w.b) < w.limit.Bytes*9/8 {
		w.room(cap(w.b))
	}
}
