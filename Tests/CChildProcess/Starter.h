// Starts children from a small process that is forked when the tests are loaded.
//
// A child that a process of many threads starts has all of its descriptors until it becomes another
// program. For so long a socket that a test has closed still listens, a lock that it gave up is still
// held, and a pipe does not end. On a busy machine that is long enough for other tests to fail by it.
// The starter has none of these descriptors. What it starts are children of the tests' process all the
// same (CLONE_PARENT), which waits for them.

#pragma once

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// What a request begins with. The texts follow: program, folder, arguments, environment, each with its
// final zero. The descriptors that are not -1 come along.
struct request {
    uint32_t bytes;
    uint32_t argument_count;
    uint32_t setting_count;
    int32_t has_folder;
    int32_t has_descriptor[3];
};

struct answer {
    int32_t error;
    int32_t child;
};

// The tests' side of the connection to the starter.
static int starter = -1;
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static int send_all(int to, const void *bytes, size_t count) {
    for (size_t sent = 0; sent < count;) {
        ssize_t now = send(to, (const char *)bytes + sent, count - sent, MSG_NOSIGNAL);
        if (now < 0 && errno == EINTR) continue;
        if (now <= 0) return 0;
        sent += (size_t)now;
    }
    return 1;
}

static int receive_all(int from, void *bytes, size_t count) {
    for (size_t received = 0; received < count;) {
        ssize_t now = recv(from, (char *)bytes + received, count - received, 0);
        if (now < 0 && errno == EINTR) continue;
        if (now <= 0) return 0;
        received += (size_t)now;
    }
    return 1;
}

// Descriptors travel with the first bytes of a request.
static int send_head(int to, struct request *head, const int *descriptors, size_t count) {
    char room[CMSG_SPACE(3 * sizeof(int))] = {0};
    struct iovec piece = {head, sizeof *head};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    if (count > 0) {
        message.msg_control = room;
        message.msg_controllen = CMSG_SPACE(count * sizeof(int));
        struct cmsghdr *part = CMSG_FIRSTHDR(&message);
        part->cmsg_level = SOL_SOCKET;
        part->cmsg_type = SCM_RIGHTS;
        part->cmsg_len = CMSG_LEN(count * sizeof(int));
        memcpy(CMSG_DATA(part), descriptors, count * sizeof(int));
    }
    ssize_t sent;
    do sent = sendmsg(to, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)sizeof *head;
}

