package peroperation_test

import (
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/meshyard/meshyard/internal/graphql/peroperation"
)

// TestCacheReleasesOperations checks that a cache has the values of operations, and does not keep
// them in memory.
func TestCacheReleasesOperations(t *testing.T) {
	var cache peroperation.Cache[*[1 << 20]byte]
	operation := &ast.OperationDefinition{Name: "a"}
	if _, ok := cache.Load(operation); ok {
		t.Error("a value that nobody stored")
	}
	value := new([1 << 20]byte)
	kept := weak.Make(value)
	cache.Store(operation, value)
	cache.Store(operation, nil)
	if got, ok := cache.Load(operation); !ok || got != value {
		t.Error("the first value is not there")
	}
	runtime.KeepAlive(operation)
	for end := time.Now().Add(10 * time.Second); kept.Value() != nil; runtime.GC() {
		if time.Now().After(end) {
			t.Fatal("the value is still in memory")
		}
	}
	runtime.KeepAlive(&cache)
}
