#ifndef WAITERS_H
#define WAITERS_H

#include <stdbool.h>
#include <stdint.h>

/* Holds connections that each have one request waiting, on one thread, and does what standard input says,
   line by line:

   `ask`     sends every waiter's request; prints `asked`.
   `heads`   takes one answer for each waiter, which goes on; prints `heads`.
   `change`  sends the request that all wait for, and takes an answer for each waiter; prints, as JSON, the
             microseconds from there to its own answer, to the first waiter's and to the last one's.

   The file has the request that all wait for, then one for each waiter; a zero byte ends each. With `follows`
   a waiter's next request has the `syncToken` of its last answer. Ends when standard input does, and with
   status 1 when an answer is wrong or does not come. */
void wait_for_changes(uint16_t port, const char *file, bool follows);

#endif
