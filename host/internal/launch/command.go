package launch

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"scanhost/shared/contract"
)

// Command says what to start and within which limits.
type Command struct {
	Path     string   // executable
	Args     []string // after the executable
	Dir      string   // working directory; empty: the executable's folder
	Env      []string // additions to the allow-listed environment; they win over it
	Service  string   // contract.KernelService or contract.KeeperService
	Wrap     []string // argv prefix, such as compute-sanitizer --tool memcheck
	LogBytes int      // cap of the kept log; 0: DefaultLogBytes
	Limits   Limits
}

// DefaultLogBytes is how much of a child's output is kept: the last of it.
const DefaultLogBytes = 256 << 10

// Off as Limits.Scale switches the deadlines off, for debuggers.
const Off = -1

// Limits are the deadlines of one child. A zero field means its default.
type Limits struct {
	Handshake time.Duration // from exec to an accepted connection; 20 s
	Shutdown  time.Duration // of the Shutdown call; 500 ms
	Stop      time.Duration // from Shutdown to the exit; 2 s
	Reap      time.Duration // from SIGKILL to the exit; 10 s, never scaled
	Silence   time.Duration // between two heartbeats; 5 s
	Transfer  time.Duration // of one descriptor over fd 3; 2 s
	Scale     float64       // multiplies all but Reap: 0 means 1, Off means no deadlines
}

// never is a deadline that no run reaches.
const never = 1000 * time.Hour

func (l Limits) withDefaults() Limits {
	set := func(d *time.Duration, otherwise time.Duration) {
		if *d <= 0 {
			*d = otherwise
		}
	}
	set(&l.Handshake, 20*time.Second)
	set(&l.Shutdown, 500*time.Millisecond)
	set(&l.Stop, 2*time.Second)
	set(&l.Reap, 10*time.Second)
	set(&l.Silence, 5*time.Second)
	set(&l.Transfer, 2*time.Second)
	if l.Scale == 0 {
		l.Scale = 1
	}
	return l
}

func (l Limits) scaled(d time.Duration) time.Duration {
	if l.Scale < 0 {
		return never
	}
	return min(time.Duration(float64(d)*l.Scale), never)
}

// passed are the host's own variables that a child sees. Variables that change what CUDA measures or loads
// (CUDA_LAUNCH_BLOCKING, CUDA_INJECTION64_PATH, LD_PRELOAD, ...) are absent on purpose.
var passed = []string{"PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES"}

const markName = "SCANHOST_PROCESS"

// environment is the whole environment of a child but for go-plugin's own variables.
func (c Command) environment(dir, mark string) []string {
	var env []string
	for _, name := range passed {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	env = append(env,
		"CUDA_DEVICE_ORDER=PCI_BUS_ID",
		"CUDA_MODULE_LOADING=EAGER",
		"CUDA_CACHE_PATH="+filepath.Join(dir, "cuda"),
	)
	env = append(env, c.Env...)
	return append(env, mark)
}

// process builds the command to run, without its environment.
func (c Command) process() (*exec.Cmd, error) {
	if c.Service != contract.KernelService && c.Service != contract.KeeperService {
		return nil, fmt.Errorf("service is %q; %s and %s are accepted", c.Service, contract.KernelService, contract.KeeperService)
	}
	path, err := filepath.Abs(c.Path)
	if err != nil {
		return nil, err
	}
	argv := append(slices.Clone(c.Wrap), path)
	argv = append(argv, c.Args...)
	if len(c.Wrap) > 0 {
		if argv[0], err = exec.LookPath(c.Wrap[0]); err != nil {
			return nil, fmt.Errorf("wrapping command %q is not to be found on PATH", c.Wrap[0])
		}
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = c.Dir
	if cmd.Dir == "" {
		cmd.Dir = filepath.Dir(path)
	}
	return cmd, nil
}
