package maintenance

import (
	"context"
	"time"

	"github.com/uptrace/bun"
)

// The commands whose runs are recorded.
const (
	RunBackup = "backup"
	RunFsck   = "fsck"
)

// RecordedRuns lists the commands whose runs are recorded.
var RecordedRuns = []string{RunBackup, RunFsck}

// LastRun is the last complete run of a command that operators repeat.
type LastRun struct {
	bun.BaseModel `bun:"table:last_runs,alias:lr"`

	Command  string    `bun:",pk"`
	At       time.Time // the moment whose state the run saw
	Problems int       // that the run found
}

// RecordRun replaces the last run of a command.
func (s *Store) RecordRun(ctx context.Context, run LastRun) error {
	run.At = run.At.UTC().Truncate(time.Microsecond)
	_, err := s.core.DB.Write.NewInsert().Model(&run).On("CONFLICT (command) DO UPDATE").Set("at = EXCLUDED.at").
		Set("problems = EXCLUDED.problems").Exec(ctx)
	return err
}

// LastRuns returns the last runs of the commands that have run.
func (s *Store) LastRuns(ctx context.Context) (runs []LastRun, err error) {
	err = s.core.DB.Read.NewSelect().Model(&runs).Scan(ctx)
	return runs, err
}
