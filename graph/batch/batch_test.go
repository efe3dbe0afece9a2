package batch_test

import (
	"context"
	"slices"
	"testing"

	"github.com/meshyard/meshyard/graph/batch"
)

type object struct{ id int64 }

func id(o *object) int64 { return o.id }

// TestJoin checks which objects are loaded together after Join.
func TestJoin(t *testing.T) {
	for _, c := range []struct {
		name   string
		sets   [][]int64 // IDs; the batches are {1, 2} and {3, 4}, and 5 has none
		loaded bool      // whether a value was already loaded for {1, 2}
		want   []int64   // the IDs loaded together with 1
	}{
		{"one set", [][]int64{{1, 2, 3, 4, 5}}, false, []int64{1, 2, 3, 4, 5}},
		{"two sets", [][]int64{{1, 2}, {3, 4, 5}}, false, []int64{1, 2}},
		{"a batch in both sets", [][]int64{{1, 5}, {2, 3}}, false, []int64{1, 2}},
		{"a batch with values", [][]int64{{1, 2, 3, 4}}, true, []int64{1, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := batch.NewRegistry()
			ctx := batch.WithRegistry(t.Context(), r)
			objects := []*object{nil, {1}, {2}, {3}, {4}, {5}}
			batch.Add(r, objects[1:3])
			batch.Add(r, objects[3:5])
			var asked []int64
			values := batch.Values(func(_ context.Context, ids []int64) (map[int64]bool, error) {
				asked = slices.Sorted(slices.Values(ids))
				return nil, nil
			})
			if c.loaded {
				none := batch.Values(func(context.Context, []int64) (map[int64]bool, error) { return nil, nil })
				if _, err := batch.Load(ctx, objects[1:2], none, id); err != nil {
					t.Fatal(err)
				}
			}
			var sets [][]any
			for _, ids := range c.sets {
				var set []any
				for _, id := range ids {
					set = append(set, objects[id])
				}
				sets = append(sets, set)
			}
			batch.Join(r, sets)
			if _, err := batch.Load(ctx, objects[1:2], values, id); err != nil || !slices.Equal(asked, c.want) {
				t.Errorf("loaded %v (%v), want %v", asked, err, c.want)
			}
		})
	}
}

// TestSplit checks that an object is loaded alone after Split.
func TestSplit(t *testing.T) {
	r := batch.NewRegistry()
	ctx := batch.WithRegistry(t.Context(), r)
	objects := []*object{{1}, {2}}
	batch.Add(r, objects)
	batch.Split(r, objects[0])
	var asked []int64
	values := batch.Values(func(_ context.Context, ids []int64) (map[int64]bool, error) {
		asked = slices.Sorted(slices.Values(ids))
		return nil, nil
	})
	if _, err := batch.Load(ctx, objects[:1], values, id); err != nil || !slices.Equal(asked, []int64{1}) {
		t.Errorf("loaded %v (%v), want 1 alone", asked, err)
	}
}
