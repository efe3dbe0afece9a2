package printer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/fieldset"
	"github.com/meshyard/meshyard/internal/printer"
	"github.com/meshyard/meshyard/models"
)

const (
	maxPrinters = 20     // of a user
	maxURL      = 2_000  // characters
	maxKey      = 500    // characters
	maxNozzle   = 10     // mm
	maxBed      = 10_000 // mm
)

// Printer is a printer of a user.
type Printer struct {
	bun.BaseModel `bun:"table:printers,alias:pr"`
	database.Listed

	ID         int64 `bun:",pk,autoincrement" reads:"OwnerID"`
	OwnerID    int64
	Name       string
	Kind       printer.Kind
	URL        string   `bun:"url"`
	SealedKey  string   // encrypted; empty: none
	Model      string   // as its owner describes it; may be empty
	Nozzle     *float64 // diameter in mm
	BedWidth   *float64 // mm
	BedDepth   *float64
	BedHeight  *float64
	NextAt     *time.Time // see Store.Drive; nil: nothing is to be done
	CreatedAt  time.Time
	ModifiedAt time.Time
}

// Fields is a set of fields of a printer.
type Fields = fieldset.Set[Printer]

var printers = database.NewTable(func(p *Printer) (int64, *database.Listed) { return p.ID, &p.Listed })

// AllFields has all fields of a printer except its key.
var AllFields = printers.All().Without(fieldset.Of[Printer]("SealedKey"))

// NodeID returns the node ID of the printer.
func (p *Printer) NodeID() string { return models.NodeRef{Type: "Printer", ID: p.ID}.NodeID() }

// Allows returns nil if the printer belongs to the caller, else NotFound. It returns Forbidden to
// applications.
func (p *Printer) Allows(caller auth.Caller) error {
	if err := manages(caller); err != nil {
		return err
	}
	if p.OwnerID != caller.UserID {
		return models.NoSuch("printer", p.ID)
	}
	return nil
}

// Input is the input of CreatePrinter.
type Input struct {
	Name      string
	Kind      printer.Kind
	URL       string
	Key       string // empty: none
	Model     string
	Nozzle    *float64
	BedWidth  *float64
	BedDepth  *float64
	BedHeight *float64
}

// CreatePrinter creates a printer of the caller. It returns BadInput for invalid input, and
// Conflict if the user has too many printers. It opens a transaction.
func (s *Store) CreatePrinter(ctx context.Context, caller auth.Caller, n Input) (*Printer, error) {
	if err := manages(caller); err != nil {
		return nil, err
	}
	err := s.check(Change{Name: &n.Name, URL: &n.URL, Key: &n.Key, Model: &n.Model, Nozzle: n.Nozzle, BedWidth: n.BedWidth,
		BedDepth: n.BedDepth, BedHeight: n.BedHeight})
	if err != nil {
		return nil, err
	}
	sealed, err := s.seal(ctx, caller.UserID, n.Key)
	if err != nil {
		return nil, err
	}
	at := models.Now()
	p := &Printer{OwnerID: caller.UserID, Name: n.Name, Kind: n.Kind, URL: n.URL, SealedKey: sealed, Model: n.Model,
		Nozzle:   n.Nozzle,
		BedWidth: n.BedWidth, BedDepth: n.BedDepth, BedHeight: n.BedHeight, CreatedAt: at, ModifiedAt: at}
	err = s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		// The user is locked, so that concurrent calls cannot exceed the limit.
		if _, err := s.core.LockAccount(ctx, tx, caller.UserID); err != nil {
			return err
		}
		there, err := tx.NewSelect().Model((*Printer)(nil)).Where("pr.owner_id = ?", caller.UserID).Count(ctx)
		if err != nil {
			return err
		}
		if there >= maxPrinters {
			e := models.Fail(models.Conflict, "you have %d printers, and at most %d are allowed", there, maxPrinters)
			e.Limit = maxPrinters
			return e
		}
		_, err = tx.NewInsert().Model(p).Exec(ctx)
		return err
	})
	return p, err
}

