package printer

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/bucket"
	"github.com/meshyard/meshyard/internal/printer"
	"github.com/meshyard/meshyard/internal/printer/client"
	"github.com/meshyard/meshyard/internal/printer/printertest"
	"github.com/meshyard/meshyard/models"
	"github.com/meshyard/meshyard/models/account"
	"github.com/meshyard/meshyard/models/activity"
	"github.com/meshyard/meshyard/models/modelstest"
	"github.com/meshyard/meshyard/models/social"
	"github.com/meshyard/meshyard/models/uploads"
)

// scene is a user with a published G-code file and a printer.
type scene struct {
	*Store
	t       *testing.T
	ada     auth.Caller
	thing   *models.Thing
	file    *models.File
	stub    *printertest.Stub
	printer *Printer
	driven  int // jobs that were scheduled
}

// each runs a test with a printer of a kind on each engine.
func each(t *testing.T, kind printer.Kind, test func(s *scene)) {
	t.Parallel()
	modelstest.EachEngine(t, func(t *testing.T, db *models.DB, b *bucket.Bucket) {
		s := &scene{t: t}
		core := models.NewStore(db, b, modelstest.Options, func(_ context.Context, _ bun.Tx, w models.Work) error {
			if w.DrivePrinter != 0 {
				s.driven++
			}
			return nil
		})
		network := client.NewNetwork(printertest.Local, "test", client.Timeouts{})
		options := Options{Check: network.Check, Connect: network.Printer, Poll: time.Nanosecond}
		s.Store = New(core, activity.New(core, account.New(core, account.Objects{Social: social.New(core)})), options)
		s.ada = modelstest.NewUser(t, core, "ada")
		s.thing = modelstest.Published(t, core, s.ada)
		s.file = s.upload("benchy.gcode", "G28\n")
		s.stub = printertest.New(t, kind)
		var err error
		s.printer, err = s.CreatePrinter(t.Context(), s.ada, Input{Name: "Printer", Kind: kind, URL: s.stub.URL,
			Key: printertest.Key})
		if err != nil {
			t.Fatal(err)
		}
		test(s)
	})
}

