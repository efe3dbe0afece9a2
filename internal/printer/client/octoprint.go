package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/meshyard/meshyard/internal/printer"
)

// octoprint is the REST API of OctoPrint (https://docs.octoprint.org/en/master/api/).
type octoprint struct{ *client }

func (o *octoprint) Test(ctx context.Context) (string, error) {
	var v struct{ Text, Server string }
	if err := o.get(ctx, "/api/version", &v); err != nil {
		return "", err
	}
	if !strings.Contains(v.Text, "OctoPrint") {
		return "", failed("the URL is not that of OctoPrint")
	}
	return "OctoPrint " + short(v.Server), nil
}

func (o *octoprint) Send(ctx context.Context, f printer.File) error {
	r, err := o.upload(ctx, "/api/files/local", [][2]string{{"select", "true"}, {"print", "true"}}, f)
	if err != nil {
		return err
	}
	var v struct{ EffectivePrint *bool }
	if json.Unmarshal(r.body, &v) == nil && v.EffectivePrint != nil && !*v.EffectivePrint {
		return failed("OctoPrint has stored the file, but does not print it: the printer is not connected or not ready")
	}
	return nil
}

func (o *octoprint) Has(ctx context.Context, name string, size int64) (bool, error) {
	r, err := o.do(ctx, request{method: http.MethodGet, path: "/api/files/local/" + url.PathEscape(name)})
	if err != nil || r.status == http.StatusNotFound {
		return false, err
	}
	var v struct{ Size int64 }
	if err := r.refused(); err != nil {
		return false, err
	}
	return json.Unmarshal(r.body, &v) == nil && v.Size == size, nil
}

// octoprintJob is the response of GET /api/job.
type octoprintJob struct {
	Job struct {
		File struct{ Name string }
	}
	Progress struct {
		Completion    float64 // percent
		PrintTimeLeft float64 // seconds
	}
	State string
}

func (o *octoprint) Status(ctx context.Context, name string) (printer.Status, error) {
	var j octoprintJob
	if err := o.get(ctx, "/api/job", &j); err != nil {
		return printer.Status{}, err
	}
	s := printer.Status{Progress: part(j.Progress.Completion / 100), Remaining: seconds(j.Progress.PrintTimeLeft)}
	ours := name != "" && j.Job.File.Name == name
	switch state := j.State; {
	case state == "":
		return printer.Status{}, failed("the response of the printer is not what its program documents")
	case strings.HasPrefix(state, "Offline"), strings.HasPrefix(state, "Error"), strings.Contains(state, "onnecting"),
		strings.Contains(state, "etecting"),
		strings.HasPrefix(state, "Opening"):
		s.Phase = printer.Offline
	case !ours && state == "Operational":
		s.Phase = printer.Idle
	case !ours:
		s.Phase = printer.Busy
	case state == "Paused" || state == "Pausing":
		s.Phase = printer.Paused
	case state != "Operational": // also Printing, Resuming, Finishing, Cancelling, Starting
		s.Phase = printer.Printing
	case s.Progress >= 1:
		s.Phase, s.Remaining = printer.Done, 0
	default: // selected, but it does not print any more
		s.Phase, s.Remaining = printer.Cancelled, 0
	}
	return s, nil
}

func (o *octoprint) Cancel(ctx context.Context, name string) error {
	s, err := o.Status(ctx, name)
	if err != nil || s.Phase != printer.Printing && s.Phase != printer.Paused {
		return err
	}
	return o.send(ctx, http.MethodPost, "/api/job", "application/json", `{"command": "cancel"}`)
}

func (o *octoprint) Picture(ctx context.Context) ([]byte, error) {
	var v struct {
		Webcam struct {
			WebcamEnabled *bool
			SnapshotURL   string `json:"snapshotUrl"`
			StreamURL     string `json:"streamUrl"`
		}
	}
	if err := o.get(ctx, "/api/settings", &v); err != nil {
		return nil, err
	}
	if v.Webcam.WebcamEnabled != nil && !*v.Webcam.WebcamEnabled {
		return nil, printer.ErrNoCamera
	}
	path := o.cameraPath(v.Webcam.SnapshotURL)
	if path == "" { // the stream of mjpg-streamer, which also takes single pictures
		if stream := strings.Replace(v.Webcam.StreamURL, "action=stream", "action=snapshot",
			1); stream != v.Webcam.StreamURL {
			path = o.cameraPath(stream)
		}
	}
	if path == "" {
		return nil, printer.ErrNoCamera
	}
	return o.picture(ctx, path)
}
