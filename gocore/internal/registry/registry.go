// SPDX-License-Identifier: Apache-2.0

// Package registry asks an image registry whether an image is there, as the user
// who submits and within the caller's time: one question, no pull, no retry.
package registry

import (
	"context"
	"net/http"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Kind is what became known of an image.
type Kind int

const (
	// Unreachable: nothing is known, the registry could not be asked.
	Unreachable Kind = iota
	// Exists: the registry has it, Result.Digest names it.
	Exists
	// NotFound: the registry says that it has no such tag, digest or repository.
	NotFound
	// Denied: the registry wants credentials that are not at hand here. Many registries
	// also say so of a repository that does not exist.
	Denied
	// Malformed: the text is no image reference.
	Malformed
)

// String names a kind for logs.
func (k Kind) String() string {
	switch k {
	case Exists:
		return "exists"
	case NotFound:
		return "not found"
	case Denied:
		return "denied"
	case Malformed:
		return "malformed"
	default:
		return "unreachable"
	}
}

// Result of one question.
type Result struct {
	Kind     Kind
	Registry string // host the question went to, as the user would write it
	Digest   string // of Exists: "sha256:..."
	Reason   string // of the others: one short line
}

// Options of a question.
type Options struct {
	// Insecure registries (HOST:PORT) may be asked over plain HTTP. Loopback always may.
	Insecure []string
}

// Check asks the image's registry for its manifest, with HEAD, and with GET where HEAD
// does not give a clear answer. It returns when ctx ends. Credentials are those of the
// calling user's docker or podman configuration.
func Check(ctx context.Context, image string, options Options) Result {
	transport := newTransport(newHostSet(options.Insecure))
	defer transport.CloseIdleConnections()
	return check(ctx, image, transport)
}

func check(ctx context.Context, image string, transport *transport) Result {
	ref, err := name.ParseReference(image)
	if err != nil {
		return Result{Kind: Malformed, Reason: oneLine(err.Error())}
	}
	host := ref.Context().RegistryStr()
	if transport.insecure.has(host) {
		if ref, err = name.ParseReference(image, name.Insecure); err != nil {
			return Result{Kind: Malformed, Reason: oneLine(err.Error())}
		}
	}
	ask := []remote.Option{
		remote.WithContext(ctx),
		remote.WithTransport(transport),
		remote.WithAuthFromKeychain(userKeychain{}),
		remote.WithUserAgent("slurm-k8s"),
		remote.WithRetryBackoff(remote.Backoff{Steps: 1}),
		remote.WithRetryPredicate(func(error) bool { return false }),
		remote.WithRetryStatusCodes(),
	}

	result := Result{Registry: display(host)}
	head, err := remote.Head(ref, ask...)
	if err == nil {
		return result.found(head.MediaType, head.Digest.String())
	}
	// A HEAD has no body, so that it cannot say what is missing, and some registries
	// do not serve it, or serve it without the digest.
	if ctx.Err() != nil || !worthGet(err) {
		return result.failed(ctx, err)
	}
	got, err := remote.Get(ref, ask...)
	if err != nil {
		return result.failed(ctx, err)
	}
	return result.found(got.MediaType, got.Digest.String())
}

// found says that a manifest came, if it is one: a web server that answers every
// question with a page is no registry.
func (r Result) found(media types.MediaType, digest string) Result {
	if !media.IsImage() && !media.IsIndex() && !media.IsSchema1() {
		r.Kind, r.Reason = Unreachable, "what answers there is no image registry"
		return r
	}
	r.Kind, r.Digest = Exists, digest
	return r
}

// worthGet says whether a GET may know more than the HEAD that ended so.
func worthGet(err error) bool {
	status, ping := statusOf(err)
	switch {
	case ping:
		return false
	case status == 0:
		return !isNetwork(err)
	default:
		return status != http.StatusUnauthorized && status != http.StatusForbidden &&
			status != http.StatusTooManyRequests && status < http.StatusInternalServerError ||
			status == http.StatusNotImplemented
	}
}
