// Package faulty is a plugin that misbehaves on request: one executable, one named fault at a time. It shows
// that a host survives each of them and gives the right verdict.
//
//	go build -o faulty ./shared/faulty/plugin
//	faulty --list                     every fault, with the verdict it should get
//	faulty --fault spin-in-launch     started by a host; without one it says that it is a plugin
//
// As a plugin folder for --plugin-dir (a test makes as many as it needs, with Folder):
//
//	faulty --folder DIR --fault spin-in-launch
//
// With the fault "none" it computes affine_scan honestly on the CPU, in float64, and must pass. It speaks the
// contract without the Go SDK, so that it tests the contract and not the SDK. A test binary can be the
// executable too: its TestMain calls MainIfAsked first.
package faulty

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"
)

// grandchildFlag starts this executable as a process that only waits.
const grandchildFlag = "--grandchild"

// MainIfAsked runs Main and exits if this process was started as the faulty plugin.
func MainIfAsked() {
	if len(os.Args) > 1 && (os.Args[1] == "--fault" || os.Args[1] == grandchildFlag) {
		os.Exit(Main(os.Args[1:]))
	}
}

// Main is the whole program; args are without the program's name. It returns the exit status.
func Main(args []string) int {
	if len(args) == 1 && args[0] == grandchildFlag {
		ignoreSignals()
		time.Sleep(10 * time.Minute)
		return 0
	}
	flags := flag.NewFlagSet("faulty", flag.ContinueOnError)
	name := flags.String("fault", "none", "what to do wrong")
	folder := flags.String("folder", "", "make a plugin folder here for this fault, and exit")
	list := flags.Bool("list", false, "list the faults and exit")
	if flags.Parse(args) != nil {
		return 2
	}
	if *list {
		fmt.Print(Table())
		return 0
	}
	fault, ok := Lookup(*name)
	if !ok {
		fmt.Fprintf(os.Stderr, "faulty: fault %q is not known; --list shows those that are\n", *name)
		return 2
	}
	if *folder != "" {
		return makeFolder(*folder, *name)
	}
	serve(fault)
	return 0
}

func makeFolder(dir, fault string) int {
	executable, err := os.Executable()
	if err == nil {
		err = Folder(dir, executable, fault)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "faulty:", err)
		return 1
	}
	return 0
}

// Table is the list of faults as text.
func Table() string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 8, 2, ' ', 0)
	for _, f := range Faults {
		fmt.Fprintf(w, "%s\t%s\t%s\n", f.Name, f.Verdict, f.Text)
	}
	w.Flush()
	return text.String()
}

// PluginName is the name in plugin.toml of the folder for a fault.
func PluginName(fault string) string { return "faulty_" + strings.ReplaceAll(fault, "-", "_") }

// Manifest is plugin.toml of the folder for a fault.
func Manifest(fault string) string {
	return fmt.Sprintf(`schema = 1
name = %q
version = "1.0.0"
protocol = [1]
language = "go"
backends = ["simt"]
run_to_run = true
entry = ["./faulty", "--fault", %q]

[[op]]
name = "affine_scan"
dtypes = ["fp32"]
options = ["reverse", "h0", "last_state"]
arrays_read = 2
arrays_written = 1
`, PluginName(fault), fault)
}

// Folder makes dir a plugin folder whose plugin is executable with the given fault.
func Folder(dir, executable, fault string) error {
	if _, ok := Lookup(fault); !ok {
		return fmt.Errorf("fault %q is not known", fault)
	}
	absolute, err := filepath.Abs(executable)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "plugin.toml"), []byte(Manifest(fault)), 0o644); err != nil {
		return err
	}
	return os.Symlink(absolute, filepath.Join(dir, "faulty"))
}
