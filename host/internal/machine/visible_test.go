package machine

import (
	"slices"
	"strings"
	"testing"
)

var three = []GPU{{Name: "A", UUID: "GPU-10aa"}, {Name: "B", UUID: "GPU-10bb"}, {Name: "C", UUID: "GPU-20cc"}}

// listed is nvidia-smi -L of three GPUs whose second is split in two.
const listed = `GPU 0: A (UUID: GPU-10aa)
GPU 1: B (UUID: GPU-10bb)
  MIG 1g.5gb      Device  0: (UUID: MIG-1)
  MIG 1g.5gb      Device  1: (UUID: MIG-2)
GPU 2: C (UUID: GPU-20cc)
`

func uuids(devices []Device) string {
	var names []string
	for i, d := range devices {
		if d.Number != i {
			names = append(names, "misnumbered")
		}
		names = append(names, d.UUID)
	}
	return strings.Join(names, " ")
}

func TestVisibleDevicesAreCountedAsCUDACounts(t *testing.T) {
	whole := split(three, "GPU 0: A (UUID: GPU-10aa)\n")
	parts := split(three, listed)
	if got := uuids(number(flatten(parts))); got != "GPU-10aa MIG-1 MIG-2 GPU-20cc" {
		t.Errorf("without the variable: %s", got)
	}
	for _, c := range []struct {
		parts       [][]GPU
		value, want string
	}{
		{whole, "2,0", "GPU-20cc GPU-10aa"},
		{whole, "GPU-10b", "GPU-10bb"},
		{whole, "", ""},
		{whole, "-1", ""},
		{whole, "1,-1,0", "GPU-10bb"},
		{parts, "MIG-2, 2", "MIG-2 GPU-20cc"},
		{parts, "1", "MIG-1"},
	} {
		got, err := visible(c.parts, c.value)
		if err != nil || uuids(got) != c.want {
			t.Errorf("%q: %s (%v), want %s", c.value, uuids(got), err, c.want)
		}
	}
	for _, bad := range []string{"3", "GPU-10", "GPU-9", "0,0", "0,GPU-10aa", "one"} {
		if got, err := visible(whole, bad); err == nil {
			t.Errorf("%q is accepted as %s", bad, uuids(got))
		}
	}
}

func TestChooseTakesNumbersAndUUIDs(t *testing.T) {
	devices := number([]GPU{three[2], three[0]}) // as CUDA_VISIBLE_DEVICES=2,0 leaves them
	for _, c := range []struct{ names, want string }{
		{"0", "GPU-20cc"}, {"1,0", "GPU-10aa GPU-20cc"}, {"GPU-10aa", "GPU-10aa"}, {"GPU-1", "GPU-10aa"},
	} {
		got, err := Choose(devices, strings.Split(c.names, ","))
		var names []string
		for _, d := range got {
			names = append(names, d.UUID)
		}
		if err != nil || strings.Join(names, " ") != c.want {
			t.Errorf("%s: %v (%v), want %s", c.names, names, err, c.want)
		}
	}
	if got, err := Choose(devices, nil); err != nil || !slices.Equal(got, devices) {
		t.Errorf("no names: %v (%v), want all", got, err)
	}
	_, err := Choose(devices, []string{"2"})
	if want := `gpu "2" is not here; accepted are 0 or GPU-20cc, 1 or GPU-10aa`; err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
	for _, bad := range []string{"-1", "", "GPU-", "GPU-10bb", "1,1", "0,GPU-20cc"} {
		if got, err := Choose(devices, strings.Split(bad, ",")); err == nil {
			t.Errorf("%q is accepted as %v", bad, got)
		}
	}
	if _, err := Choose(nil, nil); err == nil || !strings.Contains(err.Error(), "hides every GPU") {
		t.Errorf("no GPU is visible: %v", err)
	}
}

func TestAllHidden(t *testing.T) {
	for value, want := range map[string]bool{"": true, "-1": true, "0": false, "GPU-1,-1": false} {
		t.Setenv(visibleVariable, value)
		if AllHidden() != want {
			t.Errorf("%q: %v, want %v", value, AllHidden(), want)
		}
	}
}
