package rest

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/meshyard/meshyard/graph"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/urls/signing"
)

// requiredOptions returns options with everything that Handler requires.
func requiredOptions() Options {
	return Options{
		Graph:     graph.New(new(graph.Resolver)),
		MayUpload: func(context.Context, int64) error { return nil },
		StoreForm: func(context.Context, signing.Form, int64, io.Reader) error { return nil },
	}
}

// TestRequiredOptions checks that Handler names the required option that is missing.
func TestRequiredOptions(t *testing.T) {
	if _, err := Handler(requiredOptions()); err != nil {
		t.Errorf("with all required options: %v", err)
	}
	for name, omit := range map[string]func(*Options){
		"Graph":     func(o *Options) { o.Graph = nil },
		"MayUpload": func(o *Options) { o.MayUpload = nil },
		"StoreForm": func(o *Options) { o.StoreForm = nil },
	} {
		o := requiredOptions()
		omit(&o)
		if _, err := Handler(o); err == nil || !strings.Contains(err.Error(), "Options."+name) {
			t.Errorf("without %s: got the error %v, want one that names it", name, err)
		}
	}
}

// TestOptionalOptions checks that a deprecated operation works without the optional functions.
func TestOptionalOptions(t *testing.T) {
	h, err := Handler(requiredOptions())
	if err != nil {
		t.Fatal(err)
	}
	ctx := auth.WithCaller(t.Context(), auth.Caller{UserID: 1, Scopes: auth.Scopes{auth.Write}}, nil)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/files/x/finalize", nil).WithContext(ctx))
	if w.Code != http.StatusNotFound {
		t.Errorf("POST /files/x/finalize: got %d, want 404", w.Code)
	}
}
