// SPDX-License-Identifier: Apache-2.0

package stream

import (
	"bytes"
	"testing"
	"testing/iotest"
)

// FuzzReader: whatever comes, in whatever pieces, a Reader gives the same frames
// and the same error, and writing the frames again gives the bytes they were.
func FuzzReader(f *testing.F) {
	vectors(f, func(w []string) {
		if w[0] == "frame" || w[0] == "error" {
			f.Add(vectorBytes(f, w[len(w)-1]))
		}
	})
	f.Fuzz(func(t *testing.T, b []byte) {
		session := uint64(worldID)
		if len(b) >= 16 && b[8] == 0 {
			session = 0
		}
		var again bytes.Buffer
		cut := iotest.OneByteReader
		if len(b) > 1000 {
			cut = iotest.HalfReader
		}
		rd, pieces := NewReader(bytes.NewReader(b), session), NewReader(cut(bytes.NewReader(b)), session)
		w := NewWriter(&again, session)
		for {
			one, err := rd.Next()
			two, err2 := pieces.Next()
			if (err == nil) != (err2 == nil) || err != nil && err.Error() != err2.Error() {
				t.Fatalf("%v, in pieces %v", err, err2)
			}
			if err != nil {
				break
			}
			if !bytes.Equal(one.Payload, two.Payload) || len(one.Payload) > MaxPayload {
				t.Fatal("payload differs")
			}
			if err := w.Write(one); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.HasPrefix(b, again.Bytes()) {
			t.Fatal("written again, the frames differ")
		}
	})
}

// FuzzRecords: records that are accepted encode to what they were, and a launch
// read from them survives being sent.
func FuzzRecords(f *testing.F) {
	vectors(f, func(w []string) {
		switch w[0] {
		case "records":
			f.Add(vectorBytes(f, w[2]), uint32(0))
		case "badrecords":
			f.Add(vectorBytes(f, w[3]), uint32(1))
		}
	})
	f.Fuzz(func(t *testing.T, b []byte, task uint32) {
		var again []byte
		err := DecodeRecords(b, func(r Record) error { again = AppendRecord(again, r); return nil })
		if !bytes.HasPrefix(b, again) || err == nil && len(again) != len(b) {
			t.Fatal("encoded again, the records differ")
		}
		l, launchErr := DecodeLaunch(b, task)
		if err != nil && launchErr == nil {
			t.Fatal("a launch of bad records")
		}
		if launchErr != nil || task == TaskAll {
			return
		}
		sent, err := EncodeStart([]Launch{l})
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeLaunch(sent, task)
		if err != nil {
			t.Fatal(err)
		}
		l.Tasks, l.PullSecret = 1, nil // the password is the core's, and goes to no Pod
		sameLaunch(t, l, got)
	})
}
