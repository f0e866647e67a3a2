// Package launch runs one untrusted child process: it starts it under go-plugin, gives every call a
// deadline, ends it whatever state it is in, and keeps the evidence of how it ended.
//
//	p, err := launch.Start(ctx, launch.Command{Path: exe, Dir: folder, Service: contract.KernelService})
//	p.Heartbeat()                                       // silence ends it from now on
//	err = p.Call(ctx, "describe", 5*time.Second, func(ctx context.Context) error {
//		reply, err = p.Kernel().Describe(ctx, &kernelv1.DescribeRequest{})
//		return err
//	})                                                  // nil, or a *Failure with kind, text and evidence
//	err = p.Stop(ctx)                                   // or p.Kill("cause")
//
// # What a child gets
//
// A process group of its own; /dev/null as standard input; two pipes that the host drains into a capped
// log; file descriptor 3, a SOCK_SEQPACKET socket whose end of file means that the host is gone; an
// environment made from an allow-list; no_new_privs; limits on core files, descriptors and file size; and
// SIGKILL when the host dies in any way. go-plugin sees none of that: it gets one handshake line that was
// checked here, an empty standard error and a silent logger, because a plugin's log lines can crash it and
// its own Kill can wait for ever.
//
// # Two properties of the starting thread
//
// PR_SET_PDEATHSIG fires when the thread that forked dies, not the process, so the goroutine that starts a
// child stays locked to its thread until the child is reaped. no_new_privs is set on that same thread, from
// which the child inherits it, and the thread ends with the goroutine. Resource limits belong to processes
// and are set by prlimit right after the exec. A re-exec of the host as a shim would close that window of
// some microseconds, and would cost each start the host's own start-up time and each test binary a hook; the
// limits guard against accidents, which do not happen in a dynamic loader's first microseconds.
//
// # How a child ends
//
// waitid(WNOWAIT), SIGKILL to the group while its number cannot have been used again, wait, SIGKILL to
// every process that still carries the child's mark in its environment, 200 ms for the rest of the output,
// close. Nothing in this order waits for a pipe, so a grandchild that holds one delays nothing. The mark is
// the environment variable SCANHOST_PROCESS with a random value: it finds descendants in other groups,
// sessions and parents. What it cannot find is a descendant that cleared its environment *and* left the
// group; such a process survives. So does a grandchild of a plugin when the host itself dies by SIGKILL,
// unless it watches descriptor 3 or its parent.
//
// A host that is itself killed by SIGKILL leaves the directories of its children's sockets behind; the next
// host that starts a child removes them.
//
// A child that SIGKILL does not end within ten seconds is in the kernel's hands; Kill and Stop then return
// ErrUnkillable and leave its goroutines behind.
package launch
