package webhook

import (
	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/models"
)

type ownWebhooks struct{}

func (ownWebhooks) Select(b *database.Builder, _ any) *bun.SelectQuery {
	return b.Select().TableExpr("webhooks AS wh").Where("wh.owner_id = ?", b.Arg(database.CallerArg))
}

// Webhooks lists the webhooks of the caller, the latest first.
func (s *Store) Webhooks(caller auth.Caller) (models.List, error) {
	if err := managesWebhooks(caller); err != nil {
		return models.List{}, err
	}
	return models.List{DB: s.core.DB.DB, By: database.Order{ID: "wh.id"}, Rows: ownWebhooks{}, Caller: caller.UserID}, nil
}
