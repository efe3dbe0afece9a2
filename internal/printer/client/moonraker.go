package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/meshyard/meshyard/internal/printer"
)

// moonraker is the HTTP API of Moonraker, which controls Klipper
// (https://moonraker.readthedocs.io/en/latest/external_api/introduction/).
type moonraker struct{ *client }

func (m *moonraker) Test(ctx context.Context) (string, error) {
	var v struct {
		Result struct {
			MoonrakerVersion string `json:"moonraker_version"`
			KlippyState      string `json:"klippy_state"`
		}
	}
	if err := m.get(ctx, "/server/info", &v); err != nil {
		return "", err
	}
	if v.Result.KlippyState == "" {
		return "", failed("the URL is not that of Moonraker")
	}
	return "Moonraker " + short(v.Result.MoonrakerVersion), nil
}

func (m *moonraker) Send(ctx context.Context, f printer.File) error {
	fields := [][2]string{{"root", "gcodes"}, {"print", "true"}}
	if f.SHA256 != "" {
		fields = append(fields, [2]string{"checksum", f.SHA256})
	}
	r, err := m.upload(ctx, "/server/files/upload", fields, f)
	if err != nil {
		return err
	}
	type started struct {
		PrintStarted *bool `json:"print_started"`
		PrintQueued  bool  `json:"print_queued"`
	}
	var v struct {
		started
		Result started // of other versions
	}
	_ = json.Unmarshal(r.body, &v) // the printer has the file, whatever it says
	s := v.started
	if s.PrintStarted == nil {
		s = v.Result
	}
	if s.PrintStarted != nil && !*s.PrintStarted && !s.PrintQueued {
		return failed("Moonraker has stored the file, but does not print it: the printer is not ready")
	}
	return nil
}

func (m *moonraker) Has(ctx context.Context, name string, size int64) (bool, error) {
	r, err := m.do(ctx, request{method: http.MethodGet, path: "/server/files/metadata?filename=" + url.QueryEscape(name)})
	if err != nil || r.status == http.StatusNotFound {
		return false, err
	}
	if err := r.refused(); err != nil {
		return false, err
	}
	var v struct{ Result struct{ Size int64 } }
	return json.Unmarshal(r.body, &v) == nil && v.Result.Size == size, nil
}

func (m *moonraker) Status(ctx context.Context, name string) (printer.Status, error) {
	var v struct {
		Result struct {
			Status struct {
				PrintStats *struct {
					Filename      string
					State         string
					PrintDuration float64 `json:"print_duration"`
				} `json:"print_stats"`
				VirtualSDCard struct{ Progress float64 } `json:"virtual_sdcard"`
			}
		}
	}
	r, err := m.do(ctx, request{method: http.MethodGet, path: "/printer/objects/query?print_stats&virtual_sdcard"})
	if err != nil {
		return printer.Status{}, err
	}
	// Klipper is not connected or not ready.
	if r.status == http.StatusServiceUnavailable || r.status == http.StatusBadRequest {
		return printer.Status{Phase: printer.Offline}, nil
	}
	if err := r.refused(); err != nil {
		return printer.Status{}, err
	}
	if json.Unmarshal(r.body, &v) != nil || v.Result.Status.PrintStats == nil {
		return printer.Status{}, failed("the response of the printer is not what its program documents")
	}
	stats := v.Result.Status.PrintStats
	s := printer.Status{Progress: part(v.Result.Status.VirtualSDCard.Progress)}
	ours := name != "" && stats.Filename == name
	switch active := stats.State == "printing" || stats.State == "paused"; {
	case !ours && active:
		s = printer.Status{Phase: printer.Busy}
	case !ours:
		s = printer.Status{Phase: printer.Idle}
	case stats.State == "printing":
		s.Phase = printer.Printing
		if s.Progress > 0 {
			s.Remaining = seconds(stats.PrintDuration * (1 - s.Progress) / s.Progress)
		}
	case stats.State == "paused":
		s.Phase = printer.Paused
	case stats.State == "complete":
		s.Phase, s.Progress = printer.Done, 1
	case stats.State == "cancelled":
		s.Phase = printer.Cancelled
	case stats.State == "error":
		s.Phase = printer.Failed
	case stats.State == "standby":
		s.Phase = printer.Idle
	default:
		return printer.Status{}, failed("the response of the printer is not what its program documents")
	}
	return s, nil
}

func (m *moonraker) Cancel(ctx context.Context, name string) error {
	s, err := m.Status(ctx, name)
	if err != nil || s.Phase != printer.Printing && s.Phase != printer.Paused {
		return err
	}
	return m.send(ctx, http.MethodPost, "/printer/print/cancel", "", "")
}

func (m *moonraker) Picture(ctx context.Context) ([]byte, error) {
	var v struct {
		Result struct {
			Webcams []struct {
				Enabled     *bool
				SnapshotURL string `json:"snapshot_url"`
			}
		}
	}
	if err := m.get(ctx, "/server/webcams/list", &v); err != nil {
		return nil, err
	}
	for _, camera := range v.Result.Webcams {
		if path := m.cameraPath(camera.SnapshotURL); path != "" && (camera.Enabled == nil || *camera.Enabled) {
			return m.picture(ctx, path)
		}
	}
	return nil, printer.ErrNoCamera
}
