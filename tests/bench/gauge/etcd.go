// SPDX-License-Identifier: Apache-2.0

package gauge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// Etcd is that of the tests' cluster, spoken to in its JSON.
type Etcd struct {
	address string
	client  http.Client
}

// FindEtcd takes its address from the command line of the daemon.
func FindEtcd(cluster string) (*Etcd, error) {
	pid, err := Daemon(cluster, "etcd")
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return nil, err
	}
	words := strings.Split(string(text), "\x00")
	for i, word := range words[:len(words)-1] {
		if word == "--listen-client-urls" {
			return &Etcd{address: words[i+1], client: http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{}}}, nil
		}
	}
	return nil, errors.New("etcd's command line does not say where it listens")
}

func (e *Etcd) ask(path string, question, answer any) error {
	body, err := json.Marshal(question)
	if err != nil {
		return err
	}
	response, err := e.client.Post(e.address+path, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("etcd answers %s to %s", response.Status, path)
	}
	return json.NewDecoder(response.Body).Decode(answer)
}

// number is one that etcd writes as text.
type number float64

func (n *number) UnmarshalJSON(text []byte) error {
	v, err := strconv.ParseFloat(strings.Trim(string(text), `"`), 64)
	*n = number(v)
	return err
}

// EtcdSize is how large etcd is.
type EtcdSize struct {
	InUse    float64 // bytes of the database that hold something
	Revision float64 // goes up by one with each write
}

// Compacted forgets the older versions of all objects, as kube-apiserver has it do every five minutes, and gives what is left.
func (e *Etcd) Compacted() (EtcdSize, error) {
	var status struct {
		Header      struct{ Revision number }
		DBSizeInUse number
	}
	if err := e.ask("/v3/maintenance/status", struct{}{}, &status); err != nil {
		return EtcdSize{}, err
	}
	if err := e.ask("/v3/kv/compaction", map[string]any{"revision": fmt.Sprint(int64(status.Header.Revision)), "physical": true}, &struct{}{}); err != nil {
		return EtcdSize{}, err
	}
	// What it has freed shows only once its writes are on the disk: until two looks agree, or after a while.
	status.DBSizeInUse = -1
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(200 * time.Millisecond) {
		before := status.DBSizeInUse
		if err := e.ask("/v3/maintenance/status", struct{}{}, &status); err != nil {
			return EtcdSize{}, err
		}
		if status.DBSizeInUse == before || time.Now().After(end) {
			return EtcdSize{float64(status.DBSizeInUse), float64(status.Header.Revision)}, nil
		}
	}
}
