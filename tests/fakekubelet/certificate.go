// SPDX-License-Identifier: Apache-2.0

package fakekubelet

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"path/filepath"
	"time"
)

// serving is what kubelet's port serves with: a certificate of the cluster's own authority, which kube-apiserver wants,
// and no caller but those that have one too.
func serving(pki, name string, address net.IP) (*tls.Config, error) {
	authority, err := tls.LoadX509KeyPair(filepath.Join(pki, "ca.crt"), filepath.Join(pki, "ca.key"))
	if err != nil {
		return nil, fmt.Errorf("the cluster's authority: %w", err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{Organization: []string{"system:nodes"}, CommonName: "system:node:" + name},
		NotBefore:    time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IPAddresses: []net.IP{address}, DNSNames: []string{name},
	}, authority.Leaf, key.Public(), authority.PrivateKey)
	if err != nil {
		return nil, err
	}
	callers := x509.NewCertPool()
	callers.AddCert(authority.Leaf)
	return &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
		ClientCAs:    callers, ClientAuth: tls.RequireAndVerifyClientCert,
		NextProtos: []string{"http/1.1"}, // an upgrade has no HTTP/2
	}, nil
}