func (s *scene) upload(name, content string) *models.File {
	s.t.Helper()
	ctx := s.t.Context()
	f, err := uploads.New(s.core).Upload(ctx, s.ada, uploads.NewUpload{Name: name, Bytes: strings.NewReader(content)})
	if err == nil {
		_, err = s.core.Finalize(ctx, s.ada, []models.FinalizeFile{{ID: f.ID}}, models.Target{Type: models.OnThing,
			ID: s.thing.ID})
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return f
}

func (s *scene) send(f *models.File) *Job {
	s.t.Helper()
	j, err := s.SendToPrinter(s.t.Context(), s.ada, Send{s.printer.ID, f.ID})
	if err != nil {
		s.t.Fatal(err)
	}
	return j
}

// drive looks at the printer and returns a print as it is then.
func (s *scene) drive(id int64) *Job {
	s.t.Helper()
	if err := s.Drive(s.t.Context(), s.printer.ID); err != nil {
		s.t.Fatal(err)
	}
	return s.job(id)
}

func (s *scene) job(id int64) *Job {
	s.t.Helper()
	j := new(Job)
	if err := s.core.DB.Write.NewSelect().Model(j).Where("pj.id = ?", id).Scan(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	return j
}

// want checks the state of a print.
func (s *scene) want(when string, j *Job, state State, message string) {
	s.t.Helper()
	if j.State != state || !strings.Contains(j.Message, message) {
		s.t.Errorf("%s: the print is %s (%q), want %s (%q)", when, j.State, j.Message, state, message)
	}
}

// exec changes rows, as time or a crash would.
func (s *scene) exec(statement string, args ...any) {
	s.t.Helper()
	if _, err := s.core.DB.Write.NewRaw(statement, args...).Exec(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

// TestPrint sends a file to a printer of each kind and follows the print to its end.
func TestPrint(t *testing.T) {
	for _, kind := range printertest.Kinds {
		t.Run(string(kind), func(t *testing.T) {
			each(t, kind, func(s *scene) {
				tested, err := s.TestPrinter(s.t.Context(), s.ada, s.printer.ID)
				if err != nil || !tested.IsUsable || tested.Phase != printer.Idle || tested.Version == "" {
					s.t.Fatalf("the test of the printer got %+v (%v)", tested, err)
				}
				j := s.send(s.file)
				s.want("before", s.job(j.ID), Queued, "")
				s.want("after sending", s.drive(j.ID), Printing, "")
				uploads := s.stub.Uploads()
				if len(uploads) != 1 || string(uploads[0].Content) != "G28\n" || !uploads[0].Prints ||
					uploads[0].Name != s.job(j.ID).RemoteName {
					s.t.Fatalf("the printer got %+v", uploads)
				}
				s.stub.Set(printer.Printing, 0.5)
				if j = s.drive(j.ID); j.State != Printing || j.Progress != 0.5 || j.RemainingSeconds == nil ||
					*j.RemainingSeconds < 1 {
					s.t.Errorf("half of it: got %+v", j)
				}
				s.stub.Set(printer.Done, 1)
				if j = s.drive(j.ID); j.State != Done || j.Progress != 1 || j.EndedAt == nil {
					s.t.Errorf("at the end: got %+v", j)
				}
				scheduled := s.driven
				s.drive(j.ID)
				if s.driven != scheduled || len(s.stub.Uploads()) != 1 {
					s.t.Errorf("after the end, %d jobs were scheduled and %d files sent", s.driven-scheduled, len(s.stub.Uploads())-1)
				}
				if f, err := s.core.File(s.t.Context(), s.ada, models.AllFileFields, s.file.ID); err != nil ||
					f.DownloadCount() != 1 {
					s.t.Errorf("the file has %d downloads (%v), want 1", f.DownloadCount(), err)
				}
			})
		})
	}
}

// TestKeyIsEncrypted checks that the database does not contain the key, that it cannot be opened
// for another owner, and that it is not sent to a new URL.
func TestKeyIsEncrypted(t *testing.T) {
	each(t, printer.OctoPrint, func(s *scene) {
		ctx := s.t.Context()
		row := new(Printer)
		if err := s.core.DB.Write.NewSelect().Model(row).Where("pr.id = ?", s.printer.ID).Scan(ctx); err != nil {
			s.t.Fatal(err)
		}
		if strings.Contains(row.SealedKey, printertest.Key) || row.SealedKey == "" {
			s.t.Errorf("the key is stored as %q", row.SealedKey)
		}
		if key, err := s.open(ctx, row); key != printertest.Key || err != nil {
			s.t.Errorf("the key is %q (%v)", key, err)
		}
		row.OwnerID++
		if key, err := s.open(ctx, row); err == nil {
			s.t.Errorf("the key of another owner is %q", key)
		}
		other := "http://127.0.0.1:1/"
		if _, err := s.UpdatePrinter(ctx, s.ada, Change{ID: s.printer.ID, URL: &other}); models.CodeOf(
			err) != models.BadInput || !strings.Contains(err.Error(), "key") {
			s.t.Errorf("a new URL without the key: %v", err)
		}
		if _, err := s.UpdatePrinter(ctx, s.ada, Change{ID: s.printer.ID, URL: &other, Key: new("new")}); err != nil {
			s.t.Error(err)
		}
		s.exec("UPDATE secrets SET value = ? WHERE name = 'printers'", bytes.Repeat([]byte{1}, 32))
		if tested, err := s.TestPrinter(ctx, s.ada, s.printer.ID); err != nil || tested.IsUsable ||
			!strings.Contains(tested.Message, "enter it again") {
			s.t.Errorf("with another secret: got %+v (%v)", tested, err)
		}
	})
}

// TestCrashWhileSending checks that a print whose sender died is sent once or unknown, and that it
// is sent again only when its user says so.
func TestCrashWhileSending(t *testing.T) {
	for _, kind := range printertest.Kinds {
		t.Run(string(kind), func(t *testing.T) {
			each(t, kind, func(s *scene) {
				// The process dies before the first byte.
				j := s.send(s.file)
				s.exec("UPDATE print_jobs SET state = 'sending', remote_name = 'benchy-1.gcode' WHERE id = ?", j.ID)
				j = s.drive(j.ID)
				s.want("died before the first byte", j, Unknown, "the server stopped")
				if j.IsOnPrinter == nil || *j.IsOnPrinter {
					s.t.Errorf("the printer has the file: %v", j.IsOnPrinter)
				}
				s.drive(j.ID)
				if _, err := s.SendToPrinter(s.t.Context(), s.ada, Send{s.printer.ID, s.file.ID}); models.CodeOf(
					err) != models.Conflict {
					s.t.Errorf("the same file can be sent again: %v", err)
				}
				if got := s.stub.Uploads(); len(got) != 0 {
					s.t.Fatalf("without an answer, the printer got %+v", got)
				}
				if _, err := s.StartPrint(s.t.Context(), s.ada, j.ID); err != nil {
					s.t.Fatal(err)
				}
				s.want("started again", s.drive(j.ID), Printing, "")

				// The process dies after the last byte, and before it stores the result.
				s.exec("UPDATE print_jobs SET state = 'sending', sent_at = NULL WHERE id = ?", j.ID)
				s.want("died after the last byte", s.drive(j.ID), Printing, "")
				if got := s.stub.Uploads(); len(got) != 1 {
					s.t.Errorf("the printer got %d files, want 1", len(got))
				}
			})
		})
	}
}

// TestLostResponse checks that an upload whose response is lost is not repeated: the printer is
// asked whether it has the file.
func TestLostResponse(t *testing.T) {
	each(t, printer.OctoPrint, func(s *scene) {
		var kept bool // whether the printer keeps what it received
		s.stub.Before = func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodPost {
				return false
			}
			if kept {
				s.stub.Before = nil
				s.stub.Config.Handler.ServeHTTP(&lost{w}, r)
			}
			panic(http.ErrAbortHandler)
		}
		j := s.send(s.file)
		s.want("nothing was kept", s.drive(j.ID), Unknown, "connection to the printer failed")
		kept = true
		if _, err := s.StartPrint(s.t.Context(), s.ada, j.ID); err != nil {
			s.t.Fatal(err)
		}
		s.want("the response was lost", s.drive(j.ID), Printing, "")
		if got := s.stub.Uploads(); len(got) != 1 {
			s.t.Errorf("the printer got %d files, want 1", len(got))
		}
	})
}

// lost is a response that is not sent.
type lost struct{ http.ResponseWriter }

func (*lost) Write(b []byte) (int, error) { return len(b), nil }
func (*lost) WriteHeader(int)             {}

// TestBedIsConfirmed checks that a print that waited for another one is held until its user says
// that the bed is empty.
func TestBedIsConfirmed(t *testing.T) {
	each(t, printer.Moonraker, func(s *scene) {
		first, second := s.send(s.file), s.send(s.upload("second.gcode", "G28\nG1\n"))
		s.drive(first.ID)
		s.want("while the first is printed", s.drive(second.ID), Queued, "")
		s.stub.Set(printer.Done, 1)
		s.want("the first is done", s.drive(first.ID), Done, "")
		s.want("then", s.drive(second.ID), Held, "bed")
		s.drive(second.ID)
		if got := s.stub.Uploads(); len(got) != 1 {
			s.t.Fatalf("the printer got %d files", len(got))
		}
		if _, err := s.StartPrint(s.t.Context(), s.ada, second.ID); err != nil {
			s.t.Fatal(err)
		}
		s.want("confirmed", s.drive(second.ID), Printing, "")
		s.stub.Print("foreign.gcode")
		third := s.send(s.upload("third.gcode", "G28\nG2\n"))
		s.exec("UPDATE print_jobs SET state = 'done', ended_at = created_at WHERE id = ?", second.ID)
		s.want("another program prints", s.drive(third.ID), Queued, "busy")
		s.stub.Set(printer.Idle, 0)
		s.want("it is done", s.drive(third.ID), Held, "bed")
	})
}

// TestCancelPrint cancels prints in each state.
func TestCancelPrint(t *testing.T) {
	each(t, printer.PrusaLink, func(s *scene) {
		ctx := s.t.Context()
		j := s.send(s.file)
		if _, err := s.CancelPrint(ctx, s.ada, j.ID); err != nil {
			s.t.Fatal(err)
		}
		s.want("queued", s.drive(j.ID), Cancelled, "")
		if _, err := s.CancelPrint(ctx, s.ada, j.ID); models.CodeOf(err) != models.Conflict {
			s.t.Errorf("canceling twice: %v", err)
		}
		j = s.send(s.file)
		s.drive(j.ID)
		bob := modelstest.NewUser(s.t, s.core, "bob")
		if _, err := s.CancelPrint(ctx, bob, j.ID); models.CodeOf(err) != models.NotFound {
			s.t.Errorf("bob cancels: %v", err)
		}
		if _, err := s.CancelPrint(ctx, s.ada, j.ID); err != nil || s.stub.Canceled() != 1 {
			s.t.Errorf("printing: %v, %d prints were canceled", err, s.stub.Canceled())
		}
		s.want("canceled", s.drive(j.ID), Cancelled, "")
		j = s.send(s.file)
		s.exec("UPDATE print_jobs SET state = 'sending' WHERE id = ?", j.ID)
		if _, err := s.CancelPrint(ctx, s.ada, j.ID); models.CodeOf(err) != models.Conflict {
			s.t.Errorf("sending: %v", err)
		}
	})
}

// TestUnreachable checks that a print waits for a printer that is off, for a day.
func TestUnreachable(t *testing.T) {
	each(t, printer.OctoPrint, func(s *scene) {
		s.stub.CloseClientConnections()
		s.stub.Close()
		j := s.send(s.file)
		s.want("off", s.drive(j.ID), Queued, "cannot be reached")
		s.exec("UPDATE print_jobs SET created_at = ? WHERE id = ?", models.Now().Add(-25*time.Hour), j.ID)
		s.want("a day later", s.drive(j.ID), Failed, "cannot be reached")
	})
}

// TestOutcomes checks what becomes of prints that printers report in odd ways.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		job     Job
		status  printer.Status
		late    bool
		want    State
		message string
	}{
		{"not begun yet", Job{}, printer.Status{Phase: printer.Idle}, false, Printing, ""},
		{"never begun", Job{}, printer.Status{Phase: printer.Idle}, true, Unknown, "how the print ended"},
		{"selected, but not printed", Job{}, printer.Status{Phase: printer.Cancelled}, true, Failed, "has not printed it"},
		{"canceled at the printer", Job{HasStarted: true}, printer.Status{Phase: printer.Cancelled}, false, Cancelled, ""},
		{"forgotten at the end", Job{HasStarted: true, Progress: 0.995}, printer.Status{Phase: printer.Idle}, false,
			Done, ""},
		{"forgotten before", Job{HasStarted: true, Progress: 0.5}, printer.Status{Phase: printer.Busy}, false, Unknown,
			"how the print ended"},
		{"canceled and forgotten", Job{HasStarted: true, CanceledAt: new(models.Now())}, printer.Status{Phase: printer.Idle},
			false, Cancelled, ""},
		{"off", Job{HasStarted: true}, printer.Status{Phase: printer.Offline}, true, Printing, "not ready"},
		{"an error", Job{HasStarted: true}, printer.Status{Phase: printer.Failed}, true, Failed, "reports an error"},
	} {
		j := c.job
		j.State = Printing
		j.advance(c.status, c.late)
		if j.State != c.want || !strings.Contains(j.Message, c.message) {
			t.Errorf("%s: got %s (%q), want %s (%q)", c.name, j.State, j.Message, c.want, c.message)
		}
	}
}

// TestRefused checks the errors for files and printers that cannot be used.
func TestRefused(t *testing.T) {
	each(t, printer.OctoPrint, func(s *scene) {
		ctx := s.t.Context()
		bob := modelstest.NewUser(s.t, s.core, "bob")
		for name, c := range map[string]struct {
			caller auth.Caller
			send   Send
			code   models.Code
			field  string
		}{
			"another user's printer": {bob, Send{s.printer.ID, s.file.ID}, models.NotFound, "printerId"},
			"no such file":           {s.ada, Send{s.printer.ID, 1_000_000}, models.NotFound, "fileId"},
			"a model":                {s.ada, Send{s.printer.ID, s.upload("a.stl", "solid x").ID}, models.BadInput, "fileId"},
			"binary G-code":          {s.ada, Send{s.printer.ID, s.upload("a.bgcode", "GCDE").ID}, models.BadInput, "fileId"},
			"an application": {auth.Caller{UserID: s.ada.UserID, ApplicationID: 1, Role: auth.Member},
				Send{s.printer.ID, s.file.ID}, models.Forbidden, ""},
		} {
			_, err := s.SendToPrinter(ctx, c.caller, c.send)
			var e *models.Error
			if !errors.As(err, &e) || e.Code != c.code || e.Field != c.field {
				s.t.Errorf("%s: got %v, want %s about %q", name, err, c.code, c.field)
			}
		}
		none := New(s.core, s.activity, Options{})
		_, err := none.CreatePrinter(ctx, s.ada, Input{Name: " ", Kind: printer.OctoPrint, URL: s.stub.URL,
			Nozzle: new(-1.0)})
		for _, field := range []string{"name", "url: the operator allows no networks", "nozzle"} {
			if err == nil || !strings.Contains(err.Error(), field) {
				s.t.Errorf("got %v, want an error about %s", err, field)
			}
		}
		for range maxPrinters - 1 {
			if _, err := s.CreatePrinter(ctx, s.ada, Input{Name: "a", Kind: printer.OctoPrint, URL: s.stub.URL}); err != nil {
				s.t.Fatal(err)
			}
		}
		if _, err := s.CreatePrinter(ctx, s.ada, Input{Name: "a", Kind: printer.OctoPrint, URL: s.stub.URL}); models.CodeOf(
			err) != models.Conflict {
			s.t.Errorf("one printer too many: %v", err)
		}
	})
}
