package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newCompletion() *cobra.Command {
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print a completion script for bash, zsh, fish or powershell",
		Long: `completion prints a script that lets the shell complete commands, flags and plugin names. It completes the
command "host", so build that first and put it on PATH.`,
		Example: `  go build -o bin/ ./host && export PATH=$PWD/bin:$PATH
  source <(host completion bash)
  host completion fish > ~/.config/fish/completions/host.fish`,
		Args:      cobra.ExactArgs(1),
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		RunE: func(cmd *cobra.Command, args []string) error {
			root, out := cmd.Root(), cmd.OutOrStdout()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(out, true)
			case "zsh":
				return root.GenZshCompletion(out)
			case "fish":
				return root.GenFishCompletion(out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(out)
			}
			return fmt.Errorf("shell %q is not known; bash, zsh, fish and powershell are accepted", args[0])
		},
	}
}
