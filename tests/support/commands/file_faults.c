/* File operations that fail on purpose: loaded before the C library (LD_PRELOAD), this counts the operations on
 * regular files that are open for writing and lets the n-th one fail, alone or with all that follow it. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define MOST 65536

static long count, fails_at; /* fails_at 0: nothing fails */
static int with_error, for_good, shortened;
static char written[MOST]; /* descriptors of regular files that were opened for writing */

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* Let operation `at` fail with `error`; `lasting`: all behind it too; `partial`: it writes half of its bytes first. */
void file_faults_arm(long at, int error, int lasting, int partial) {
    count = 0;
    fails_at = at;
    with_error = error;
    for_good = lasting;
    shortened = partial;
}

long file_faults_count(void) { return count; }

static int fails(void) {
    ++count;
    if (!fails_at || count < fails_at || (count > fails_at && !for_good))
        return 0;
    errno = with_error;
    return 1;
}

static int ours(int fd) { return fd > 2 && fd < MOST && written[fd]; }

static int opened(int fd) {
    struct stat about;
    int error = errno;
    if (fd > 2 && fd < MOST)
        written[fd] = fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
    errno = error;
    return fd;
}

#define WRITES(flags) (((flags) & O_ACCMODE) != O_RDONLY)
#define MODE(flags)                                                  \
    mode_t mode = 0;                                                 \
    if ((flags) & (O_CREAT | __O_TMPFILE)) {                         \
        va_list list;                                                \
        va_start(list, flags);                                       \
        mode = va_arg(list, mode_t);                                 \
        va_end(list);                                                \
    }

static int is_device(const char *path) {
    struct stat about;
    int error = errno, device = stat(path, &about) == 0 && !S_ISREG(about.st_mode);
    errno = error;
    return device;
}

#define OPEN(name)                                                   \
    int name(const char *path, int flags, ...) {                     \
        MODE(flags)                                                  \
        if (!WRITES(flags) || is_device(path))                       \
            return REAL(name)(path, flags, mode);                    \
        return fails() ? -1 : opened(REAL(name)(path, flags, mode)); \
    }
#define OPENAT(name)                                                       \
    int name(int at, const char *path, int flags, ...) {                   \
        MODE(flags)                                                        \
        if (!WRITES(flags) || is_device(path))                             \
            return REAL(name)(at, path, flags, mode);                      \
        return fails() ? -1 : opened(REAL(name)(at, path, flags, mode));   \
    }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

static int is_short(void) { return fails_at && shortened && count == fails_at; }

ssize_t write(int fd, const void *data, size_t size) {
    if (ours(fd) && fails()) {
        if (!is_short() || size < 2)
            return -1;
        size /= 2;
    }
    return REAL(write)(fd, data, size);
}

#define PWRITE(name, offset_type)                                          \
    ssize_t name(int fd, const void *data, size_t size, offset_type at) {  \
        return ours(fd) && fails() ? -1 : REAL(name)(fd, data, size, at);  \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

ssize_t writev(int fd, const struct iovec *data, int many) {
    return ours(fd) && fails() ? -1 : REAL(writev)(fd, data, many);
}

int fsync(int fd) { return ours(fd) && fails() ? -1 : REAL(fsync)(fd); }
int fdatasync(int fd) { return ours(fd) && fails() ? -1 : REAL(fdatasync)(fd); }
int ftruncate(int fd, off_t size) { return ours(fd) && fails() ? -1 : REAL(ftruncate)(fd, size); }
int ftruncate64(int fd, off64_t size) { return ours(fd) && fails() ? -1 : REAL(ftruncate64)(fd, size); }
int rename(const char *from, const char *to) { return fails() ? -1 : REAL(rename)(from, to); }
int mkdir(const char *path, mode_t mode) { return fails() ? -1 : REAL(mkdir)(path, mode); }

int renameat(int from_at, const char *from, int to_at, const char *to) {
    return fails() ? -1 : REAL(renameat)(from_at, from, to_at, to);
}

/* What is closed is closed, whatever the system says of the words that it still had. */
int close(int fd) {
    int failed = ours(fd) && fails();
    if (fd >= 0 && fd < MOST)
        written[fd] = 0;
    if (!failed)
        return REAL(close)(fd);
    int error = errno;
    REAL(close)(fd);
    errno = error;
    return -1;
}
