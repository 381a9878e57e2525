#pragma once
#include <stddef.h>

/// One file of the console, as it lies in Console or comes from a library.
struct lenticular_console_file {
    const char *_Nonnull name;
    const unsigned char *_Nonnull bytes;
    size_t byteCount;
};

struct lenticular_console_files {
    const struct lenticular_console_file *_Nonnull first;
    size_t count;
    /// 0 where the build had no lit or no uPlot, without which the console is nothing.
    int hasLibraries;
};

/// The files that an operator's browser loads.
struct lenticular_console_files lenticular_console_files(void);
