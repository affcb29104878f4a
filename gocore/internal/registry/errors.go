// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"unicode"

	"github.com/google/go-containerregistry/pkg/name"
	wire "github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// maxReason bounds what a registry can put into a message.
const maxReason = 200

// failed classes an error: whose word it is, and what it says.
func (r Result) failed(ctx context.Context, err error) Result {
	status, ping := statusOf(err)
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		r.Kind, r.Reason = Denied, "access denied"
	case status == http.StatusNotFound && !ping:
		r.Kind, r.Reason = NotFound, missing(err)
	case status == http.StatusTooManyRequests:
		r.Reason = "it limits the rate of requests (429)"
	case ping:
		r.Reason = fmt.Sprintf("what answers there is no image registry (%d)", status)
	case status != 0:
		r.Reason = fmt.Sprintf("it answered %d %s", status, http.StatusText(status))
	default:
		r.Reason = networkReason(ctx, err)
	}
	return r
}

// statusOf returns the HTTP status that an error carries, 0 if none, and whether it was the
// answer to "are you a registry" and not to the question itself.
func statusOf(err error) (status int, ping bool) {
	var answer *wire.Error
	if !errors.As(err, &answer) {
		return 0, false
	}
	path := ""
	if answer.Request != nil && answer.Request.URL != nil {
		path = answer.Request.URL.Path
	}
	return answer.StatusCode, path == "/v2/"
}

// missing says which part of the reference is not there.
func missing(err error) string {
	var answer *wire.Error
	if errors.As(err, &answer) {
		for _, diagnostic := range answer.Errors {
			if diagnostic.Code == wire.NameUnknownErrorCode {
				return "no such repository"
			}
		}
	}
	return "no such tag or digest"
}

// isNetwork says whether the question never got an answer.
func isNetwork(err error) bool {
	var n net.Error
	return errors.As(err, &n) || errors.Is(err, errPlain) || errors.Is(err, http.ErrSchemeMismatch) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// networkReason says in a few words why there was no answer.
func networkReason(ctx context.Context, err error) string {
	var (
		dns   *net.DNSError
		certs *tls.CertificateVerificationError
		host  x509.HostnameError
		n     net.Error
	)
	switch {
	case ctx.Err() != nil:
		return "no answer in time"
	case errors.Is(err, http.ErrSchemeMismatch):
		return "it speaks plain HTTP, which the site has not allowed (submission.insecure_registries)"
	case errors.As(err, &dns) && dns.IsNotFound:
		return "no such host"
	case errors.As(err, &dns):
		return "its name could not be resolved"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return "no route to it"
	case errors.As(err, &host), errors.As(err, &certs):
		return "its certificate is not trusted here"
	case errors.As(err, &n) && n.Timeout():
		return "no answer in time"
	case errors.Is(err, errPlain):
		return errPlain.Error()
	default:
		return oneLine(err.Error())
	}
}

// oneLine makes foreign text fit to be quoted: one line, bounded, nothing that moves a cursor.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > maxReason {
		text = string(runes[:maxReason]) + "..."
	}
	return text
}

// display is a registry's host as users write it.
func display(host string) string {
	if host == name.DefaultRegistry {
		return "docker.io"
	}
	return host
}
