// Package otlp starts OpenTelemetry traces of HTTP requests and sends them to a collector.
package otlp

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/meshyard/meshyard/internal/telemetry/tracing"
)

// exportEvery is how long ended spans wait for others before they are sent.
const exportEvery = time.Second

// Tracer starts traces and sends them to a collector. A nil Tracer traces nothing.
type Tracer struct {
	provider *sdktrace.TracerProvider
	requests propagation.TraceContext
}

// New returns a tracer that sends traces by OTLP over HTTP to an endpoint such as
// http://127.0.0.1:4318, to which it adds the path /v1/traces. ratio is the fraction of requests
// that are traced, from 0 to 1; the header traceparent of a request overrides it. Spans that the
// collector does not accept in time are dropped.
func New(ctx context.Context, endpoint, version string, ratio float64) (*Tracer, error) {
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(strings.TrimRight(endpoint, "/")+"/v1/traces"))
	if err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	about, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", "meshyard"),
		attribute.String("service.version", version)),
		resource.WithFromEnv()) // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES
	if err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	return &Tracer{provider: sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(exporter, sdktrace.WithBatchTimeout(exportEvery)),
		sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(ratio))),
		sdktrace.WithResource(about),
	)}, nil
}

// Close sends the remaining spans. It stops when ctx is done.
func (t *Tracer) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}

// Request starts the span of an HTTP request. It is a child of the span in the header traceparent
// (W3C Trace Context) if there is one.
func (t *Tracer) Request(ctx context.Context, r *http.Request) (context.Context, tracing.Span) {
	if t == nil {
		return ctx, tracing.Span{}
	}
	ctx = t.requests.Extract(ctx, propagation.HeaderCarrier(r.Header))
	return tracing.Root(ctx, t.provider, r.Method)
}
