package buffers

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"scanhost/host/internal/discover"
	"scanhost/host/internal/launch"
	"scanhost/host/internal/machine"
	"scanhost/shared/contract"
	"scanhost/shared/op"
)

// openGPU builds and starts the keeper, and skips where there is no GPU to keep.
func openGPU(t *testing.T) *Keeper {
	t.Helper()
	if !machine.HasGPU() {
		t.Skip("this machine has no NVIDIA GPU")
	}
	ctx := t.Context()
	if _, err := discover.FindNVCC(ctx); err != nil {
		t.Skip(err)
	}
	_, built, err := discover.Build(ctx, discover.BuildRequest{Backend: "cuda"})
	if err == nil {
		err = built.Err
	}
	if err != nil {
		t.Fatal(err)
	}
	p, err := launch.Start(ctx, launch.Command{Path: built.Executable[0], Service: contract.KeeperService})
	if err != nil {
		t.Fatal(err)
	}
	k := NewKeeper(p)
	t.Cleanup(func() {
		if err := errors.Join(k.Close(), p.Stop(context.Background())); err != nil {
			t.Error(err)
		}
	})
	return k
}

func TestGPUArraysHoldWhatWasFilled(t *testing.T) {
	k := openGPU(t)
	const chunk = 8 << 20 // of the keeper's staging
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16), byte(seed >> 24)})
	for _, size := range []int64{0, 2, 6, 4096, chunk - 2, chunk, chunk + 2, 2 * chunk, 5*chunk + 6} {
		want := make([]byte, size)
		random.Read(want)
		half := op.Array{Role: "a", DType: op.FP16, Shape: []int64{size / 2}}
		a := must[Array](t)(k.Input(half, func(dst []byte) error { copy(dst, want); return nil }))
		got := make([]byte, size)
		if err := a.Read(got); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes: read differs from what was written (%v)", size, err)
		}
		if first, intact, err := a.Guards(); !intact || err != nil {
			t.Errorf("%d bytes: guards changed at %d though nobody wrote (%v)", size, first, err)
		}
		if size > 0 {
			checkHash(t, k, a, half, want)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}

// checkHash compares with arrays of equal contents, of one changed byte, and of two exchanged words.
func checkHash(t *testing.T, k *Keeper, a Array, info op.Array, want []byte) {
	t.Helper()
	hash := func(a Array) uint64 { return must[uint64](t)(a.Hash()) }
	filled := func(content []byte) uint64 {
		b := must[Array](t)(k.Input(info, func(dst []byte) error { copy(dst, content); return nil }))
		defer b.Close()
		return hash(b)
	}
	if hash(a) != filled(want) {
		t.Errorf("%d bytes: equal contents have different hashes", len(want))
	}
	changed := bytes.Clone(want)
	changed[len(changed)-1] ^= 1
	if hash(a) == filled(changed) {
		t.Errorf("%d bytes: a changed last byte leaves the hash", len(want))
	}
	if len(want) < 4096 {
		return
	}
	exchanged := bytes.Clone(want)
	copy(exchanged[:4], want[1024:1028])
	copy(exchanged[1024:], want[:4])
	if hash(a) == filled(exchanged) {
		t.Errorf("%d bytes: two exchanged words leave the hash", len(want))
	}
}

func TestGPUOutputsArePoisoned(t *testing.T) {
	k := openGPU(t)
	a := must[Array](t)(k.Output(array("h", true, 1001)))
	defer a.Close()
	got := make([]byte, 4004)
	if err := a.Read(got); err != nil || !bytes.Equal(got, bytes.Repeat([]byte{0xA5, 0xFF}, 2002)) {
		t.Errorf("output holds %x... (%v)", got[:8], err)
	}
}

