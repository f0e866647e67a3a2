package abitest

import (
	"fmt"
	"testing"

	"scanhost/shared/op"
	"scanhost/shared/plugin/registry"
)

// The workspace of tile_state.cuh in 32-bit words: a header of 64, then 4 for each tile.
const (
	baseWord    = 0
	epochWord   = 1
	usedWord    = 2
	ticketWord  = 32
	headerWords = 64
	recordWords = 4

	lastEpoch      = 1<<30 - 1
	flagAggregate  = 1
	flagPrefix     = 2
	garbage        = 0x4b800000 // 2^24: far from any right state
	reservedTiles  = 100
	headerAndTiles = 4 * (headerWords + recordWords*reservedTiles)
)

// Lookback is what every kernel with tiles in a chain must pass on top of Suite: nothing that an earlier
// launch left in the workspace reaches a result. A tile that runs after its predecessors never sees what was
// there before, so each test is repeated under schedules in which tiles wait.
func (k Kernel) Lookback(t *testing.T) {
	t.Run("ticket wraps", func(t *testing.T) { k.schedules(t, ticketWraps) })
	t.Run("epoch wraps", func(t *testing.T) { k.schedules(t, epochWraps) })
	t.Run("epoch wraps in a smaller problem", func(t *testing.T) { k.schedules(t, epochWrapsSmall) })
	t.Run("killed launch", func(t *testing.T) { k.schedules(t, killedLaunch) })
	t.Run("tile count changes", func(t *testing.T) { k.schedules(t, tileCountChanges) })
	t.Run("all tiles wait", k.allTilesWait)
}

// allTilesWait has all tiles of a long chain resident and in step, so that many a tile finds no prefix among
// its 32 nearest predecessors.
func (k Kernel) allTilesWait(t *testing.T) {
	if !registry.Has(registry.SimtCheck) {
		t.Skip("built without the checked copy (go test -race leaves it out)")
	}
	c := Case(t, "signs", 1, 48*k.Tile, "h0")
	want := k.Run(t, c, nil, registry.Simt{Mode: fast}).Hash()
	k.Copy = registry.SimtCheck
	for seed := range uint64(2) {
		got := k.Run(t, c, nil, registry.Simt{Mode: explore, Seed: seed, ResidentBlocks: 48})
		if got.Hash() != want {
			t.Errorf("%s: schedule %d gives other bits", c.Name, seed)
		}
	}
}

// used is a kernel with a workspace in which it has run, under one schedule.
type used struct {
	Kernel
	*Workspace
	simt registry.Simt
}

func (k Kernel) schedules(t *testing.T, test func(*testing.T, used)) {
	start := func(k Kernel, simt registry.Simt) used {
		u := used{k, &Workspace{}, simt}
		u.reserve(t, headerAndTiles)
		u.run(t, 5)
		return u
	}
	test(t, start(k, registry.Simt{Mode: fast}))
	if !registry.Has(registry.SimtCheck) {
		return
	}
	k.Copy = registry.SimtCheck
	for seed := range uint64(4) {
		if t.Failed() {
			return
		}
		t.Run(fmt.Sprint("schedule ", seed), func(t *testing.T) {
			test(t, start(k, registry.Simt{Mode: explore, Seed: seed, ResidentBlocks: 4}))
		})
	}
}

// chain is a case of so many tiles in each of two rows.
func (u used) chain(t *testing.T, tiles int64) op.Case {
	return Case(t, "signs", 2, tiles*u.Tile-3, "h0", "last_state")
}

func (u used) run(t *testing.T, tiles int64) Outcome {
	t.Helper()
	return u.Run(t, u.chain(t, tiles), u.Workspace, u.simt)
}

// setStatuses makes all records say the same, of an epoch, with values that would spoil any result.
func (u used) setStatuses(epoch, flag uint32) {
	words := u.Words()
	for i := headerWords; i < len(words); i += recordWords {
		words[i] = epoch<<2 | flag
		words[i+1], words[i+2], words[i+3] = garbage, garbage, garbage
	}
	words[usedWord] = reservedTiles
}

func ticketWraps(t *testing.T, u used) {
	u.Words()[ticketWord] = 0xfffffffd
	u.run(t, 5)
	if got := u.Words()[ticketWord]; got != 7 {
		t.Errorf("the ticket is %d after 10 tiles from 2^32 - 3; it should have wrapped to 7", got)
	}
	u.run(t, 4)
}

func epochWraps(t *testing.T, u used) {
	u.setStatuses(0, flagPrefix)
	u.Words()[epochWord] = lastEpoch
	u.run(t, 5)
	if got := u.Words()[epochWord]; got != 0 {
		t.Errorf("epoch %d follows 2^30 - 1; it should have wrapped to 0", got)
	}
}

// epochWrapsSmall leaves statuses of the coming epoch beyond the tiles of the launch in which the epoch wraps,
// and of the one before it.
func epochWrapsSmall(t *testing.T, u used) {
	u.setStatuses(1, flagPrefix)
	u.Words()[epochWord] = lastEpoch - 1
	u.run(t, 2)
	u.run(t, 2)
	for i, status := range u.Words()[headerWords:] {
		if i%recordWords == 0 && i >= 4*recordWords && status != 0 {
			t.Fatalf("tile %d still has status %#x after the launch in which the epoch wraps", i/recordWords, status)
		}
	}
	u.run(t, 7)
	if got := u.Words()[epochWord]; got != 1 {
		t.Errorf("epoch is %d after the launch that wraps and one more; 1 expected", got)
	}
}

func tileCountChanges(t *testing.T, u used) {
	counts := []int64{2, 9, 3}
	if u.simt.Mode == fast {
		counts = []int64{2, 40, 3, 5}
	}
	for _, tiles := range counts {
		kept, fresh := u.run(t, tiles), u.Run(t, u.chain(t, tiles), nil, u.simt)
		if kept.Hash() != fresh.Hash() {
			t.Errorf("%d tiles: a used workspace gives other bits than a fresh one", tiles)
		}
	}
}

// killedLaunch leaves the workspace as a launch that ended half-way: some tickets given out, and records of the
// launch's own epoch in every state.
func killedLaunch(t *testing.T, u used) {
	for _, flag := range []uint32{flagAggregate, flagPrefix} {
		words := u.Words()
		words[baseWord] = words[ticketWord]
		words[ticketWord] += 3
		u.setStatuses(words[epochWord], flag)
		u.run(t, 5)
	}
}
