package account

import (
	"context"
	"crypto/subtle"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/meshyard/meshyard/internal/apierror"
	"github.com/meshyard/meshyard/internal/auth"
	"github.com/meshyard/meshyard/internal/auth/oauth"
	"github.com/meshyard/meshyard/internal/database"
	"github.com/meshyard/meshyard/internal/fieldset"
	"github.com/meshyard/meshyard/models"
)

// Application is a registered OAuth client.
type Application struct {
	bun.BaseModel `bun:"table:applications,alias:ap"`

	ID             int64 `bun:",pk,autoincrement"`
	ClientID       string
	Name           string
	SecretSHA256   string `bun:"secret_sha256"` // empty for a public client
	Redirects      string // one per line
	AllowsImplicit bool
	CreatedAt      time.Time
}

// ApplicationFields is a set of fields of an application.
type ApplicationFields = fieldset.Set[Application]

var applications = database.NewTable(func(a *Application) (int64, *database.Listed) { return a.ID, nil })

// AllApplicationFields has all fields of an application.
var AllApplicationFields = applications.All()

// RedirectURIs returns the redirect URIs of the application.
func (a *Application) RedirectURIs() []string { return strings.Fields(a.Redirects) }

// IsPublic reports whether the application is a public client, which has no secret.
func (a *Application) IsPublic() bool { return a.SecretSHA256 == "" }

func (a *Application) oauth() *oauth.Application {
	return &oauth.Application{ID: a.ID, ClientID: a.ClientID, Name: a.Name, Redirects: a.RedirectURIs(),
		Public: a.IsPublic(), Implicit: a.AllowsImplicit}
}

// NewApplication is the input of CreateApplication.
type NewApplication struct {
	Name           string
	RedirectURIs   []string
	IsPublic       bool // a public client, which has no secret
	AllowsImplicit bool // may use the implicit grant, which puts tokens into URLs
}

const maxRedirects = 20

// CreateApplication registers an application and returns its secret, like
// [Admin.RegisterApplication]. It returns Forbidden unless the caller is an administrator.
func (s *Store) CreateApplication(ctx context.Context, caller auth.Caller,
	n NewApplication) (secret string, a *Application, err error) {
	if err := models.RequireAdministrator(caller); err != nil {
		return "", nil, err
	}
	return s.Admin().RegisterApplication(ctx, n)
}

// RegisterApplication registers an application and returns its secret, which cannot be retrieved
// later. A public client has no secret. It returns BadInput if the input is invalid.
func (admin Admin) RegisterApplication(ctx context.Context,
	n NewApplication) (secret string, a *Application, err error) {
	s := admin.store
	name := strings.TrimSpace(n.Name)
	err = models.CheckName(&name)
	if err == nil && models.CleanText(name, models.MaxName) != name {
		err = models.Invalid("name", "name: must not contain control characters")
	}
	if err = errors.Join(err, n.checkRedirects()); err != nil {
		return "", nil, err
	}
	a = &Application{
		ClientID: auth.HashSecret(auth.NewSecret())[:20], Name: name,
		Redirects:      strings.Join(slices.Compact(slices.Clone(n.RedirectURIs)), "\n"),
		AllowsImplicit: n.AllowsImplicit, CreatedAt: models.Now(),
	}
	if !n.IsPublic {
		secret = auth.NewSecret()
		a.SecretSHA256 = auth.HashSecret(secret)
	}
	_, err = s.core.DB.Write.NewInsert().Model(a).Exec(ctx)
	return secret, a, err
}

// checkRedirects returns BadInput if there are too many or too few redirect URIs, or for those that
// are not allowed.
func (n NewApplication) checkRedirects() (err error) {
	if len(n.RedirectURIs) > maxRedirects {
		return models.TooMany("redirectUris", len(n.RedirectURIs), maxRedirects)
	}
	if n.IsPublic && len(n.RedirectURIs) == 0 {
		return models.Invalid("redirectUris", "redirectUris: a public client needs at least one").
			WithFieldCode(apierror.FieldRequired)
	}
	for i, address := range n.RedirectURIs {
		if wrong := oauth.CheckRedirect(address); wrong != nil {
			err = errors.Join(err, models.Invalid(fmt.Sprintf("redirectUris[%d]", i), "%s", wrong))
		}
	}
	return err
}

// Applications returns all applications, sorted by name. It returns Forbidden unless the caller is
// an administrator.
func (s *Store) Applications(ctx context.Context, caller auth.Caller) ([]*Application, error) {
	if err := models.RequireAdministrator(caller); err != nil {
		return nil, err
	}
	return s.Admin().AllApplications(ctx)
}

// AllApplications returns all applications, sorted by name.
func (a Admin) AllApplications(ctx context.Context) (all []*Application, err error) {
	s := a.store
	err = s.core.DB.Read.NewSelect().Model(&all).Order("ap.name", "ap.id").Scan(ctx)
	return all, err
}

// ApplicationsByID returns the applications with the given IDs.
func (s *Store) ApplicationsByID(ctx context.Context, fields ApplicationFields,
	ids []int64) (map[int64]*Application, error) {
	return applications.ByIDs(ctx, s.core.DB.DB, 0, fields, ids)
}

// DeleteApplication deletes an application and all tokens that were issued to it. It returns
// Forbidden unless the caller is an administrator, and NotFound if the application does not exist.
func (s *Store) DeleteApplication(ctx context.Context, caller auth.Caller, clientID string) error {
	if err := models.RequireAdministrator(caller); err != nil {
		return err
	}
	return s.Admin().DeleteApplication(ctx, clientID)
}

// DeleteApplication deletes an application and all tokens that were issued to it, or returns
// NotFound if the application does not exist.
func (a Admin) DeleteApplication(ctx context.Context, clientID string) error {
	s := a.store
	n, err := s.core.DB.ExecAgain(ctx, s.core.DB.Write.NewDelete().Model((*Application)(nil)).
		Where("client_id = ?", models.CleanText(clientID, models.MaxName)))
	if err != nil {
		return err
	}
	if n == 0 {
		return models.Fail(models.NotFound, "application %.60q does not exist", clientID)
	}
	return nil
}

// Application returns the application with the given client ID, or NotFound.
func (s *Store) Application(ctx context.Context, clientID string) (*oauth.Application, error) {
	a, err := s.application(ctx, clientID)
	if err != nil {
		return nil, err
	}
	return a.oauth(), nil
}

func (s *Store) application(ctx context.Context, clientID string) (*Application, error) {
	a := new(Application)
	err := s.core.DB.Read.NewSelect().Model(a).Where("ap.client_id = ?", models.CleanText(clientID, models.MaxName)).
		Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, models.Fail(models.NotFound, "there is no application with this client_id")
	}
	return a, err
}

// AuthenticateApplication returns the application with the given client ID and secret. The secret
// of a public client is empty. It returns Unauthenticated if they do not match.
func (s *Store) AuthenticateApplication(ctx context.Context, clientID, secret string) (*oauth.Application, error) {
	a, err := s.application(ctx, clientID)
	if err != nil && models.CodeOf(err) != models.NotFound {
		return nil, err
	}
	given := ""
	if secret != "" {
		given = auth.HashSecret(secret)
	}
	if err != nil || subtle.ConstantTimeCompare([]byte(given), []byte(a.SecretSHA256)) != 1 {
		return nil, models.Fail(models.Unauthenticated, "the client_id or the client_secret is invalid")
	}
	return a.oauth(), nil
}
