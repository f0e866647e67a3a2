package main

import (
	"slices"
	"strings"
	"testing"

	"scanhost/host/internal/buffers"
	"scanhost/shared/contract"
)

func TestMemoryIsCopiedWhereItCannotBeExported(t *testing.T) {
	keeper := &buffers.Keeper{}
	for _, c := range []struct {
		memory  memoryFlag
		exports bool
		copied  bool
		err     string
	}{
		{"auto", true, false, ""},
		{"auto", false, true, ""},
		{"exported", true, false, ""},
		{"exported", false, false, "--memory copied works"},
		{"copied", true, true, ""},
		{"copied", false, true, ""},
	} {
		w, err := c.memory.choose(workplace{space: keeper}, c.exports)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s, exports %v: %v", c.memory, c.exports, err)
			}
			continue
		}
		_, copied := w.space.(buffers.Memfd)
		if err != nil || copied != c.copied || copied != slices.Equal(w.lost, lostByCopying) || copied != (w.needs == contract.CapabilityCopied) {
			t.Errorf("%s, exports %v: %+v, %v", c.memory, c.exports, w, err)
		}
	}
}
