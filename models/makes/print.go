package makes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/models"
)

// NewMakePrint is the input of how a make was printed.
type NewMakePrint struct {
	models.MakePrint
	FileIDs []int64 // the files of the thing that were printed
}

// The limits of how a make was printed.
const (
	maxPrinter      = 100        // characters
	maxLayerHeight  = 10         // mm
	maxNozzle       = 10         // mm
	maxPrintTime    = 10_000_000 // seconds, about four months
	maxFilament     = 1_000_000  // grams
	maxPrintedFiles = 100
	maxRating       = 5
)

// check returns BadInput for each field beyond its limits. It removes the spaces around texts, and
// blank texts.
func (p *NewMakePrint) check() error {
	if p == nil {
		return nil
	}
	var errs []error
	for _, text := range []struct {
		name  string
		value **string
	}{{"printer", &p.Printer}, {"material", &p.Material}} {
		if *text.value == nil {
			continue
		}
		errs = append(errs, models.CheckLine("print."+text.name, **text.value, maxPrinter))
		if *text.value = new(strings.TrimSpace(**text.value)); **text.value == "" {
			*text.value = nil
		}
	}
	errs = append(errs,
		models.Within("print.layerHeight", p.LayerHeight, 0, maxLayerHeight), models.Within("print.nozzle", p.Nozzle, 0,
			maxNozzle),
		models.Within("print.filamentGrams", p.FilamentGrams, 0, maxFilament))
	if p.Infill != nil && !(*p.Infill >= 0 && *p.Infill <= 100) {
		errs = append(errs, models.OutOfRange("print.infill", 100, "must be from 0 to 100"))
	}
	if p.TimeSeconds != nil && (*p.TimeSeconds < 1 || *p.TimeSeconds > maxPrintTime) {
		errs = append(errs, models.OutOfRange("print.timeSeconds", maxPrintTime, fmt.Sprintf("must be from 1 to %d",
			maxPrintTime)))
	}
	if p.Rating != nil && (*p.Rating < 1 || *p.Rating > maxRating) {
		errs = append(errs, models.OutOfRange("print.rating", maxRating, fmt.Sprintf("must be from 1 to %d", maxRating)))
	}
	if len(p.FileIDs) > maxPrintedFiles {
		errs = append(errs, models.OutOfRange("print.fileIds", maxPrintedFiles, fmt.Sprintf("must be at most %d files",
			maxPrintedFiles)))
	}
	return errors.Join(errs...)
}

// stated returns what is to be stored, or nil if nothing is stated.
func (p *NewMakePrint) stated() *models.MakePrint {
	if p == nil || p.MakePrint == (models.MakePrint{}) && len(p.FileIDs) == 0 {
		return nil
	}
	return &p.MakePrint
}

// savePrintedFiles replaces the files that were printed for a locked make. They must be finalized
// files of its thing.
func savePrintedFiles(ctx context.Context, tx bun.Tx, m *models.Make, ids []int64) error {
	if _, err := tx.NewDelete().Model((*printedFile)(nil)).Where("make_id = ?", m.ID).Exec(ctx); err != nil ||
		len(ids) == 0 {
		return err
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	var found []int64
	err := tx.NewSelect().Model((*models.File)(nil)).Column("f.id").Where("f.id IN (?)", bun.List(ids)).
		Where("f.target_type = ? AND f.target_id = ? AND f.state = ?", models.OnThing, m.ThingID, models.Finalized).
		Scan(ctx, &found)
	if err != nil {
		return err
	}
	rows := make([]printedFile, len(ids))
	for i, id := range ids {
		if !slices.Contains(found, id) {
			return models.Invalid("print.fileIds", "print.fileIds: %d is not a file of the thing", id)
		}
		rows[i] = printedFile{MakeID: m.ID, FileID: id}
	}
	_, err = tx.NewInsert().Model(&rows).Exec(ctx)
	return err
}

// printedFile is a file of a thing that was printed for a make.
type printedFile struct {
	bun.BaseModel `bun:"table:printed_files,alias:pf"`

	MakeID int64 `bun:",pk"`
	FileID int64 `bun:",pk"`
}

// PrintedFiles returns the IDs of the files that were printed for makes, in ascending order. It
// does not check visibility.
func (s *Store) PrintedFiles(ctx context.Context, makeIDs []int64) (map[int64][]int64, error) {
	var rows []printedFile
	condition, list := s.core.DB.InList(1, makeIDs)
	err := s.core.DB.Read.NewSelect().Model(&rows).Where("pf.make_id ?", condition).Order("pf.make_id", "pf.file_id").
		Conn(s.core.DB.BindRead(list)).Scan(ctx)
	files := make(map[int64][]int64)
	for _, row := range rows {
		files[row.MakeID] = append(files[row.MakeID], row.FileID)
	}
	return files, err
}
