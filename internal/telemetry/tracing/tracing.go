// Package tracing adds spans to OpenTelemetry traces. The context of a traced request contains a
// span, and work for the request adds child spans to it. If the context contains no span, nothing
// is allocated. Package otlp starts traces and sends them.
package tracing

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

const scope = "github.com/meshyard/meshyard"

// On reports whether the work of ctx is being traced.
func On(ctx context.Context) bool { return trace.SpanFromContext(ctx).IsRecording() }

// Off returns a context whose work is not traced.
func Off(ctx context.Context) context.Context { return trace.ContextWithSpan(ctx, nil) }

// Start starts a child of the span in ctx, if its work is traced. The caller must end the span.
func Start(ctx context.Context, name string) (context.Context, Span) {
	parent := trace.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return ctx, Span{}
	}
	ctx, span := parent.TracerProvider().Tracer(scope).Start(ctx, name)
	return ctx, Span{span}
}

// Call is Start for a call to another system, such as the database.
func Call(ctx context.Context, name string) (context.Context, Span) {
	parent := trace.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return ctx, Span{}
	}
	ctx, span := parent.TracerProvider().Tracer(scope).Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient))
	return ctx, Span{span}
}

// Root starts the first span of a trace on this server.
func Root(ctx context.Context, provider trace.TracerProvider, name string) (context.Context, Span) {
	ctx, span := provider.Tracer(scope).Start(ctx, name, trace.WithSpanKind(trace.SpanKindServer))
	return ctx, Span{span}
}

// Span is a span of a trace. The methods of the zero Span do nothing.
type Span struct{ span trace.Span }

// TraceID returns the id of the trace in hex, or "" if the work is not traced.
func (s Span) TraceID() string {
	if s.span == nil {
		return ""
	}
	return s.span.SpanContext().TraceID().String()
}

// Name replaces the name.
func (s Span) Name(name string) {
	if s.span != nil {
		s.span.SetName(name)
	}
}

// Text adds an attribute, unless it is empty. Attributes must not contain user data, such as
// parameters of statements.
func (s Span) Text(key, value string) {
	if s.span != nil && value != "" {
		s.span.SetAttributes(attribute.String(key, value))
	}
}

// Number adds an attribute.
func (s Span) Number(key string, value int64) {
	if s.span != nil {
		s.span.SetAttributes(attribute.Int64(key, value))
	}
}

// Fail marks the span as failed. It does not record the message of the error, which may contain
// user data.
func (s Span) Fail() {
	if s.span != nil {
		s.span.SetStatus(codes.Error, "")
	}
}

// End ends the span.
func (s Span) End() {
	if s.span != nil {
		s.span.End()
	}
}
