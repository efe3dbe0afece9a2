package model

import (
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
)

// The interfaces and unions of the schema. The code generator fails if an object of one does not
// implement it, and assigning any other object is an error of the compiler.
type (
	Node               interface{ models.Node }
	Attachable         interface{ models.Attachable }
	Commentable        interface{ models.Commentable }
	Likeable           interface{ models.Likeable }
	FeedItem           interface{ models.FeedItem }
	SearchHit          interface{ models.SearchHit }
	ReportTarget       interface{ models.ReportTarget }
	NotificationTarget interface{ models.NotificationTarget }
)

// Actor is a *models.User.
type Actor interface {
	models.Node
	Role() auth.Role
}
