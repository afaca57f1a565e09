package verbs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// Ended is the error of a verb that a signal ended before it was done and that has put everything in order
// since. The program then ends by that signal, as it does during verbs that have nothing to put in order.
type Ended struct{ By syscall.Signal }

func (e Ended) Error() string { return "ended by a signal before it was done: " + e.By.String() }

// UntilSignal returns a context that SIGTERM or SIGINT ends; a second signal ends the process at once. After stop
// signals are not caught any more.
func UntilSignal() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		select {
		case sig := <-caught:
			signal.Stop(caught)
			cancel(Ended{sig.(syscall.Signal)})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(caught)
		cancel(nil)
	}
}

// CutShort is the error of what ended with err under the context of UntilSignal: Ended, with what is left as it was, if
// a signal is the reason.
func CutShort(ctx context.Context, err error, what string) error {
	var ended Ended
	if err != nil && errors.As(context.Cause(ctx), &ended) {
		return fmt.Errorf("%w: %s is as it was before", ended, what)
	}
	return err
}