// check checks the properties that are not nil.
func (s *Store) check(c Change) error {
	var errs []error
	if c.Name != nil {
		errs = append(errs, models.CheckName(c.Name))
	}
	err := models.CheckOptional("url", c.URL, maxURL)
	if c.URL != nil && err == nil {
		if s.options.Check == nil {
			err = models.Invalid("url", "url: the operator allows no networks for printers (--printer-networks)")
		} else if wrong := s.options.Check(*c.URL); wrong != nil {
			err = models.Invalid("url", "url: %s", wrong)
		}
	}
	errs = append(errs, err)
	for _, text := range []struct {
		field string
		value *string
		limit int
	}{{"key", c.Key, maxKey}, {"model", c.Model, models.MaxName}} {
		if text.value != nil {
			errs = append(errs, models.CheckLine(text.field, *text.value, text.limit))
		}
	}
	for _, n := range []struct {
		field string
		value *float64
		limit int64
	}{{"nozzle", c.Nozzle, maxNozzle}, {"bedWidth", c.BedWidth, maxBed}, {"bedDepth", c.BedDepth, maxBed},
		{"bedHeight", c.BedHeight, maxBed}} {
		if n.value != nil && !(*n.value > 0 && *n.value <= float64(n.limit)) {
			e := models.Invalid(n.field, "%s: must be greater than 0 and at most %d mm", n.field, n.limit).
				WithFieldCode(apierror.FieldOutOfRange)
			e.Limit = n.limit
			errs = append(errs, e)
		}
	}
	return errors.Join(errs...)
}

// Change is the input of UpdatePrinter. Nil fields are left unchanged.
type Change struct {
	ID        int64
	Name      *string
	URL       *string
	Key       *string
	Model     *string
	Nozzle    *float64
	BedWidth  *float64
	BedDepth  *float64
	BedHeight *float64
}

// UpdatePrinter changes a printer of the caller. A new URL requires the key again, because the
// stored one would be sent to it. It opens a transaction.
func (s *Store) UpdatePrinter(ctx context.Context, caller auth.Caller, c Change) (*Printer, error) {
	if err := manages(caller); err != nil {
		return nil, err
	}
	if err := s.check(c); err != nil {
		return nil, err
	}
	sealed := ""
	if c.Key != nil {
		var err error
		if sealed, err = s.seal(ctx, caller.UserID, *c.Key); err != nil {
			return nil, err
		}
	}
	p := new(Printer)
	err := s.core.DB.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := s.lock(ctx, tx, p, c.ID, caller); err != nil {
			return err
		}
		if c.URL != nil && *c.URL != p.URL && c.Key == nil && p.SealedKey != "" {
			return models.Invalid("key", "key: must be given again if the url changes").WithFieldCode(apierror.FieldRequired)
		}
		if c.Key != nil {
			p.SealedKey = sealed
		}
		models.Assign(&p.Name, c.Name)
		models.Assign(&p.URL, c.URL)
		models.Assign(&p.Model, c.Model)
		for to, value := range map[**float64]*float64{&p.Nozzle: c.Nozzle, &p.BedWidth: c.BedWidth, &p.BedDepth: c.BedDepth,
			&p.BedHeight: c.BedHeight} {
			if value != nil {
				*to = value
			}
		}
		p.ModifiedAt = models.Now()
		_, err := tx.NewUpdate().Model(p).Column("name", "url", "sealed_key", "model", "nozzle", "bed_width", "bed_depth",
			"bed_height", "modified_at").WherePK().Exec(ctx)
		return err
	})
	return p, err
}

// lock reads and locks a printer of the caller.
func (s *Store) lock(ctx context.Context, tx bun.Tx, p *Printer, id int64, caller auth.Caller) error {
	err := s.core.DB.ForUpdate(tx.NewSelect().Model(p).Where("pr.id = ? AND pr.owner_id = ?", id, caller.UserID)).Scan(ctx)
	return models.NoSuchIfNoRows(err, "printer", id)
}

