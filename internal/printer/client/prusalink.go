package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/meshyard/meshyard/internal/printer"
)

// prusalink is the local API of Prusa printers
// (https://github.com/prusa3d/Prusa-Link-Web/blob/master/spec/openapi.yaml).
type prusalink struct{ *client }

func (p *prusalink) Test(ctx context.Context) (string, error) {
	var v struct{ Text, Server string }
	if err := p.get(ctx, "/api/version", &v); err != nil {
		return "", err
	}
	if !strings.Contains(strings.ToLower(v.Text), "prusa") {
		return "", failed("the URL is not that of PrusaLink")
	}
	return "PrusaLink " + short(v.Server), nil
}

// storageName is a storage in the path of a file.
var storageName = regexp.MustCompile(`^[A-Za-z0-9]{1,20}$`)

// storage returns the first storage that can be written to.
func (p *prusalink) storage(ctx context.Context) (string, error) {
	var v struct {
		List []struct {
			Path      string
			Available *bool
			ReadOnly  bool `json:"read_only"`
		} `json:"storage_list"`
	}
	if err := p.get(ctx, "/api/v1/storage", &v); err != nil {
		return "", err
	}
	for _, s := range v.List {
		if name := strings.Trim(s.Path, "/"); storageName.MatchString(name) && !s.ReadOnly &&
			(s.Available == nil || *s.Available) {
			return name, nil
		}
	}
	return "", failed("the printer has no storage to write to, such as a USB drive")
}

func (p *prusalink) Send(ctx context.Context, f printer.File) error {
	storage, err := p.storage(ctx)
	if err != nil {
		return &printer.Error{Text: err.Error()} // nothing was sent yet
	}
	r, err := p.do(ctx, request{
		method: http.MethodPut, path: "/api/v1/files/" + storage + "/" + url.PathEscape(f.Name),
		header: http.Header{"Content-Type": {"application/octet-stream"}, "Print-After-Upload": {"?1"}, "Overwrite": {"?0"}},
		body:   f.Content, size: f.Size, timeout: p.network.timeouts.Send,
	})
	if r != nil {
		return r.refused() // an error in the body of a success is ignored: the printer has the file
	}
	return err
}

func (p *prusalink) Has(ctx context.Context, name string, size int64) (bool, error) {
	storage, err := p.storage(ctx)
	if err != nil {
		return false, err
	}
	r, err := p.do(ctx, request{method: http.MethodGet, path: "/api/v1/files/" + storage + "/" + url.PathEscape(name)})
	if err != nil || r.status == http.StatusNotFound {
		return false, err
	}
	if err := r.refused(); err != nil {
		return false, err
	}
	var v struct{ Size int64 }
	return json.Unmarshal(r.body, &v) == nil && v.Size == size, nil
}

// prusalinkJob is the response of GET /api/v1/job. Names of files may be shortened to 8.3, the
// display name is whole.
type prusalinkJob struct {
	ID            int64
	State         string
	Progress      float64 // percent
	TimeRemaining float64 `json:"time_remaining"` // seconds
	File          struct {
		Name        string
		DisplayName string `json:"display_name"`
	}
}

// is reports whether a job, which may be nil, prints a file.
func (j *prusalinkJob) is(name string) bool {
	return j != nil && name != "" && (j.File.Name == name || j.File.DisplayName == name)
}

// job returns the current job, or nil if there is none.
func (p *prusalink) job(ctx context.Context) (*prusalinkJob, error) {
	r, err := p.do(ctx, request{method: http.MethodGet, path: "/api/v1/job"})
	if err != nil || r.status == http.StatusNoContent {
		return nil, err
	}
	if err := r.refused(); err != nil {
		return nil, err
	}
	j := new(prusalinkJob)
	if json.Unmarshal(r.body, j) != nil {
		return nil, failed("the response of the printer is not what its program documents")
	}
	return j, nil
}

func (p *prusalink) Status(ctx context.Context, name string) (printer.Status, error) {
	var v struct{ Printer struct{ State string } }
	if err := p.get(ctx, "/api/v1/status", &v); err != nil {
		return printer.Status{}, err
	}
	phase := printer.Busy
	switch v.Printer.State {
	case "IDLE", "READY", "FINISHED", "STOPPED":
		phase = printer.Idle
	case "ERROR":
		phase = printer.Offline
	case "BUSY", "PRINTING", "PAUSED", "ATTENTION":
	default:
		return printer.Status{}, failed("the response of the printer is not what its program documents")
	}
	j, err := p.job(ctx)
	if err != nil || !j.is(name) {
		return printer.Status{Phase: phase}, err
	}
	s := printer.Status{Progress: part(j.Progress / 100), Remaining: seconds(j.TimeRemaining)}
	switch j.State {
	case "PRINTING", "BUSY", "READY":
		s.Phase = printer.Printing
	case "PAUSED", "ATTENTION":
		s.Phase = printer.Paused
	case "FINISHED":
		s.Phase, s.Progress, s.Remaining = printer.Done, 1, 0
	case "STOPPED":
		s.Phase, s.Remaining = printer.Cancelled, 0
	case "ERROR":
		s.Phase, s.Remaining = printer.Failed, 0
	default:
		return printer.Status{}, failed("the response of the printer is not what its program documents")
	}
	return s, nil
}

func (p *prusalink) Cancel(ctx context.Context, name string) error {
	j, err := p.job(ctx)
	if err != nil || !j.is(name) {
		return err
	}
	return p.send(ctx, http.MethodDelete, "/api/v1/job/"+strconv.FormatInt(j.ID, 10), "", "")
}

func (p *prusalink) Picture(ctx context.Context) ([]byte, error) {
	return p.picture(ctx, "/api/v1/cameras/snap")
}
