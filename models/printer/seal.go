package printer

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"strconv"
)

// secretName is the name of the secret of the server that encrypts the keys of printers.
const secretName = "printers"

// seal encrypts the key of a printer with AES-256-GCM. The result can be opened only for the same
// owner.
func (s *Store) seal(ctx context.Context, ownerID int64, key string) (string, error) {
	if key == "" {
		return "", nil
	}
	aead, err := s.cipher(ctx)
	if err != nil {
		return "", err
	}
	nonce := make([]byte, aead.NonceSize())
	rand.Read(nonce) // never fails
	return base64.StdEncoding.EncodeToString(aead.Seal(nonce, nonce, []byte(key), owner(ownerID))), nil
}

// open decrypts the key of a printer.
func (s *Store) open(ctx context.Context, p *Printer) (string, error) {
	if p.SealedKey == "" {
		return "", nil
	}
	aead, err := s.cipher(ctx)
	if err != nil {
		return "", err
	}
	sealed, err := base64.StdEncoding.DecodeString(p.SealedKey)
	if err != nil || len(sealed) < aead.NonceSize() {
		return "", errUnreadable
	}
	key, err := aead.Open(nil, sealed[:aead.NonceSize()], sealed[aead.NonceSize():], owner(p.OwnerID))
	if err != nil {
		return "", errUnreadable
	}
	return string(key), nil
}

// errUnreadable means that the database has another secret than the one that encrypted a key.
var errUnreadable = errors.New("the stored key of the printer cannot be read: enter it again")

func (s *Store) cipher(ctx context.Context) (cipher.AEAD, error) {
	secret, err := s.core.Secret(ctx, secretName)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

func owner(id int64) []byte { return strconv.AppendInt([]byte("owner "), id, 10) }
