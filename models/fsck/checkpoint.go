package fsck

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/models"
)

// saveEvery is the time between two checkpoints.
const saveEvery = 2 * time.Second

const task = "fsck"

// checkpoint says how far a run has come.
type checkpoint struct {
	bun.BaseModel `bun:"table:checkpoints,alias:ck"`

	Task     string `bun:",pk"`
	Options  string
	Step     string
	Position string
	Problems int // that were not repaired
	SavedAt  time.Time
}

// identity returns the options that an interrupted run and the one that goes on must share.
func (o Options) identity() string {
	return fmt.Sprintf("rehash=%t repair=%t prefix=%s", o.Rehash, o.Repair, o.Prefix)
}

// resume returns the step and the position after which to start.
func (r *run) resume(ctx context.Context, steps []step) (first int, after string, err error) {
	r.saved = checkpoint{Task: task, Options: r.identity()}
	if !r.Resume {
		return 0, "", nil
	}
	before := checkpoint{Task: task}
	if err := models.IgnoreNoRows(r.db().NewSelect().Model(&before).WherePK().Scan(ctx)); err != nil {
		return 0, "", err
	}
	at := slices.IndexFunc(steps, func(s step) bool { return s.name == before.Step })
	if before.Options != r.saved.Options || at < 0 {
		return 0, "", nil
	}
	r.saved.Problems = before.Problems
	return at, before.Position, nil
}

// begin records the step of the run.
func (r *run) begin(step, after string) {
	r.reporting.Lock()
	defer r.reporting.Unlock()
	r.saved.Step, r.saved.Position = step, after
}

// save stores a checkpoint, at most one every few seconds. It ignores errors: a standby, which fsck
// can check, is read-only, and a run without a checkpoint only starts again.
func (r *run) save(ctx context.Context, position string) {
	r.reporting.Lock()
	defer r.reporting.Unlock()
	r.saved.Position = position
	if time.Since(r.saved.SavedAt) >= saveEvery {
		r.store(ctx)
	}
}

// stop stores a checkpoint of a run that fails or is interrupted.
func (r *run) stop(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveEvery)
	defer cancel()
	r.reporting.Lock()
	defer r.reporting.Unlock()
	r.store(ctx)
}

// store stores a checkpoint. The caller holds the lock.
func (r *run) store(ctx context.Context) {
	r.saved.SavedAt = models.Now()
	_, _ = r.db().NewInsert().Model(&r.saved).On("CONFLICT (task) DO UPDATE").Set("options = EXCLUDED.options").
		Set("step = EXCLUDED.step").
		Set("position = EXCLUDED.position").Set("problems = EXCLUDED.problems").Set("saved_at = EXCLUDED.saved_at").Exec(ctx)
}

// end deletes the checkpoint of a complete run.
func (r *run) end(ctx context.Context) {
	_, _ = r.db().NewDelete().Model(&r.saved).WherePK().Exec(ctx)
}
