#include <signal.h>

// Whoever writes to a child or a peer that has gone gets an error, as in the server. The signal would end
// this process, and with it the tests of everybody.
__attribute__((constructor)) static void ignore_broken_pipes(void) { signal(SIGPIPE, SIG_IGN); }
