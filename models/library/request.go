package library

import (
	"context"

	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/models"
)

// Libraries returns all libraries, like [Store.List]. It returns Forbidden unless the caller is an
// administrator.
func (s *Store) Libraries(ctx context.Context, caller auth.Caller) ([]State, error) {
	if err := models.RequireAdministrator(caller); err != nil {
		return nil, err
	}
	return s.List(ctx)
}

// Request requests a scan of a library and returns its state. A server that has it among its
// settings begins the scan within a few seconds. The error is Forbidden unless the caller is an
// administrator, and NotFound if there is no such library.
func (s *Store) Request(ctx context.Context, caller auth.Caller, name string) (*State, error) {
	l, err := s.find(ctx, caller, name)
	if err != nil {
		return nil, err
	}
	if err := s.Notice(ctx, name); err != nil {
		return nil, err
	}
	l.RequestedAt = new(models.Now())
	return l, nil
}

// Notice makes a scan of a library due, because its folder has changed.
func (s *Store) Notice(ctx context.Context, name string) error {
	l, err := s.row(ctx, name)
	if err != nil {
		return err
	}
	_, err = s.core.DB.Write.NewUpdate().Model(l).Set("requested_at = ?", models.Now()).WherePK().Exec(ctx)
	return err
}

// find returns a library of the settings for an administrator.
func (s *Store) find(ctx context.Context, caller auth.Caller, name string) (*State, error) {
	all, err := s.Libraries(ctx, caller)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].Name == name && all[i].Dir != "" {
			return &all[i], nil
		}
	}
	e := models.Fail(models.NotFound, "name: there is no library named %.60q among the settings", name)
	e.Field = "name"
	return nil, e
}
