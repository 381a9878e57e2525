#pragma once
#include <stddef.h>

/// One file of the JavaScript client, as it lies in Clients/JavaScript.
struct lenticular_client_file {
    const char *_Nonnull name;
    const unsigned char *_Nonnull bytes;
    size_t byteCount;
};

struct lenticular_client_files {
    const struct lenticular_client_file *_Nonnull first;
    size_t count;
};

/// The files that browsers load from the server.
struct lenticular_client_files lenticular_client_files(void);
