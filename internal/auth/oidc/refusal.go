package oidc

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
)

// A Refusal is an ErrRefused with its reason, which names the part of the token that is wrong. The
// reason contains neither the token nor a code, and can be shown to the client that sent the token.
type Refusal struct{ Reason string }

func (r *Refusal) Error() string { return ErrRefused.Error() + ": " + r.Reason }

// Unwrap returns ErrRefused.
func (r *Refusal) Unwrap() error { return ErrRefused }

func refuse(format string, args ...any) error { return &Refusal{fmt.Sprintf(format, args...)} }

// maxQuoted is the maximum length of a claim in a reason: anyone can send tokens.
const maxQuoted = 200

// refusal returns the reason why go-oidc has rejected a token with an error. The claims are those
// of a token without a valid signature: they explain the decision and do not change it.
func (p *Provider) refusal(found *oidc.Provider, raw string, err error, at time.Time) error {
	var header struct {
		Algorithm string `json:"alg"`
	}
	var said struct {
		Issuer    string          `json:"iss"`
		Audience  json.RawMessage `json:"aud"`
		NotBefore *float64        `json:"nbf"`
	}
	parts := strings.Split(raw, ".")
	if len(parts) != 3 || decodePart(parts[0], &header) != nil || decodePart(parts[1], &said) != nil {
		return refuse("it is not a signed JWT")
	}
	var offered struct {
		Issuer     string   `json:"issuer"`
		Algorithms []string `json:"id_token_signing_alg_values_supported"`
	}
	if found.Claims(&offered) != nil || len(offered.Algorithms) == 0 {
		offered.Algorithms = []string{oidc.RS256} // as go-oidc
	}
	expired := new(oidc.TokenExpiredError)
	switch audience := audiences(said.Audience); {
	case !slices.Contains(offered.Algorithms, header.Algorithm):
		return refuse("its signature algorithm is %.*q, want one of %s", maxQuoted, header.Algorithm,
			strings.Join(offered.Algorithms, ", "))
	case strings.TrimPrefix(said.Issuer, "https://") != strings.TrimPrefix(p.Issuer, "https://"):
		return refuse("its issuer (iss) is %.*q, want %q", maxQuoted, said.Issuer, p.Issuer)
	case !slices.Contains(audience, p.ClientID):
		return refuse("its audience (aud) is %.*q, want the client ID %q", maxQuoted, strings.Join(audience, " "), p.ClientID)
	case errors.As(err, &expired):
		return refuse("it expired (exp) at %s, and the clock of this server shows %s", expired.Expiry.UTC().
			Format(time.RFC3339), at.UTC().Format(time.RFC3339))
	case said.NotBefore != nil && time.Unix(int64(*said.NotBefore), 0).After(at):
		return refuse("it is not valid before (nbf) %s, and the clock of this server shows %s",
			time.Unix(int64(*said.NotBefore), 0).UTC().Format(time.RFC3339), at.UTC().Format(time.RFC3339))
	}
	return refuse("its signature matches no key of the provider, or its claims are not valid")
}

func decodePart(part string, value any) error {
	text, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, value)
}

// audiences returns the claim aud, which is a string or a list of strings.
func audiences(claim json.RawMessage) []string {
	var list []string
	if json.Unmarshal(claim, &list) == nil {
		return list
	}
	var one string
	if json.Unmarshal(claim, &one) == nil {
		return []string{one}
	}
	return nil
}