func TestGPUThatIsFullSaysSoAndGoesOn(t *testing.T) {
	k := openGPU(t)
	if _, err := k.Output(array("h", true, 1<<41)); !errors.Is(err, ErrOutOfMemory) {
		t.Errorf("8 TiB: error is %v, want ErrOutOfMemory", err)
	}
	if err := k.Canary(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestGPUCopiesAreNotSlow(t *testing.T) {
	k := openGPU(t)
	const size = 768 << 20
	fill := func(dst []byte) error { copy(dst, "once"); return nil }
	a := must[Array](t)(k.Input(array("a", false, size/4), fill))
	defer a.Close()
	dst := make([]byte, size)
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"read", func() error { return a.Read(dst) }},
		{"read again", func() error { return a.Read(dst) }},
		{"hash and guards", func() error { _, err := a.Hash(); return err }},
	} {
		started := time.Now()
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		took := time.Since(started)
		t.Logf("%s of 768 MiB: %.0f ms", step.name, float64(took.Microseconds())/1000)
		if took > 5*time.Second {
			t.Errorf("%s of 768 MiB took %v", step.name, took)
		}
	}
}

func TestGPUSlotsAreLookedAtOneByOne(t *testing.T) {
	k := openGPU(t)
	a := must[*Arena](t)(k.Arena("outputs", 64<<20, true))
	defer a.Close()
	const bytes = 1<<20 + 6
	slots := Slots{Offset: GuardBytes, Stride: 2 << 20, Bytes: bytes, Count: 20}
	if err := a.Poison(t.Context(), slots); err != nil {
		t.Fatal(err)
	}
	look := must[SlotsLook](t)(a.Inspect(t.Context(), slots))
	for slot, h := range look.Hashes {
		if h != look.Hashes[0] {
			t.Errorf("slot %d is poisoned like slot 0 and has another hash", slot)
		}
	}
	content := make([]byte, bytes)
	rand.NewChaCha8([32]byte{1}).Read(content)
	for _, slot := range []int64{3, 19} {
		if err := a.Write(slots.Offset+slot*slots.Stride, content); err != nil {
			t.Fatal(err)
		}
	}
	after := must[SlotsLook](t)(a.Inspect(t.Context(), slots))
	if !after.Intact || after.Hashes[3] != after.Hashes[19] || after.Hashes[3] == look.Hashes[3] || after.Hashes[4] != look.Hashes[4] {
		t.Errorf("after writing slots 3 and 19: %+v", after)
	}
	for _, beside := range []int64{-1, bytes, -GuardBytes, bytes + GuardBytes - 1} {
		if err := a.Poison(t.Context(), slots); err != nil {
			t.Fatal(err)
		}
		if err := a.Write(slots.Offset+7*slots.Stride+beside, []byte{1}); err != nil {
			t.Fatal(err)
		}
		got := must[SlotsLook](t)(a.Inspect(t.Context(), slots))
		if got.Intact || got.BadSlot != 7 || got.FirstBad != beside {
			t.Errorf("byte %d of slot 7 was changed; inspection says slot %d, byte %d, intact %v", beside, got.BadSlot, got.FirstBad, got.Intact)
		}
	}
}

func TestGPUStreamsReadAndWriteWhatTheyAreTold(t *testing.T) {
	k := openGPU(t)
	from, to := must[*Arena](t)(k.Arena("inputs", 8<<20, false)), must[*Arena](t)(k.Arena("outputs", 8<<20, true))
	defer from.Close()
	defer to.Close()
	ones := bytes.Repeat([]byte{0, 0, 0x80, 0x3F}, 1<<18) // 1.0
	for i := range int64(2) {
		if err := from.Write(i<<20, ones); err != nil {
			t.Fatal(err)
		}
	}
	variants := must[int](t)(k.PrepareStream(t.Context(), from, to, []StreamSet{{Reads: []int64{0, 1 << 20}, Writes: []int64{1 << 20}}}, 1<<20))
	slot := Slots{Offset: 1 << 20, Stride: 1 << 20, Bytes: 1 << 20, Count: 1}
	for v := range variants {
		if err := to.Poison(t.Context(), slot); err != nil {
			t.Fatal(err)
		}
		ms := must[float64](t)(k.Stream(t.Context(), v, 0, 3))
		got := make([]byte, 1<<20)
		if err := to.Read(1<<20, got); err != nil || !bytes.Equal(got, bytes.Repeat([]byte{0, 0, 0, 0x40}, 1<<18)) || ms <= 0 {
			t.Errorf("variant %d: output begins with %x, want sums of 2.0; %g ms (%v)", v, got[:4], ms, err)
		}
	}
	if ms := must[float64](t)(k.Spin(t.Context(), 500_000, 10)); ms < 5 || ms > 6 {
		t.Errorf("ten spins of 500 us took %g ms", ms)
	}
}