static int receive_head(int from, struct request *head, int descriptors[3]) {
    char room[CMSG_SPACE(3 * sizeof(int))] = {0};
    struct iovec piece = {head, sizeof *head};
    struct msghdr message = {
        .msg_iov = &piece, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    ssize_t received;
    do received = recvmsg(from, &message, MSG_CMSG_CLOEXEC | MSG_WAITALL);
    while (received < 0 && errno == EINTR);
    if (received != (ssize_t)sizeof *head) return 0;
    struct cmsghdr *part = CMSG_FIRSTHDR(&message);
    int next = 0;
    for (int number = 0; number < 3; number++) {
        descriptors[number] = -1;
        if (!head->has_descriptor[number] || !part) continue;
        memcpy(&descriptors[number], CMSG_DATA(part) + next++ * sizeof(int), sizeof(int));
    }
    return 1;
}

// In the child: never returns; where the program cannot be started its error goes to `failure`.
static void become(
    char **texts, const struct request *head, const int descriptors[3], int failure) {
    setpgid(0, 0);
    signal(SIGPIPE, SIG_DFL);
    int kept[3];
    // Above the numbers that they will have, so that none overwrites another.
    for (int number = 0; number < 3; number++)
        kept[number] = descriptors[number] < 0
            ? open("/dev/null", O_RDWR | O_CLOEXEC)
            : fcntl(descriptors[number], F_DUPFD_CLOEXEC, 10);
    int told = fcntl(failure, F_DUPFD_CLOEXEC, 10);
    for (int number = 0; number < 3; number++) dup2(kept[number], number);
    char **words = texts + 1 + head->has_folder;
    int error = head->has_folder && chdir(texts[1]) != 0 ? errno : 0;
    if (error == 0) {
        execve(texts[0], words, words + head->argument_count + 1);
        error = errno;
    }
    if (write(told, &error, sizeof error) < 0) _exit(126);
    _exit(127);
}

// Texts of a request as `execve` takes them: a null after the arguments and one after the settings.
static char **listed(char *bytes, const struct request *head) {
    size_t before = 1 + (size_t)head->has_folder;
    size_t count = before + head->argument_count + head->setting_count;
    char **texts = calloc(count + 2, sizeof *texts);
    if (!texts) _exit(1);
    for (size_t number = 0, place = 0; number < count; number++) {
        if (number == before + head->argument_count) place++;
        texts[place++] = bytes;
        bytes += strlen(bytes) + 1;
    }
    return texts;
}

static struct answer start_one(
    char **texts, const struct request *head, const int descriptors[3]) {
    struct answer answer = {0, 0};
    int failure[2];
    if (pipe2(failure, O_CLOEXEC) != 0) return (struct answer){errno, 0};
    long child = syscall(SYS_clone, (long)(CLONE_PARENT | SIGCHLD), 0L, 0L, 0L, 0L);
    if (child == 0) become(texts, head, descriptors, failure[1]);
    if (child < 0) answer.error = errno;
    answer.child = (int32_t)child;
    close(failure[1]);
    int error = 0;
    ssize_t told = -1;
    if (child > 0) {
        do told = read(failure[0], &error, sizeof error);
        while (told < 0 && errno == EINTR);
    }
    if (told == (ssize_t)sizeof error) answer.error = error;
    close(failure[0]);
    return answer;
}

// The starter's life: until the tests' process has ended.
static void serve(int client) {
    struct request head;
    int descriptors[3];
    while (receive_head(client, &head, descriptors)) {
        char *bytes = malloc(head.bytes);
        if (!bytes || !receive_all(client, bytes, head.bytes)) break;
        char **texts = listed(bytes, &head);
        struct answer answer = start_one(texts, &head, descriptors);
        for (int number = 0; number < 3; number++)
            if (descriptors[number] >= 0) close(descriptors[number]);
        free(texts);
        free(bytes);
        if (!send_all(client, &answer, sizeof answer)) break;
    }
    _exit(0);
}

// Before there is a second thread or a descriptor that somebody could miss.
__attribute__((constructor)) static void begin_starter(void) {
    int sides[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sides) != 0) return;
    pid_t child = fork();
    if (child == 0) {
        // Whatever this process was started with, and the tests' side, which would keep it alive.
        int client = fcntl(sides[1], F_DUPFD_CLOEXEC, 100);
        dup3(client, 3, O_CLOEXEC);
        closefrom(4);
        serve(3);
    }
    close(sides[1]);
    if (child > 0) starter = sides[0];
}

static size_t add(char *bytes, const char *text) {
    size_t count = strlen(text) + 1;
    if (bytes) memcpy(bytes, text, count);
    return count;
}

// The texts of a request one after the other; only counts them where `bytes` is null.
static size_t write_texts(
    char *bytes, const char *program, const char *folder, char *const arguments[],
    char *const environment[]) {
    size_t count = add(bytes, program);
    if (folder) count += add(bytes ? bytes + count : 0, folder);
    for (; *arguments; arguments++) count += add(bytes ? bytes + count : 0, *arguments);
    for (; *environment; environment++) count += add(bytes ? bytes + count : 0, *environment);
    return count;
}

static uint32_t count_of(char *const texts[]) {
    uint32_t count = 0;
    while (texts[count]) count++;
    return count;
}

int child_process_start(
    const char *program, char *const arguments[], char *const environment[], const char *folder,
    const int descriptors[3], pid_t *child) {
    if (starter < 0) return ENOTCONN;
    struct request head = {
        (uint32_t)write_texts(0, program, folder, arguments, environment), count_of(arguments),
        count_of(environment), folder != 0, {0}};
    int sent[3];
    size_t count = 0;
    for (int number = 0; number < 3; number++) {
        head.has_descriptor[number] = descriptors[number] >= 0;
        if (descriptors[number] >= 0) sent[count++] = descriptors[number];
    }
    char *bytes = malloc(head.bytes);
    if (!bytes) return ENOMEM;
    write_texts(bytes, program, folder, arguments, environment);
    struct answer answer = {EPIPE, 0};
    pthread_mutex_lock(&one_at_a_time);
    if (send_head(starter, &head, sent, count) && send_all(starter, bytes, head.bytes))
        if (!receive_all(starter, &answer, sizeof answer)) answer.error = EPIPE;
    pthread_mutex_unlock(&one_at_a_time);
    free(bytes);
    if (answer.error != 0 && answer.child > 0)
        while (waitpid(answer.child, 0, 0) < 0 && errno == EINTR) {}
    *child = answer.error == 0 ? answer.child : 0;
    return answer.error;
}
