package database

import "slices"

// Best splits a list into two parts with different orders: the best entries come first, and the
// other entries follow. A Position of a best entry has a key to which BestKey was added, so it is
// above those of all other entries.
type Best struct {
	First List // its Bound is the maximum number of best entries
	Rest  List
}

// BestKey is the number that is added to the keys of the best entries in positions of the whole
// list.
const BestKey = 1 << 60

// bestPage reads a part of the whole list of a parent. It reads the best entries, the other entries
// or both, depending on the positions in part. read reads a part of one of the lists, and count
// returns the number of best entries.
func bestPage[T any](b *Best, part Slice, read func(List, Slice) (Page[T], error),
	count func() (int64, error)) (Page[T], error) {
	wanted := max(part.First, part.Last)
	inFirst := func(p *Position) bool { return p != nil && p.Key >= BestKey/2 }
	first, rest := part, part
	if inFirst(part.After) {
		first.After, rest.After = &Position{Key: part.After.Key - BestKey, ID: part.After.ID}, nil
	}
	if inFirst(part.Before) {
		first.Before = &Position{Key: part.Before.Key - BestKey, ID: part.Before.ID}
	} else {
		first.Before = nil
	}
	// follow reports whether other entries can follow the best ones: they do not if there are fewer
	// best entries than the Bound.
	follow := func() (bool, error) {
		n, err := count()
		return n == b.First.Bound, err
	}
	reachesFirst := part.After == nil || inFirst(part.After)
	reachesRest := !inFirst(part.Before)
	if part.Last > 0 {
		var p Page[T]
		if reachesRest {
			more, err := follow()
			if err != nil {
				return p, err
			}
			if more {
				if p, err = read(b.Rest, rest); err != nil || p.More || !reachesFirst {
					return p, err
				}
			}
		}
		first.Last = max(1, wanted-len(p.Entries))
		head, err := read(b.First, first)
		return joined(aboveRest(head), p, wanted, true), err
	}
	var p Page[T]
	if reachesFirst {
		var err error
		if p, err = read(b.First, first); err != nil || p.More || !reachesRest {
			return aboveRest(p), err
		}
		more := part.Offset+int64(len(p.Entries)) >= b.First.Bound
		if part.After != nil || part.Offset > 0 && len(p.Entries) == 0 {
			more, err = follow()
		}
		if err != nil || !more {
			return aboveRest(p), err
		}
		rest.Offset = max(0, part.Offset-b.First.Bound)
	}
	rest.First = max(1, wanted-len(p.Entries))
	tail, err := read(b.Rest, rest)
	return joined(aboveRest(p), tail, wanted, false), err
}

// aboveRest converts the positions of best entries to positions in the whole list, by adding
// BestKey.
func aboveRest[T any](p Page[T]) Page[T] {
	for i := range p.Entries {
		p.Entries[i].Key += BestKey
	}
	return p
}

// joined joins two consecutive parts and truncates the result to wanted entries; with fromEnd it
// keeps the last ones.
func joined[T any](a, b Page[T], wanted int, fromEnd bool) Page[T] {
	all := Page[T]{Entries: slices.Concat(a.Entries, b.Entries), More: a.More}
	if !fromEnd {
		all.More = b.More
	}
	if cut := len(all.Entries) - wanted; cut > 0 {
		all.More = true
		if fromEnd {
			all.Entries = all.Entries[cut:]
		} else {
			all.Entries = all.Entries[:wanted]
		}
	}
	return all
}
