package lists

import (
	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/models"
)

type allComments struct{}

func (allComments) Select(b *database.Builder, _ any) *bun.SelectQuery {
	return b.Select().TableExpr("comments AS cm").Where("cm.deleted_at IS NULL").
		Where("cm.thing_id IS NULL OR EXISTS (SELECT 1 FROM things AS t WHERE t.id = cm.thing_id AND t.state = 'published')").
		Where("cm.target_type <> 'make' OR EXISTS (SELECT 1 FROM makes AS m WHERE m.id = cm.target_id AND m.state = 'published')")
}

// Comments lists the comments on published things and makes, newest first, without deleted ones.
func (s *Store) Comments() models.List {
	return models.List{DB: s.core.DB.DB, By: database.Order{ID: "cm.id"}, Rows: allComments{}}
}

type commentsOn struct {
	on        models.TargetType
	rootsOnly bool
}

func (l commentsOn) Select(b *database.Builder, id any) *bun.SelectQuery {
	q := b.Select().TableExpr("comments AS cm").Where("cm.target_type = ? AND cm.target_id = ?", l.on, id)
	if l.rootsOnly {
		q = q.Where("cm.parent_id IS NULL")
	}
	return q
}

// CommentsOn lists the comments on things, or makes, newest first, including deleted ones. With
// rootsOnly it leaves out replies.
func (s *Store) CommentsOn(on models.TargetType, rootsOnly bool) models.List {
	return models.List{DB: s.core.DB.DB, By: database.Order{ID: "cm.id"}, Rows: commentsOn{on, rootsOnly}}
}

type replies struct{}

func (replies) Select(b *database.Builder, id any) *bun.SelectQuery {
	return b.Select().TableExpr("comments AS cm").Where("cm.parent_id = ?", id)
}

// Replies lists the direct replies to comments, oldest first.
func (s *Store) Replies() models.List {
	return models.List{DB: s.core.DB.DB, By: database.Order{ID: "cm.id", Ascending: true}, Rows: replies{}}
}
