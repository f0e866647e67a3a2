package launch

import (
	"errors"
	"fmt"
)

// Kind is what went wrong with a child, in the words of the verdicts.
type Kind string

const (
	BadPlugin   Kind = "bad-plugin"  // it breaks the contract
	Crashed     Kind = "crashed"     // it ended by itself
	Hung        Kind = "hung"        // it did not do something in time
	Unkillable  Kind = "unkillable"  // SIGKILL did not end it
	Interrupted Kind = "interrupted" // the caller's context ended first
)

// ErrUnkillable says that a child was still there after SIGKILL and the reap limit.
var ErrUnkillable = errors.New("still alive after SIGKILL")

// Failure is why a start or a call failed. The process is dead unless Kind is Unkillable, or Cause is the
// reply of a plugin that answered a call with an error.
type Failure struct {
	Kind     Kind
	Text     string // one line: what, where, after how long
	Evidence Evidence
	Cause    error // the RPC's error, where there was one
}

func (f *Failure) Error() string { return fmt.Sprintf("%s: %s", f.Kind, f.Text) }

func (f *Failure) Unwrap() error { return f.Cause }
