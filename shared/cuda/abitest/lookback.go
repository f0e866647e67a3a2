package abitest

import (
	"testing"

	"scanhost/shared/op"
	"scanhost/shared/plugin/registry"
)

// The workspace of tile_state.cuh in 32-bit words: a header of 64, then 4 for each tile.
const (
	ticketWord  = 0
	baseWord    = 1
	epochWord   = 2
	usedWord    = 3
	headerWords = 64
	recordWords = 4

	lastEpoch      = 1<<30 - 1
	flagAggregate  = 1
	flagPrefix     = 2
	garbage        = 0x4b800000 // 2^24: far from any right state
	reservedTiles  = 300
	headerAndTiles = 4 * (headerWords + recordWords*reservedTiles)
)

// Lookback is what every kernel with tiles in a chain must pass on top of Suite: nothing that an earlier
// launch left in the workspace reaches a result.
func (k Kernel) Lookback(t *testing.T) {
	t.Run("ticket wraps", k.ticketWraps)
	t.Run("epoch wraps", k.epochWraps)
	t.Run("epoch wraps in a smaller problem", k.epochWrapsSmall)
	t.Run("tile count changes", k.tileCountChanges)
	t.Run("killed launch", k.killedLaunch)
}

// chain is a case of so many tiles in each of two rows.
func (k Kernel) chain(t *testing.T, tiles int64) op.Case {
	return Case(t, "signs", 2, tiles*k.Tile-3, "h0", "last_state")
}

// used is a workspace after one launch, large enough for every case here.
func (k Kernel) used(t *testing.T) *Workspace {
	w := &Workspace{}
	w.reserve(t, headerAndTiles)
	k.Run(t, k.chain(t, 5), w, registry.Simt{})
	return w
}

// setStatuses makes all records say the same, of an epoch, with values that would spoil any result.
func (w *Workspace) setStatuses(epoch, flag uint32) {
	words := w.Words()
	for i := headerWords; i+recordWords <= len(words); i += recordWords {
		words[i] = epoch<<2 | flag
		words[i+1], words[i+2], words[i+3] = garbage, garbage, garbage
	}
	words[usedWord] = uint32((len(words) - headerWords) / recordWords)
}

func (k Kernel) ticketWraps(t *testing.T) {
	w := k.used(t)
	w.Words()[ticketWord] = 0xfffffffd
	k.Run(t, k.chain(t, 5), w, registry.Simt{})
	if got := w.Words()[ticketWord]; got != 7 {
		t.Errorf("the ticket is %d after 10 tiles from 2^32 - 3; it should have wrapped to 7", got)
	}
	k.Run(t, k.chain(t, 4), w, registry.Simt{})
}

func (k Kernel) epochWraps(t *testing.T) {
	w := k.used(t)
	w.setStatuses(0, flagPrefix)
	w.Words()[epochWord] = lastEpoch
	k.Run(t, k.chain(t, 5), w, registry.Simt{})
	if got := w.Words()[epochWord]; got != 0 {
		t.Errorf("epoch %d follows 2^30 - 1; it should have wrapped to 0", got)
	}
}

// epochWrapsSmall leaves statuses of the coming epoch beyond the tiles of the launch in which the epoch wraps.
func (k Kernel) epochWrapsSmall(t *testing.T) {
	w := k.used(t)
	w.setStatuses(1, flagPrefix)
	w.Words()[epochWord] = lastEpoch
	k.Run(t, k.chain(t, 2), w, registry.Simt{})
	k.Run(t, k.chain(t, 7), w, registry.Simt{})
	if got := w.Words()[epochWord]; got != 1 {
		t.Errorf("epoch is %d after the launch that wraps and one more; 1 expected", got)
	}
}

func (k Kernel) tileCountChanges(t *testing.T) {
	w := k.used(t)
	for _, tiles := range []int64{5, 2, 40, 3, 33, 5} {
		c := k.chain(t, tiles)
		kept, fresh := k.Run(t, c, w, registry.Simt{}), k.Run(t, c, nil, registry.Simt{})
		if kept.Hash() != fresh.Hash() {
			t.Errorf("%s: a used workspace gives other bits than a fresh one", c.Name)
		}
	}
}

// killedLaunch leaves the workspace as a launch that ended half-way: some tickets given out, and records of the
// launch's own epoch in every state.
func (k Kernel) killedLaunch(t *testing.T) {
	for _, flag := range []uint32{flagAggregate, flagPrefix} {
		w := k.used(t)
		words := w.Words()
		words[baseWord] = words[ticketWord]
		words[ticketWord] += 3
		w.setStatuses(words[epochWord], flag)
		k.Run(t, k.chain(t, 5), w, registry.Simt{})
	}
}
