package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"scanhost/host/internal/launch"
)

// Exit codes. Scripts in testdata/script pin each.
const (
	exitPass        = 0 // all that ran passed
	exitFailed      = 1 // some kernel failed
	exitUsage       = 2 // a user's mistake, or the environment cannot do what was asked
	exitInterrupted = 3 // Ctrl-C or SIGTERM; what was finished by then is reported
)

// errFailed says that some kernel failed, which the report has said already.
var errFailed = errors.New("some kernel failed")

// errUnable says that the environment lacks something, which the command has said already.
var errUnable = errors.New("the environment lacks something")

// errInterrupted is the cause of the context's end when the user asked for it.
var errInterrupted = errors.New("interrupted")

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the whole program: arguments to exit code.
func run(args []string, out, errOut io.Writer) int {
	ctx, stop := onSignal(context.Background())
	defer stop()
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(errOut)
	err := root.ExecuteContext(ctx)
	return exitCode(ctx, err, errOut)
}

// exitCode is the one place where errors become messages and codes.
func exitCode(ctx context.Context, err error, errOut io.Writer) int {
	switch {
	case context.Cause(ctx) == errInterrupted:
		fmt.Fprintln(errOut, "host: interrupted")
		return exitInterrupted
	case err == nil:
		return exitPass
	case errors.Is(err, errFailed):
		return exitFailed
	case errors.Is(err, errUnable):
		return exitUsage
	}
	fmt.Fprintln(errOut, "host:", err)
	return exitUsage
}

// onSignal ends the context on the first SIGINT or SIGTERM, so that everything is stopped in order and
// what is finished is reported. On the second the process exits at once: every child was started with a
// parent-death signal and dies with it.
func onSignal(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		if _, open := <-signals; !open {
			return
		}
		cancel(errInterrupted)
		if _, open := <-signals; open {
			launch.KillAll("interrupted twice")
			os.Exit(exitInterrupted)
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(signals)
	}
}

// newRoot lists the commands; nothing registers itself.
func newRoot() *cobra.Command {
	shared := &sharedFlags{}
	root := &cobra.Command{
		Use:   "host",
		Short: "Run GPU scan kernels that nobody has to trust",
		Long: `host runs GPU scan kernels that it does not trust. Each kernel is a plugin, a program of its own; host
builds it, runs it in its own process, and proves it right or wrong against a float64 reference. A kernel
that hangs, crashes, lies or cheats costs its own row and nothing else.

On a machine with an NVIDIA GPU and nvcc the kernels run on the GPU; on any other the same sources run on
a simulated GPU, which also explores schedules that a real one would rarely show.

Exit status: 0 all pass, 1 some kernel failed, 2 usage or environment, 3 interrupted.`,
		Example: `  go tool host run-all                        verify every kernel
  go tool host new mine                       start a kernel of your own in plugins/mine
  go tool host verify --plugin mine           verify it alone
  go tool host scan --plugin mine --a a.npy --b b.npy -o h.npy
  go tool host doctor                         what this machine has, and what to install`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          knownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SuggestionsMinimumDistance = 2
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())
	})
	shared.add(root)
	root.AddCommand(
		newRunAll(shared),
		newVerify(shared),
		newBench(shared),
		newCompare(shared),
		newBits(shared),
		newReport(shared),
		newScan(shared),
		newList(shared),
		newBuild(shared),
		newNew(shared),
		newDoctor(shared),
		newCompletion(),
	)
	root.CompletionOptions.DisableDefaultCmd = true
	return root
}

// knownCommand refuses a word that is no command, with the nearest one.
func knownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("command %q is not known", args[0])
	if near := root.SuggestionsFor(args[0]); len(near) > 0 {
		text += fmt.Sprintf("; did you mean %q?", near[0])
	}
	return fmt.Errorf("%s (host --help lists them)", text)
}
