package machine

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// visibleVariable is CUDA's own: which GPUs a process sees, and in which order.
const visibleVariable = "CUDA_VISIBLE_DEVICES"

// Device is what a process can be given alone: a GPU, or an instance of one that is split (MIG).
type Device struct {
	GPU
	Number int `json:"number"` // among those that CUDA_VISIBLE_DEVICES leaves, as --gpu takes it
}

// PartOf says whether the device is g or an instance of it.
func (d Device) PartOf(g GPU) bool { return d.UUID == g.UUID || d.whole == g.UUID }

// Environment shows a child process this device and no other.
func (d Device) Environment() []string { return []string{visibleVariable + "=" + d.UUID} }

func (d Device) String() string { return fmt.Sprintf("GPU %d (%s)", d.Number, d.UUID) }

// AllHidden says whether CUDA_VISIBLE_DEVICES leaves no GPU whatever there is.
func AllHidden() bool {
	value, set := os.LookupEnv(visibleVariable)
	return set && (strings.TrimSpace(value) == "" || strings.HasPrefix(strings.TrimSpace(value), "-1"))
}

// Visible lists the devices that CUDA_VISIBLE_DEVICES leaves, in its order; without it all, in the order of
// nvidia-smi, which is the one that children count in.
func Visible(ctx context.Context) ([]Device, error) {
	all, err := GPUs(ctx)
	if err != nil {
		return nil, err
	}
	list, err := Ask(ctx, "nvidia-smi", "-L")
	if err != nil {
		return nil, err
	}
	value, set := os.LookupEnv(visibleVariable)
	if !set {
		return number(flatten(split(all, list))), nil
	}
	return visible(split(all, list), value)
}

// split gives for every GPU what a process can be given of it: itself, or its instances.
func split(all []GPU, list string) [][]GPU {
	parts := make([][]GPU, len(all))
	for i, g := range all {
		for _, instance := range instancesOf(g.UUID, list) {
			part := g
			part.UUID, part.whole = instance, g.UUID
			part.Memory = "part of " + g.Memory
			parts[i] = append(parts[i], part)
		}
		if parts[i] == nil {
			parts[i] = []GPU{g}
		}
	}
	return parts
}

var listedUUID = regexp.MustCompile(`\(UUID:\s*([^\s)]+)\)`)

// instancesOf reads nvidia-smi -L: a line for each GPU, and below it an indented one for each instance.
func instancesOf(uuid, list string) []string {
	var instances []string
	inside := false
	for line := range strings.Lines(list) {
		found := listedUUID.FindStringSubmatch(line)
		switch {
		case found == nil:
		case strings.HasPrefix(found[1], "MIG-"):
			if inside {
				instances = append(instances, found[1])
			}
		default:
			inside = found[1] == uuid
		}
	}
	return instances
}

func flatten(parts [][]GPU) []GPU { return slices.Concat(parts...) }

func number(gpus []GPU) []Device {
	devices := make([]Device, len(gpus))
	for i, g := range gpus {
		devices[i] = Device{g, i}
	}
	return devices
}

// visible reads the variable as CUDA does, but for an entry that names nothing: CUDA would silently leave out
// that one and all behind it.
func visible(parts [][]GPU, value string) ([]Device, error) {
	var chosen []GPU
	for _, entry := range strings.Split(value, ",") {
		entry = strings.TrimSpace(entry)
		if entry == "" || entry == "-1" { // ends the list by CUDA's rule
			break
		}
		g, ok := entryOf(parts, entry)
		if !ok {
			return nil, fmt.Errorf("%s is %q, and %q is no GPU here; accepted are %s", visibleVariable, value, entry, accepted(number(flatten(parts))))
		}
		if slices.ContainsFunc(chosen, func(c GPU) bool { return c.UUID == g.UUID }) {
			return nil, fmt.Errorf("%s is %q, which names %s twice; each GPU is accepted once", visibleVariable, value, g.UUID)
		}
		chosen = append(chosen, g)
	}
	return number(chosen), nil
}

// entryOf finds a GPU by its index, of a split one the first instance, or any device by the beginning of its UUID.
func entryOf(parts [][]GPU, entry string) (GPU, bool) {
	if i, err := strconv.Atoi(entry); err == nil {
		if i < 0 || i >= len(parts) {
			return GPU{}, false
		}
		return parts[i][0], true
	}
	return byUUID(flatten(parts), entry)
}

// byUUID accepts the beginning of a UUID where it is that of one device only.
func byUUID(gpus []GPU, text string) (GPU, bool) {
	var found []GPU
	for _, g := range gpus {
		if strings.HasPrefix(g.UUID, text) {
			found = append(found, g)
		}
	}
	if len(found) != 1 {
		return GPU{}, false
	}
	return found[0], true
}

// accepted lists what names a device.
func accepted(devices []Device) string {
	if len(devices) == 0 {
		return "none: " + visibleVariable + " hides every GPU"
	}
	names := make([]string, len(devices))
	for i, d := range devices {
		names[i] = fmt.Sprintf("%d or %s", d.Number, d.UUID)
	}
	return strings.Join(names, ", ")
}

// Choose finds the devices that names lead to, each a number or the beginning of a UUID, in the order of the names.
// Without names it is all of them.
func Choose(devices []Device, names []string) ([]Device, error) {
	if len(devices) == 0 {
		return nil, fmt.Errorf("%s is %q and hides every GPU; unset it, or use --backend simt, which needs none",
			visibleVariable, os.Getenv(visibleVariable))
	}
	if len(names) == 0 {
		return devices, nil
	}
	var chosen []Device
	for _, name := range names {
		d, ok := named(devices, strings.TrimSpace(name))
		if !ok {
			return nil, fmt.Errorf("gpu %q is not here; accepted are %s", name, accepted(devices))
		}
		if slices.Contains(chosen, d) {
			return nil, fmt.Errorf("gpu %q is named twice; each GPU is accepted once", name)
		}
		chosen = append(chosen, d)
	}
	return chosen, nil
}

func named(devices []Device, name string) (Device, bool) {
	if i, err := strconv.Atoi(name); err == nil {
		if i < 0 || i >= len(devices) {
			return Device{}, false
		}
		return devices[i], true
	}
	gpus := make([]GPU, len(devices))
	for i, d := range devices {
		gpus[i] = d.GPU
	}
	g, ok := byUUID(gpus, name)
	if !ok || name == "" {
		return Device{}, false
	}
	return devices[slices.IndexFunc(devices, func(d Device) bool { return d.UUID == g.UUID })], true
}
