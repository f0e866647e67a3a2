package bench

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

const mib = 1 << 20

// known are GPUs of which the model can speak without one at hand. Peak is memory bandwidth, L2Bytes the size
// of L2, both as the vendor publishes them.
var known = map[string]GPU{
	// NVIDIA H200 Tensor Core GPU datasheet: 4.8 TB/s, 141 GB HBM3e. L2 as an H200 reported it (60 MB).
	"h200": {Name: "NVIDIA H200", Multiprocessors: 132, L2Bytes: 60 * mib, MemoryBytes: 141e9, Peak: 4.8e12},
	// NVIDIA H100 Tensor Core GPU datasheet, SXM: 3.35 TB/s, 80 GB. L2: NVIDIA H100 architecture whitepaper, 50 MB.
	"h100": {Name: "NVIDIA H100 SXM", Multiprocessors: 132, L2Bytes: 50 * mib, MemoryBytes: 80e9, Peak: 3.35e12},
	// NVIDIA H100 datasheet, PCIe: 2 TB/s; 114 multiprocessors by the whitepaper.
	"h100-pcie": {Name: "NVIDIA H100 PCIe", Multiprocessors: 114, L2Bytes: 50 * mib, MemoryBytes: 80e9, Peak: 2.0e12},
	// NVIDIA A100 datasheet, 80 GB SXM: 2,039 GB/s. L2: A100 architecture whitepaper, 40 MB.
	"a100": {Name: "NVIDIA A100 80GB SXM", Multiprocessors: 108, L2Bytes: 40 * mib, MemoryBytes: 80e9, Peak: 2.039e12},
	// NVIDIA A100 datasheet, 40 GB: 1,555 GB/s.
	"a100-40gb": {Name: "NVIDIA A100 40GB", Multiprocessors: 108, L2Bytes: 40 * mib, MemoryBytes: 40e9, Peak: 1.555e12},
	// NVIDIA L4 datasheet: 300 GB/s, 24 GB. L2: Ada architecture whitepaper for AD104, 48 MB.
	"l4": {Name: "NVIDIA L4", Multiprocessors: 58, L2Bytes: 48 * mib, MemoryBytes: 24e9, Peak: 300e9},
	// NVIDIA L40S datasheet: 864 GB/s, 48 GB. L2: Ada architecture whitepaper for AD102, 96 MB.
	"l40s": {Name: "NVIDIA L40S", Multiprocessors: 142, L2Bytes: 96 * mib, MemoryBytes: 48e9, Peak: 864e9},
	// NVIDIA Ada architecture whitepaper, GeForce RTX 4090: 1,008 GB/s, L2 72 MB.
	"rtx4090": {Name: "NVIDIA GeForce RTX 4090", Multiprocessors: 128, L2Bytes: 72 * mib, MemoryBytes: 24e9, Peak: 1.008e12},
	// NVIDIA GeForce laptop page: 6 GB GDDR6 on 96 bits; at 16 Gbit/s a pin 192 GB/s. L2: 12 MB in published reviews.
	"rtx4050": {Name: "NVIDIA GeForce RTX 4050 Laptop GPU", Multiprocessors: 20, L2Bytes: 12 * mib, MemoryBytes: 6e9, Peak: 192e9},
	// NVIDIA Ampere GA102 architecture whitepaper, GeForce RTX 3090: 936 GB/s, L2 6 MB.
	"rtx3090": {Name: "NVIDIA GeForce RTX 3090", Multiprocessors: 82, L2Bytes: 6 * mib, MemoryBytes: 24e9, Peak: 936e9},
	// NVIDIA Tesla V100 datasheet, SXM2: 900 GB/s. L2: Volta architecture whitepaper, 6 MB.
	"v100": {Name: "NVIDIA V100 SXM2", Multiprocessors: 80, L2Bytes: 6 * mib, MemoryBytes: 32e9, Peak: 900e9},
	// NVIDIA T4 datasheet: 320 GB/s ("up to"), 16 GB. L2: Turing architecture whitepaper for TU104, 4 MB.
	"t4": {Name: "NVIDIA T4", Multiprocessors: 40, L2Bytes: 4 * mib, MemoryBytes: 16e9, Peak: 320e9},
}

// KnownGPU finds a GPU for --model, by a short name such as h200.
func KnownGPU(name string) (GPU, error) {
	short := strings.NewReplacer(" ", "", "_", "-").Replace(strings.ToLower(name))
	if g, ok := known[short]; ok {
		return g, nil
	}
	return GPU{}, fmt.Errorf("GPU %q is not known to the model; known are %s", name, strings.Join(KnownGPUs(), ", "))
}

// KnownGPUs lists the short names.
func KnownGPUs() []string { return slices.Sorted(maps.Keys(known)) }
