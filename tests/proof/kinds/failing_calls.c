/* Let one call of a process to the system fail, and write down all that it makes: for tests/proof/kinds/failing.py.

   FAIL_UNDER is the folder whose files count, FAIL_LOG the file for a line about each call, FAIL_AT the number of the
   call that fails, from 1, and FAIL_ERRNO what it fails with. Relative paths count; pipes and sockets do not.

   For tests/proof/kinds/starving.py: with FAIL_THREADS no thread can be started after so many, and with FAIL_CLOCK the time
   of day goes back and forth by that many seconds at each question. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static const char *folder;
static size_t folder_length;
static int at, code, number, threads, most_threads = -1, jump, log_file = -1;

static int number_in(const char *variable) {
    const char *text = getenv(variable);
    return text == NULL ? 0 : atoi(text);
}

__attribute__((constructor)) static void begin(void) {
    const char *log = getenv("FAIL_LOG");
    folder = getenv("FAIL_UNDER");
    folder_length = folder == NULL ? 0 : strlen(folder);
    at = number_in("FAIL_AT");
    code = number_in("FAIL_ERRNO");
    jump = number_in("FAIL_CLOCK");
    if (getenv("FAIL_THREADS") != NULL)
        most_threads = number_in("FAIL_THREADS");
    if (log != NULL)
        log_file = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

/* Counts a call, and says whether it is the one that fails; errno is set then. Of what gets another name, its older one
   is noted too. */
static int fails_from(const char *name, const char *path, const char *old) {
    char line[2 * PATH_MAX + 64];
    int mine, length;
    if (folder == NULL || path == NULL || (path[0] == '/' && strncmp(path, folder, folder_length) != 0))
        return 0;
    mine = __atomic_add_fetch(&number, 1, __ATOMIC_SEQ_CST);
    length = snprintf(line, sizeof line, "%s %s%s%s\n", name, path, *old ? "\t" : "", old);
    if (log_file >= 0 && length > 0 && length < (int)sizeof line)
        syscall(SYS_write, log_file, line, length);
    if (mine != at)
        return 0;
    errno = code;
    return 1;
}

static int fails(const char *name, const char *path) {
    return fails_from(name, path, "");
}

/* The same for a file that gets a name: a nameless one is known by what /proc calls it. */
static int fails_named(const char *name, const char *path, const char *old) {
    char link[PATH_MAX];
    ssize_t length = strncmp(old, "/proc/self/fd/", 14) == 0 ? readlink(old, link, sizeof link - 1) : -1;
    if (length > 0) {
        link[length] = 0;
        old = link;
    }
    return fails_from(name, path, old);
}

static int fails_on(const char *name, int file) {
    char link[64], path[PATH_MAX];
    ssize_t length;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    length = readlink(link, path, sizeof path - 1);
    if (length <= 0 || path[0] != '/')
        return 0;
    path[length] = 0;
    return fails(name, path);
}

#define REAL(name)                                                                                                     \
    static __typeof__(name) *real;                                                                                     \
    if (real == NULL)                                                                                                  \
    real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

/* What stands behind the flags, if anything does. */
#define MODE(flags)                                                                                                    \
    mode_t mode = 0;                                                                                                   \
    if ((flags) & O_CREAT || ((flags) & O_TMPFILE) == O_TMPFILE) {                                                     \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        mode = va_arg(rest, mode_t);                                                                                   \
        va_end(rest);                                                                                                  \
    }

#define OPEN(name)                                                                                                     \
    int name(const char *path, int flags, ...) {                                                                       \
        MODE(flags)                                                                                                    \
        REAL(name);                                                                                                    \
        return fails("open", path) ? -1 : real(path, flags, mode);                                                     \
    }
#define OPENAT(name)                                                                                                   \
    int name(int folder_file, const char *path, int flags, ...) {                                                      \
        MODE(flags)                                                                                                    \
        REAL(name);                                                                                                    \
        return fails("open", path) ? -1 : real(folder_file, path, flags, mode);                                        \
    }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

/* Calls that take an open file first, and give -1 when they fail. */
#define ON_FILE(result, name, said, parameters, arguments)                                                             \
    result name parameters {                                                                                           \
        REAL(name);                                                                                                    \
        return fails_on(said, file) ? -1 : real arguments;                                                             \
    }
ON_FILE(ssize_t, read, "read", (int file, void *data, size_t size), (file, data, size))
ON_FILE(ssize_t, write, "write", (int file, const void *data, size_t size), (file, data, size))
ON_FILE(ssize_t, pread64, "read", (int file, void *data, size_t size, off64_t place), (file, data, size, place))
ON_FILE(ssize_t, pwrite64, "write", (int file, const void *data, size_t size, off64_t place), (file, data, size, place))
ON_FILE(int, fsync, "fsync", (int file), (file))
ON_FILE(int, fdatasync, "fsync", (int file), (file))
ON_FILE(int, fchmod, "fchmod", (int file, mode_t mode), (file, mode))
ON_FILE(int, ftruncate64, "ftruncate", (int file, off64_t size), (file, size))

/* Calls that take paths; the last of them is the one that counts. */
#define ON_PATH(name, said, parameters, arguments, path)                                                               \
    int name parameters {                                                                                              \
        REAL(name);                                                                                                    \
        return fails(said, path) ? -1 : real arguments;                                                                \
    }
#define ON_NAMES(name, said, parameters, arguments)                                                                    \
    int name parameters {                                                                                              \
        REAL(name);                                                                                                    \
        return fails_named(said, new, old) ? -1 : real arguments;                                                      \
    }
ON_NAMES(rename, "rename", (const char *old, const char *new), (old, new))
ON_NAMES(renameat, "rename", (int one, const char *old, int two, const char *new), (one, old, two, new))
ON_NAMES(link, "link", (const char *old, const char *new), (old, new))
ON_NAMES(linkat, "link", (int one, const char *old, int two, const char *new, int how), (one, old, two, new, how))
ON_PATH(unlink, "unlink", (const char *old), (old), old)
ON_PATH(unlinkat, "unlink", (int one, const char *old, int flags), (one, old, flags), old)
ON_PATH(mkdir, "mkdir", (const char *new, mode_t mode), (new, mode), new)
ON_PATH(mkdirat, "mkdir", (int one, const char *new, mode_t mode), (one, new, mode), new)

void *mmap64(void *place, size_t size, int rights, int flags, int file, off64_t start) {
    REAL(mmap64);
    return file >= 0 && fails_on("mmap", file) ? MAP_FAILED : real(place, size, rights, flags, file, start);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*work)(void *), void *given) {
    REAL(pthread_create);
    if (most_threads >= 0 && __atomic_add_fetch(&threads, 1, __ATOMIC_SEQ_CST) > most_threads)
        return EAGAIN;
    return real(thread, how, work, given);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    static int back;
    int done;
    REAL(clock_gettime);
    done = real(clock, now);
    if (done == 0 && clock == CLOCK_REALTIME && jump != 0)
        now->tv_sec += __atomic_add_fetch(&back, 1, __ATOMIC_SEQ_CST) % 2 ? jump : -jump;
    return done;
}
