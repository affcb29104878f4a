// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"
)

func TestExpiredToken(t *testing.T) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	text, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	key := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: text})
	good := "head." + base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"system:serviceaccount:slurm:slurm-k8s-node","exp":4000000000}`)) + ".sign"
	now := time.Unix(1_800_000_000, 0)
	over, err := expired(good, key, now)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(over, ".")
	if len(parts) != 3 || parts[0] != "head" {
		t.Fatalf("the token is %q", over)
	}
	var claims struct {
		Sub string
		Exp int64
	}
	body, _ := base64.RawURLEncoding.DecodeString(parts[1])
	if err := json.Unmarshal(body, &claims); err != nil {
		t.Fatal(err)
	}
	if claims.Sub != "system:serviceaccount:slurm:slurm-k8s-node" || claims.Exp != now.Add(-time.Hour).Unix() {
		t.Errorf("the claims are %+v", claims)
	}
	signature, _ := base64.RawURLEncoding.DecodeString(parts[2])
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if len(signature) != 64 || !ecdsa.Verify(&private.PublicKey, sum[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])) {
		t.Errorf("the signature is not the key's: %x", signature)
	}
	for _, bad := range []string{"", "one.two", "a.%%.c", "a." + base64.RawURLEncoding.EncodeToString([]byte("no JSON")) + ".c"} {
		if _, err := expired(bad, key, now); err == nil {
			t.Errorf("%q is taken for a token", bad)
		}
	}
}
