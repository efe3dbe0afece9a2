package otlp

import (
	"context"
	"net/http"
	"testing"

	"github.com/meshyard/meshyard/internal/telemetry/tracing"
)

// TestOffAllocatesNothing checks that work that is not traced allocates no memory for tracing.
func TestOffAllocatesNothing(t *testing.T) {
	var off *Tracer
	type key struct{}
	ctx := context.WithValue(t.Context(), key{}, "value")
	r := &http.Request{Method: http.MethodGet,
		Header: http.Header{"Traceparent": {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}}
	n := testing.AllocsPerRun(100, func() {
		ctx, request := off.Request(ctx, r)
		ctx, span := tracing.Start(ctx, "work")
		_, call := tracing.Call(ctx, "call")
		call.Text("key", "value")
		call.Number("key", 1)
		call.Fail()
		call.End()
		span.Name("other")
		span.End()
		request.End()
		if tracing.On(ctx) || request.TraceID() != "" {
			t.Fatal("the work is traced")
		}
	})
	if n > 0 {
		t.Errorf("%v allocations, want none", n)
	}
	if err := off.Close(ctx); err != nil {
		t.Error(err)
	}
}
