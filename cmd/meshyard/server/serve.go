package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/meshyard/meshyard/internal/database/dblock"
	"github.com/meshyard/meshyard/internal/httpserver/draining"
	"github.com/meshyard/meshyard/internal/httpserver/httptimeout"
	"github.com/meshyard/meshyard/internal/httpserver/requestline"
	"github.com/meshyard/meshyard/internal/outage"
	"github.com/meshyard/meshyard/internal/telemetry"
	"github.com/meshyard/meshyard/models"
)

const (
	saveActivityEvery = 10 * time.Second

	// acceptTimeout is the time limit for accepting the connections that are established but not yet
	// accepted when new ones are refused.
	acceptTimeout = 5 * time.Second
)

// Listen opens a listener on the address of the settings.
func (a *Server) Listen() (net.Listener, error) {
	listener, err := draining.Listen(context.Background(), a.Settings.Listen)
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	return listener, nil
}

// Serve serves requests on listener and runs jobs until ctx ends. Then /readyz fails, and it serves
// requests for the shutdown delay of the settings. Afterwards it accepts no more connections, and
// waits at most drain for requests in flight, including uploads.
func (a *Server) Serve(ctx context.Context, listener net.Listener, drain time.Duration) error {
	ctx, lost := context.WithCancelCause(ctx)
	defer lost(nil)
	boundMemory()
	addProcessor()
	serving, stopServing := context.WithCancel(context.WithoutCancel(ctx))
	defer stopServing()
	go releaseMemory(serving, debug.FreeOSMemory)
	handler, err := a.Handler(serving)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
	}
	// Subscriptions end after the listener is closed, so that a client which subscribes again does not
	// reach this server.
	server.RegisterOnShutdown(stopServing)
	if err := a.reportReservedNames(ctx); err != nil {
		return errors.Join(err, listener.Close())
	}
	if err := a.queue.Start(context.WithoutCancel(ctx)); err != nil {
		return errors.Join(err, listener.Close())
	}
	a.Logger.Info("serving", "address", listener.Addr().String(), "base_url", a.Settings.BaseURL)
	if host, _, err := net.SplitHostPort(a.Settings.Listen); a.Settings.BaseURLIsDefault && err == nil &&
		host != "localhost" {
		if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
			a.Logger.Info("--base-url is not set: clients on other computers can use an IP address of this machine, and for another name or a proxy set it")
		}
	}

	if a.provider != nil {
		go a.checkProvider(serving)
	}
	keeping := make(chan struct{})
	go func() {
		defer close(keeping)
		a.keepLock(serving, lost)
	}()
	go a.limiters.Run(serving)
	go a.db.Follow(serving)
	stopPreviews := a.startPreviews(context.WithoutCancel(ctx))
	stopScans := a.startScans(context.WithoutCancel(ctx))
	stopLinks := a.startLinks(context.WithoutCancel(ctx))
	saved := make(chan struct{})
	saving, stopSaving := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer close(saved)
		a.saveUsage(saving)
	}()
	failed := make(chan error, 1)
	accepting := requestline.Serve(server, httptimeout.Linger(listener))
	go func() { failed <- server.Serve(accepting) }()
	select {
	case err = <-failed:
	case <-ctx.Done():
		a.Logger.Info("shutting down", "delay", a.Settings.ShutdownDelay.String(), "requests_may_take", drain.String())
		close(a.draining)
		err = shutDown(context.WithoutCancel(ctx), server, listener, a.Settings.ShutdownDelay, drain)
	}
	if cause := context.Cause(ctx); errors.Is(cause, dblock.ErrInUse) {
		err = errors.Join(fmt.Errorf("the lock of the database was lost: %w", cause), err)
	}
	stopServing()
	<-keeping
	close(a.stopping)
	stopScans()
	stopLinks()
	stopPreviews()
	stopSaving()
	<-saved
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	return errors.Join(err, a.Store.Activity.SaveActivity(stop), a.queue.Stop(stop))
}

// checkProvider logs a warning if the configuration of the OpenID provider cannot be loaded.
func (a *Server) checkProvider(ctx context.Context) {
	if err := a.provider.Check(ctx); err != nil && ctx.Err() == nil {
		a.Logger.Warn("sign-in through --oidc-issuer fails until its configuration can be loaded", "error", err.Error())
	}
}

// shutDown continues to serve for the delay, closes the listener, and waits at most drain for
// requests in flight. Then it aborts them and returns an error.
func shutDown(ctx context.Context, server *http.Server, listener net.Listener, delay, drain time.Duration) error {
	if delay > 0 {
		time.Sleep(delay)
		accepted, cancel := context.WithTimeout(ctx, acceptTimeout)
		defer cancel()
		draining.StopConnecting(accepted, listener)
	}
	end, cancel := context.WithTimeout(ctx, drain)
	defer cancel()
	if err := server.Shutdown(end); err != nil {
		return errors.Join(fmt.Errorf("requests were aborted after %s: %w", drain, err), server.Close())
	}
	return nil
}

// readiness returns the readiness probe of the server. All requests need the database: its primary
// server or, to read, the replica. Only those that read or store files need the bucket.
func (a *Server) readiness() *telemetry.Readiness {
	primary := telemetry.Part{Name: "primary", Optional: true, Ready: func(ctx context.Context) error {
		err := a.Store.DatabaseReady(ctx)
		if errors.Is(err, models.ErrNewer) {
			return fmt.Errorf("%w: %w", telemetry.ErrOutdated, err)
		}
		return err
	}}
	database := telemetry.Part{Name: "database", Ready: func(ctx context.Context) error {
		if a.db.PrimaryAway() {
			return nil
		}
		return primary.Ready(ctx)
	}}
	parts := []telemetry.Part{database, {Name: "bucket", Optional: true, Ready: a.Store.BucketReady}}
	if a.db.HasReplica() {
		parts = append(parts, primary)
	}
	return telemetry.NewReadiness(a.draining, parts...)
}

// orReplica reads for requests that change nothing from the replica while the primary is away.
func (a *Server) orReplica(next http.Handler) http.Handler {
	if !a.db.HasReplica() {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			r = r.WithContext(a.db.OrReplica(r.Context()))
		}
		next.ServeHTTP(w, r)
	})
}

// saveUsage saves recorded calls of deprecated operations, and other activity, every few seconds
// until ctx ends.
func (a *Server) saveUsage(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(saveActivityEvery):
		}
		err := a.Store.Activity.SaveActivity(ctx)
		switch down := outage.Of(err); {
		case err == nil || ctx.Err() != nil:
		case down != nil:
			outage.Log(ctx, down, err)
		default:
			a.Logger.Error("recent calls of deprecated operations were not stored", "error", err)
		}
	}
}
