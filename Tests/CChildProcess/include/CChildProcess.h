#pragma once

#include <sys/types.h>

/// Starts a program in a process group of its own, with no signal blocked and three descriptors.
///
/// A descriptor of -1 stands for nothing to read, or nowhere to write to. `folder` may be null for the one
/// in which this process began. Returns 0 or the error's number.
int child_process_start(
    const char *program, char *const arguments[], char *const environment[], const char *folder,
    const int descriptors[3], pid_t *child);
