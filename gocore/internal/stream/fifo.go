// SPDX-License-Identifier: Apache-2.0

package stream

import "sync"

const smallChunk = 4096

var (
	smallChunks = sync.Pool{New: func() any { return new([smallChunk]byte) }}
	bigChunks   = sync.Pool{New: func() any { return new([MaxPayload]byte) }}
)

// fifo is a queue of bytes in pooled chunks; empty, it holds none. Its user
// locks. Bytes that at returned stay in place until they are discarded, even
// while more are added: they may be read without the lock.
type fifo struct {
	chunks []chunk
	head   int // what is gone of the first chunk
	size   int
}

// chunk is what is filled of a pooled array.
type chunk struct{ data []byte }

func newChunk(small bool) chunk {
	if small {
		return chunk{smallChunks.Get().(*[smallChunk]byte)[:0]}
	}
	return chunk{bigChunks.Get().(*[MaxPayload]byte)[:0]}
}

func (c chunk) free() {
	if whole := c.data[:cap(c.data)]; len(whole) == smallChunk {
		smallChunks.Put((*[smallChunk]byte)(whole))
	} else {
		bigChunks.Put((*[MaxPayload]byte)(whole))
	}
}

// add appends a copy of p.
func (q *fifo) add(p []byte) {
	q.size += len(p)
	for len(p) > 0 {
		if len(q.chunks) == 0 || len(q.last().data) == cap(q.last().data) {
			q.chunks = append(q.chunks, newChunk(len(q.chunks) == 0 && len(p) <= smallChunk))
		}
		last := q.last()
		n := min(len(p), cap(last.data)-len(last.data))
		last.data = append(last.data, p[:n]...)
		p = p[n:]
	}
}

func (q *fifo) last() *chunk { return &q.chunks[len(q.chunks)-1] }

// at returns the bytes from pos on that lie together, at most limit; none at the end.
func (q *fifo) at(pos, limit int) []byte {
	pos += q.head
	for _, c := range q.chunks {
		if pos < len(c.data) {
			end := min(len(c.data), pos+limit)
			return c.data[pos:end:end]
		}
		pos -= len(c.data)
	}
	return nil
}

// discard drops the first n bytes.
func (q *fifo) discard(n int) {
	q.size -= n
	n += q.head
	gone := 0
	for gone < len(q.chunks) && n >= len(q.chunks[gone].data) {
		n -= len(q.chunks[gone].data)
		q.chunks[gone].free()
		gone++
	}
	left := copy(q.chunks, q.chunks[gone:])
	clear(q.chunks[left:])
	q.chunks, q.head = q.chunks[:left], n
	if left == 0 {
		q.head = 0
	}
}

// clear drops everything.
func (q *fifo) clear() { q.discard(q.size) }
