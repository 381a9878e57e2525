#define _GNU_SOURCE
#include "CChildProcess.h"

#ifdef __linux__
#include "Starter.h"
#else

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>

static int prepare(
    posix_spawn_file_actions_t *actions, const char *folder, const int descriptors[3]) {
    int error = folder ? posix_spawn_file_actions_addchdir_np(actions, folder) : 0;
    for (int number = 0; number < 3 && error == 0; number++)
        error = descriptors[number] < 0
            ? posix_spawn_file_actions_addopen(actions, number, "/dev/null", O_RDWR, 0)
            : posix_spawn_file_actions_adddup2(actions, descriptors[number], number);
    return error;
}

// Darwin itself closes what is not handed on.
int child_process_start(
    const char *program, char *const arguments[], char *const environment[], const char *folder,
    const int descriptors[3], pid_t *child) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(
        &attributes,
        POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_CLOEXEC_DEFAULT);
    int error = prepare(&actions, folder, descriptors);
    if (error == 0)
        error = posix_spawn(child, program, &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

#endif
