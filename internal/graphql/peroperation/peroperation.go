// Package peroperation caches values that are computed from an operation of a GraphQL document,
// such as its plan or its cost. A value is kept as long as the parsed document, which package
// graphqlhttp caches, so it needs no limit of its own. A cached value must not depend on variables
// or on the caller.
package peroperation

import (
	"runtime"
	"sync"
	"weak"

	"github.com/vektah/gqlparser/v2/ast"
)

// Cache holds a value for each operation, for as long as the operation is in memory. The zero value
// is empty. It can be used concurrently.
type Cache[V any] struct {
	values sync.Map // by weak.Pointer[ast.OperationDefinition]: V
}

// Load returns the value of an operation; ok is false if there is none.
func (c *Cache[V]) Load(operation *ast.OperationDefinition) (value V, ok bool) {
	known, ok := c.values.Load(weak.Make(operation))
	if ok {
		value = known.(V)
	}
	return value, ok
}

// Store sets the value of an operation, unless it has one. The value may refer to the fields of the
// operation, but not to the operation itself, which would then stay in memory.
func (c *Cache[V]) Store(operation *ast.OperationDefinition, value V) {
	key := weak.Make(operation)
	if _, loaded := c.values.LoadOrStore(key, value); !loaded {
		runtime.AddCleanup(operation, func(key weak.Pointer[ast.OperationDefinition]) { c.values.Delete(key) }, key)
	}
}
