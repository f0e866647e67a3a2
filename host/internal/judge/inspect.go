package judge

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/cespare/xxhash/v2"

	"scanhost/host/internal/buffers"
	"scanhost/shared/op"
)

// inspect looks at everything a launch left behind: guard bands, inputs, values, and bits.
func (t *trial) inspect() *failure {
	for i, a := range t.arrays {
		if a == nil {
			continue
		}
		first, intact, err := a.Guards()
		if err != nil {
			return t.hostTrouble("reading the guard bands of "+t.infos[i].Role, err)
		}
		if !intact {
			t.res.Verdict = OutOfBounds
			t.res.Detail = fmt.Sprintf("byte %d of %s was written; the array has %d", first, t.infos[i].Role, t.infos[i].Bytes())
			return nil
		}
	}
	same, f := t.sameBits()
	if f != nil || same {
		return f
	}
	c, f := t.compare()
	if f != nil || t.res.Verdict != Pass {
		return f
	}
	switch {
	case t.res.Comparison == nil:
		t.res.Comparison = &c
		return nil
	case t.target.Manifest.RunToRun:
		t.res.Verdict = Nondeterministic
		t.res.Detail = fmt.Sprintf("launch %d gave other bits than the first, both within the bound; plugin.toml declares run_to_run", t.res.Launches+t.res.Schedules)
	}
	return nil
}

// sameBits compares with the first launch; the first one answers false.
func (t *trial) sameBits() (bool, *failure) {
	var hashes []uint64
	for i, a := range t.arrays {
		if a == nil {
			continue
		}
		h, err := a.Hash()
		if err != nil {
			return false, t.hostTrouble("hashing "+t.infos[i].Role, err)
		}
		if !t.infos[i].Output && t.hashes != nil && h != t.hashes[len(hashes)] {
			t.res.Verdict, t.res.Detail = InputChanged, t.infos[i].Role+" was changed by a launch"
			return true, nil
		}
		hashes = append(hashes, h)
	}
	if t.hashes == nil {
		t.hashes = hashes
		return false, nil
	}
	return slices.Equal(t.hashes, hashes), nil
}

func (t *trial) compare() (op.Comparison, *failure) {
	for i, a := range t.arrays {
		if a == nil {
			continue
		}
		info := t.infos[i]
		if !info.Output {
			continue
		}
		if err := a.Read(t.data[info.Role]); err != nil {
			return op.Comparison{}, t.hostTrouble("reading "+info.Role, err)
		}
	}
	c, err := t.op.Check(t.c.Problem, t.data, buffers.Poison, t.c.Exact())
	if err != nil {
		return c, t.hostTrouble("comparing", err)
	}
	if t.res.Output == "" && t.c.Name != "" { // the caller's own data is not to be changed
		t.res.Output = t.fingerprint()
	}
	if c.Wrong == 0 {
		return c, nil
	}
	t.res.Comparison = &c
	t.res.Verdict, t.res.Detail = Wrong, fmt.Sprintf("%d of %d elements", c.Wrong, c.Checked)
	if c.Unwritten > 0 && c.Unwritten == c.Wrong {
		t.res.Verdict = Unwritten
	}
	if c.First != nil {
		t.res.Detail += "; first " + c.First.String()
	}
	return c, nil
}

// fingerprint is equal for equal outputs on any machine. All NaNs are one: which bits a NaN has is the machine's
// choice. It changes the host's copies, so it comes after the comparison.
func (t *trial) fingerprint() string {
	h := xxhash.New()
	for _, info := range t.infos {
		if data := t.data[info.Role]; info.Output && data != nil {
			oneNaN(data, info.DType)
			h.Write(data)
		}
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

func oneNaN(data []byte, dtype op.DType) {
	if dtype == op.FP32 {
		for ; len(data) >= 4; data = data[4:] {
			if binary.LittleEndian.Uint32(data)&0x7fffffff > 0x7f800000 {
				binary.LittleEndian.PutUint32(data, 0x7fc00000)
			}
		}
		return
	}
	infinity := uint16(0x7c00)
	if dtype == op.BF16 {
		infinity = 0x7f80
	}
	for ; len(data) >= 2; data = data[2:] {
		if binary.LittleEndian.Uint16(data)&0x7fff > infinity {
			binary.LittleEndian.PutUint16(data, 0x7fff)
		}
	}
}