// DeletePrinter deletes a printer of the caller with its prints. A print in progress goes on. It
// returns NotFound for a printer of another user.
func (s *Store) DeletePrinter(ctx context.Context, caller auth.Caller, id int64) error {
	if err := manages(caller); err != nil {
		return err
	}
	n, err := s.core.DB.ExecAgain(ctx, s.core.DB.Write.NewDelete().Model((*Printer)(nil)).
		Where("id = ? AND owner_id = ?", id, caller.UserID))
	if n > 0 || err != nil {
		return err
	}
	return models.NoSuch("printer", id)
}

type ownPrinters struct{}

func (ownPrinters) Select(b *database.Builder, _ any) *bun.SelectQuery {
	return b.Select().TableExpr("printers AS pr").Where("pr.owner_id = ?", b.Arg(database.CallerArg))
}

// Printers lists the printers of the caller, the latest first.
func (s *Store) Printers(caller auth.Caller) (models.List, error) {
	if err := manages(caller); err != nil {
		return models.List{}, err
	}
	return models.List{DB: s.core.DB.DB, By: database.Order{ID: "pr.id"}, Rows: ownPrinters{}, Caller: caller.UserID}, nil
}

// Printer returns a printer of the caller. It returns NotFound for a printer of another user.
func (s *Store) Printer(ctx context.Context, caller auth.Caller, fields Fields, id int64) (*Printer, error) {
	if err := manages(caller); err != nil {
		return nil, err
	}
	found, err := printers.ByIDs(ctx, s.core.DB.DB, 0, fields.With(fieldset.Of[Printer]("OwnerID")), []int64{id})
	if err != nil {
		return nil, err
	}
	if p := found[id]; p != nil && p.Allows(caller) == nil {
		return p, nil
	}
	return nil, models.NoSuch("printer", id)
}

// Tested is what a printer answers to a test.
type Tested struct {
	Printer  *Printer
	Version  string // of the program; empty: it does not work
	Phase    printer.Phase
	Message  string // why it does not work; empty: it works
	IsUsable bool
}

// TestPrinter connects to a printer of the caller. A printer that cannot be used is no error.
func (s *Store) TestPrinter(ctx context.Context, caller auth.Caller, id int64) (*Tested, error) {
	if err := manages(caller); err != nil {
		return nil, err
	}
	p := new(Printer)
	err := s.core.DB.Read.NewSelect().Model(p).Where("pr.id = ? AND pr.owner_id = ?", id, caller.UserID).Scan(ctx)
	if err != nil {
		return nil, models.NoSuchIfNoRows(err, "printer", id)
	}
	t := &Tested{Printer: p, Phase: printer.Offline}
	client, err := s.client(ctx, p)
	if err == nil {
		t.Version, err = client.Test(ctx)
	}
	if err == nil {
		var status printer.Status
		status, err = client.Status(ctx, "")
		t.Phase = status.Phase
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err == nil {
		t.IsUsable = true
		return t, nil
	}
	if t.Phase, t.Message = printer.Offline, theirs(err); t.Message == "" {
		return nil, err
	}
	return t, nil
}

// theirs returns the text of an error that is due to a printer or its settings, and "" for other
// errors.
func theirs(err error) string {
	var e *printer.Error
	switch {
	case errors.As(err, &e):
		return e.Text
	case errors.Is(err, errUnreadable):
		return errUnreadable.Error()
	}
	return ""
}

// client returns the connection to a printer that was read with its key.
func (s *Store) client(ctx context.Context, p *Printer) (printer.Printer, error) {
	key, err := s.open(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("printer %d: %w", p.ID, err)
	}
	if s.options.Connect == nil {
		return nil, &printer.Error{Text: "the operator allows no networks for printers"}
	}
	return s.options.Connect(p.Kind, p.URL, key)
}
