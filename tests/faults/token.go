// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/slurm-k8s/slurm-k8s/tests/testcluster"
)

var token = regexp.MustCompile(`token: *"?([^"}\s]+)`)

// expireToken gives the node a token that is over, as where nobody renewed it in time; then it is given a new one.
func expireToken(w *world, s *strike, h *hit) (func() error, error) {
	file := filepath.Join(w.lab.Dir, "etc/node.kubeconfig")
	now, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	found := token.FindSubmatch(now)
	if found == nil {
		return nil, fmt.Errorf("no token in %s", file)
	}
	key, err := os.ReadFile(filepath.Join(w.lab.Dir, "etc/pki/service-account.key"))
	if err != nil {
		return nil, err
	}
	over, err := expired(string(found[1]), key, time.Now())
	if err != nil {
		return nil, err
	}
	h.target = "of node.kubeconfig"
	with := func(token string) error { return replace(file, bytes.ReplaceAll(now, found[1], []byte(token))) }
	renew := func() error {
		text, err := testcluster.Run(20*time.Second, "kubectl", "create", "token", "slurm-k8s-node", "-n", testcluster.Namespace, "--duration=24h")
		if err != nil {
			return err
		}
		return with(strings.TrimSpace(text))
	}
	return renew, with(over)
}

// expired is the same account's token as the API server would have signed it two hours ago for one hour. The key is a PEM of
// its P-256 key.
func expired(good string, key []byte, now time.Time) (string, error) {
	parts := strings.Split(good, ".")
	if len(parts) != 3 {
		return "", fmt.Errorf("a token of %d parts", len(parts))
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return "", err
	}
	claims := map[string]any{}
	if err := json.Unmarshal(text, &claims); err != nil {
		return "", err
	}
	claims["iat"], claims["nbf"] = now.Add(-2*time.Hour).Unix(), now.Add(-2*time.Hour).Unix()
	claims["exp"] = now.Add(-time.Hour).Unix()
	if text, err = json.Marshal(claims); err != nil {
		return "", err
	}
	block, _ := pem.Decode(key)
	if block == nil {
		return "", fmt.Errorf("the accounts' key is no PEM")
	}
	private, err := x509.ParseECPrivateKey(block.Bytes)
	if err != nil {
		return "", err
	}
	signed := parts[0] + "." + base64.RawURLEncoding.EncodeToString(text)
	sum := sha256.Sum256([]byte(signed))
	r, v, err := ecdsa.Sign(rand.Reader, private, sum[:])
	if err != nil {
		return "", err
	}
	// RFC 7518, 3.4: both numbers in 32 octets each.
	signature := append(r.FillBytes(make([]byte, 32)), v.FillBytes(make([]byte, 32))...)
	return signed + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}
