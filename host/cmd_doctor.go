package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"scanhost/host/internal/discover"
	"scanhost/host/internal/machine"
	"scanhost/host/internal/report"
)

type doctorOptions struct {
	*sharedFlags
	gpu bool
}

func newDoctor(shared *sharedFlags) *cobra.Command {
	o := &doctorOptions{sharedFlags: shared}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what this machine has, what is missing and what to install",
		Long: `doctor looks for what a run needs: Go and a C++ compiler for the simulated GPU; nvcc, a driver and a GPU for
the real one; memory and limits for both. With --gpu it also starts the keeper on the GPU and asks the
driver whether buffers can be exported, which builds the keeper first.

It exits with 0 where run-all can work on some backend, else with 2.`,
		Example: `  host doctor
  host doctor --gpu
  host doctor --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runDoctor(cmd.Context(), o, cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&o.gpu, "gpu", false, "also start the keeper and ask the GPU itself")
	return cmd
}

// finding is one thing that doctor looked for. Backend is the one that needs it, or "" where it is
// good to know.
type finding struct {
	Name    string `json:"name"`
	OK      bool   `json:"ok"`
	Found   string `json:"found"`
	Backend string `json:"needed_by,omitempty"`
	Fix     string `json:"fix,omitempty"`
}

// diagnosis is doctor --json.
type diagnosis struct {
	Findings []finding `json:"findings"`
	Backends []string  `json:"backends"` // on which run-all can work here
	Auto     string    `json:"auto"`     // the one that --backend auto takes
}

// keeperChoice says whether doctor starts a process on the GPU.
type keeperChoice int

const (
	withoutKeeper keeperChoice = iota
	withKeeper
)

func runDoctor(ctx context.Context, o *doctorOptions, out io.Writer) error {
	keeper := withoutKeeper
	if o.gpu {
		keeper = withKeeper
	}
	d := diagnose(ctx, keeper)
	if o.json {
		if err := report.JSON(out, d); err != nil {
			return err
		}
	} else {
		printDiagnosis(out, d)
	}
	if len(d.Backends) == 0 {
		return errUnable
	}
	return nil
}

func diagnose(ctx context.Context, keeper keeperChoice) diagnosis {
	found, devices := gpus(ctx)
	d := diagnosis{Findings: append(compilers(ctx), found...)}
	switch {
	case len(devices) == 0:
	case keeper == withKeeper:
		d.Findings = append(d.Findings, askKeepers(ctx, devices)...)
	default:
		d.Findings = append(d.Findings, finding{Name: "memory export", Found: "not asked", Fix: "host doctor --gpu asks the GPU itself"})
	}
	d.Findings = append(d.Findings, resources()...)
	d.Backends = usable(d.Findings)
	d.Auto = autoBackend(ctx)
	return d
}

// usable lists the backends for which nothing is missing.
func usable(findings []finding) (backends []string) {
	able := map[string]bool{"simt": true, "cuda": true}
	for _, f := range findings {
		switch {
		case f.OK || f.Backend == "":
		case f.Backend == "simt":
			able["simt"], able["cuda"] = false, false // a GPU's plugin is linked by the same compilers
		default:
			able[f.Backend] = false
		}
	}
	for _, b := range []string{"cuda", "simt"} {
		if able[b] {
			backends = append(backends, b)
		}
	}
	return backends
}

func compilers(ctx context.Context) []finding {
	list := []finding{
		toolFinding(machine.FindTool(ctx, "go", "version"), "simt", "install Go 1.26 or later from https://go.dev/dl"),
		toolFinding(machine.FindTool(ctx, "gcc", "--version"), "simt", "install gcc (Debian, Ubuntu: apt-get install build-essential)"),
		toolFinding(machine.FindTool(ctx, "g++", "--version"), "simt", "install g++ (Debian, Ubuntu: apt-get install build-essential)"),
		nvccFinding(ctx),
	}
	return append(list, inside())
}

func toolFinding(t machine.Tool, backend, fix string) finding {
	if t.Path == "" {
		return finding{Name: t.Name, Found: "not here", Backend: backend, Fix: fix}
	}
	return finding{Name: t.Name, OK: true, Found: strings.TrimSpace(t.Version + "  " + t.Path), Backend: backend}
}

func nvccFinding(ctx context.Context) finding {
	t := machine.Tool{Name: "nvcc"}
	if n, err := findNVCC(ctx); err == nil {
		t.Path, t.Version = n.Path, release(n)
	}
	return toolFinding(t, "cuda", "install the CUDA toolkit and put nvcc on PATH, or set CUDA_HOME to its folder")
}

// inside says which plugins a run would take.
func inside() finding {
	root := discover.Root()
	if root == "" {
		return finding{Name: "repository", Found: "the working directory is not in one", Backend: "simt",
			Fix: "run inside the scanhost repository"}
	}
	return finding{Name: "repository", OK: true, Found: root, Backend: "simt"}
}

// gpus lists the GPUs that a run can use, numbered as --gpu takes them, and then those that it cannot see.
func gpus(ctx context.Context) ([]finding, []machine.Device) {
	fix := "a GPU is not needed: the simulated one is used"
	if !machine.HasGPU() {
		return []finding{{Name: "gpu", Found: "none (no /dev/nvidia0)", Backend: "cuda", Fix: fix}}, nil
	}
	all, err := machine.GPUs(ctx)
	if err != nil {
		return []finding{{Name: "gpu", Found: err.Error(), Backend: "cuda", Fix: "install the NVIDIA driver's tools, or see what dmesg says of NVRM"}}, nil
	}
	devices, err := machine.Visible(ctx)
	if err == nil {
		_, err = machine.Choose(devices, nil) // says what hides them
	}
	if err != nil {
		return []finding{{Name: "gpu", Found: err.Error(), Backend: "cuda", Fix: fmt.Sprintf("this machine has %d", len(all))}}, nil
	}
	return gpuFindings(all, devices), devices
}

func gpuFindings(all []machine.GPU, devices []machine.Device) []finding {
	var list []finding
	for _, d := range devices {
		list = append(list, finding{Name: fmt.Sprintf("gpu %d", d.Number), OK: true, Backend: "cuda", Found: describeGPU(d.GPU)})
	}
	for _, g := range all {
		if !slices.ContainsFunc(devices, func(d machine.Device) bool { return d.PartOf(g) }) {
			list = append(list, finding{Name: "gpu", Found: describeGPU(g), Fix: "CUDA_VISIBLE_DEVICES hides it"})
		}
	}
	return list
}

func describeGPU(g machine.GPU) string {
	return fmt.Sprintf("%s, %s, driver %s, %s, compute capability %s", g.Name, g.UUID, g.Driver, g.Memory, g.Compute)
}

// leastMemory bears the suite's largest case, inputs, outputs and reference together.
const leastMemory = 2 << 30

func resources() []finding {
	list := []finding{{Name: "cores", OK: true, Found: fmt.Sprint(runtime.NumCPU())}}
	memory, err := machine.AvailableMemory()
	f := finding{Name: "memory", OK: err == nil && memory >= leastMemory, Found: fmt.Sprintf("%.1f GB available", float64(memory)/1e9)}
	if err != nil {
		f.Found = err.Error()
	}
	if !f.OK {
		f.Fix = "the largest cases of the suite need 2 GB; some will be out-of-memory"
	}
	list = append(list, f)
	for _, l := range machine.Limits() {
		f := finding{Name: l.Name, OK: true, Found: l.Text}
		if l.Name == "nofile" && l.Value < 256 {
			f.OK, f.Fix = false, "raise it with ulimit -n 1024"
		}
		list = append(list, f)
	}
	if os.Geteuid() == 0 {
		list = append(list, finding{Name: "user", Found: "root", Fix: "plugins run with this user's rights; another user is safer"})
	}
	return list
}

func printDiagnosis(out io.Writer, d diagnosis) {
	style := report.StyleOf(out)
	var rows [][]string
	for _, f := range d.Findings {
		rows = append(rows, []string{style.Mark(f.OK), f.Name, f.Found})
		if f.Fix != "" {
			rows = append(rows, []string{"", "", "-> " + f.Fix})
		}
	}
	fmt.Fprintln(out, report.Grid([]string{"", "what", "found"}, rows))
	fmt.Fprintln(out)
	if len(d.Backends) == 0 {
		fmt.Fprintln(out, "run-all cannot work here: see the arrows above")
		return
	}
	fmt.Fprintf(out, "run-all can work on: %s (auto takes %s)\n", strings.Join(d.Backends, ", "), d.Auto)
}
