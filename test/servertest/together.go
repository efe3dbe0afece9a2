package servertest

import (
	"sync"
)

// Together calls fn n times concurrently and returns the results.
func Together[T any](n int, fn func(i int) T) []T {
	responses := make([]T, n)
	var start, end sync.WaitGroup
	start.Add(1)
	for i := range n {
		end.Go(func() {
			start.Wait()
			responses[i] = fn(i)
		})
	}
	start.Done()
	end.Wait()
	return responses
}
