package main

import (
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"scanhost/host/internal/discover"
	"scanhost/host/internal/report"
	"scanhost/host/internal/scaffold"
)

type newOptions struct {
	*sharedFlags
	dir string
	op  string
}

func newNew(shared *sharedFlags) *cobra.Command {
	o := &newOptions{sharedFlags: shared}
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Write a new plugin that builds and passes at once, to be edited",
		Long: `new writes a folder with everything a plugin is: a kernel (kernel.cu), what it claims (plugin.toml), a main,
the two files that compile the kernel for the simulated GPU, and a README. Its kernel lets one thread walk
one row, or one channel: right, slow, and commented for whoever replaces it.

Without --dir the folder goes to plugins/ of the scanhost repository, where every command finds it. With
--dir it goes there; outside the repository it gets a go.mod that points to the repository on this disk.`,
		Example: `  host new mine
  host verify --plugin mine

  host new s6 --op selective_scan

  host new mine --dir ~/kernels
  host verify --plugin-dir ~/kernels --plugin mine`,
		Args:              exactly("NAME"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runNew(o, args[0], cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&o.dir, "dir", "", "folder in which the plugin's is made (default plugins/ of the repository)")
	cmd.Flags().StringVar(&o.op, "op", "affine_scan", "operation that the kernel computes")
	completeWith(cmd, "op", cobra.FixedCompletions(scaffold.Ops(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// created is new --json.
type created struct {
	Name   string `json:"name"`
	Dir    string `json:"dir"`
	Verify string `json:"verify"`
}

func runNew(o *newOptions, name string, out io.Writer) error {
	plan, err := o.plan(name)
	if err != nil {
		return err
	}
	dir, err := scaffold.Write(plan)
	if err != nil {
		return err
	}
	if o.json {
		return report.JSON(out, created{name, dir, plan.Verify})
	}
	fmt.Fprintf(out, "%s is a plugin that passes. Edit %s, and verify it with\n\n    %s\n", dir, filepath.Join(dir, "kernel.cu"), plan.Verify)
	return nil
}

func (o *newOptions) plan(name string) (scaffold.Plan, error) {
	repo := repository()
	if repo == "" {
		return scaffold.Plan{}, fmt.Errorf("the scanhost repository is not around the working directory, nor where this host was built from; run new inside it")
	}
	plan := scaffold.Plan{Name: name, Op: o.op, Repo: repo, Parent: o.dir, Verify: "go tool host verify --plugin " + name}
	if plan.Parent == "" {
		plan.Parent = filepath.Join(repo, "plugins")
	}
	parent, err := filepath.Abs(plan.Parent)
	if err != nil {
		return plan, err
	}
	plan.Parent = parent
	plan.InTree = discover.InModule(repo, parent)
	if !plan.InTree || parent != filepath.Join(repo, "plugins") {
		plan.Verify += " --plugin-dir " + shellWord(parent)
	}
	// Two plugins of one name would stop every command, so the name is refused before anything is written.
	if all, err := o.find(); err == nil {
		if taken, err := discover.Choose(all, []string{name}); err == nil {
			return plan, fmt.Errorf("plugin %q exists in %s; give another name", name, taken[0].Dir)
		}
	}
	return plan, nil
}

// repository is the one around the working directory, or the one that this host was built from.
func repository() string {
	if root := discover.Root(); root != "" {
		return root
	}
	_, file, _, ok := runtime.Caller(0)
	if !ok || !filepath.IsAbs(file) { // built with -trimpath
		return ""
	}
	return discover.RootAbove(filepath.Dir(file))
}

// shellWord quotes what a shell would take apart.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+=:,@%", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// exactly asks for one argument by its name.
func exactly(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("%s takes one %s, and got %d arguments; see %s --help", cmd.CommandPath(), name, len(args), cmd.CommandPath())
		}
		return nil
	}
}
