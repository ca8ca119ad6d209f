/* The seven ess_* functions of AMD's simulators, for a host program that shall meet `memtile serve` instead.
 *
 * Compile this file with the host program, or with the open driver built with -D__AIESIM__. The first call
 * connects to the server whose port is in mesim_output/mesimulator_aximm_port below the working directory, or
 * in the file that the environment variable MEMTILE_PORT_FILE names. Where memtile_token lies beside the port
 * file, or MEMTILE_TOKEN is set, the connection begins with that token. Accesses go over the socket, in the
 * order of the calls. External memory is mapped from external_memory.bin beside the port file, or goes over
 * the socket as well where that file is not there. What cannot be done ends the program with a message.
 * The source is C and C++.
 */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE
#endif

#include "main_rts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define PORT_FILE "mesim_output/mesimulator_aximm_port"
#define REPLY 11 /* 0x, 8 digits, line feed */
#define LONGEST_TOKEN 128
#define LONGEST_REASON 1000
#define MOST_MEMORIES 256
#define LONGEST_PATH 4096

struct memory {
    uint64_t address, size, first;
};

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static int server = -1;
static struct memory memories[MOST_MEMORIES];
static int known;        /* memories that the server has */
static uint8_t *content; /* of all of them; NULL = over the socket */

static void fail(const char *form, ...) {
    va_list rest;
    va_start(rest, form);
    fputs("memtile host: ", stderr);
    vfprintf(stderr, form, rest);
    fputc('\n', stderr);
    va_end(rest);
    exit(EXIT_FAILURE);
}

static const char *port_file(void) {
    const char *named = getenv("MEMTILE_PORT_FILE");
    return named && *named ? named : PORT_FILE;
}

/* The path of a file beside the port file. */
static void beside(char *path, const char *name) {
    const char *port = port_file(), *slash = strrchr(port, '/');
    int folder = slash ? (int)(slash - port) + 1 : 0;
    if (snprintf(path, LONGEST_PATH, "%.*s%s", folder, port, name) >= LONGEST_PATH)
        fail("the path of %s is too long", port);
}

static void learn_memories(void) {
    char path[LONGEST_PATH];
    beside(path, "external_memory.txt");
    FILE *list = fopen(path, "r");
    if (!list)
        return;
    struct memory next;
    uint64_t end = 0; /* of the last memory in the contents */
    while (fscanf(list, "%" SCNx64 " %" SCNx64 " %" SCNx64, &next.address, &next.size, &next.first) == 3) {
        if (known == MOST_MEMORIES)
            fail("%s has more than %d memories", path, MOST_MEMORIES);
        memories[known++] = next;
        if (next.first + next.size > end)
            end = next.first + next.size;
    }
    fclose(list);
    beside(path, "external_memory.bin");
    int file = open(path, O_RDWR);
    struct stat facts;
    if (file < 0)
        return;
    if (fstat(file, &facts) == 0 && (uint64_t)facts.st_size >= end && end > 0) {
        void *at = mmap(NULL, (size_t)facts.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (at != MAP_FAILED)
            content = (uint8_t *)at;
    }
    close(file);
}

static void tell(const char *line, size_t length) {
    while (length > 0) {
        ssize_t sent = send(server, line, length, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            fail("the server is gone: %s", strerror(errno));
        line += sent;
        length -= (size_t)sent;
    }
}

/* Receive exactly so many bytes. */
static void hear(char *reply, size_t length) {
    while (length > 0) {
        ssize_t more = recv(server, reply, length, 0);
        if (more < 0 && errno == EINTR)
            continue;
        if (more <= 0)
            fail("the server is gone: %s", more < 0 ? strerror(errno) : "it closed the connection");
        reply += more;
        length -= (size_t)more;
    }
}

/* End with the reason that the server gives: E, its bytes, line feed, reason. The first bytes have come. */
static void fail_refused(const char *come, size_t length) {
    char reason[LONGEST_REASON + 1] = "";
    size_t held = length;
    memcpy(reason, come, length);
    while (held < LONGEST_REASON) {
        ssize_t more = recv(server, reason + held, LONGEST_REASON - held, 0);
        if (more <= 0)
            break;
        held += (size_t)more;
    }
    const char *text = strchr(reason, '\n');
    fail("the server refuses: %s", text ? text + 1 : reason);
}

/* Begin with the token, where there is one. */
static void give_token(void) {
    char path[LONGEST_PATH], token[LONGEST_TOKEN + 2] = "", line[LONGEST_TOKEN + 8], reply[4];
    const char *named = getenv("MEMTILE_TOKEN");
    beside(path, "memtile_token");
    FILE *file = named && *named ? NULL : fopen(path, "r");
    if (named && *named)
        snprintf(token, sizeof token, "%s", named);
    else if (!file)
        return;
    else if (fscanf(file, "%129s", token) != 1)
        fail("%s has no token", path);
    if (file)
        fclose(file);
    tell(line, (size_t)snprintf(line, sizeof line, "T %s\n", token));
    hear(reply, sizeof reply);
    if (memcmp(reply, "T 0\n", sizeof reply) != 0)
        fail_refused(reply, sizeof reply);
}

static void connect_once(void) {
    if (server >= 0)
        return;
    FILE *file = fopen(port_file(), "r");
    unsigned port = 0;
    if (!file)
        fail("%s cannot be read: %s. Start memtile serve first, in this folder", port_file(), strerror(errno));
    if (fscanf(file, "%u", &port) != 1 || port == 0 || port > 65535)
        fail("%s has no port number", port_file());
    fclose(file);
    struct sockaddr_in to;
    memset(&to, 0, sizeof to);
    to.sin_family = AF_INET;
    to.sin_port = htons((uint16_t)port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int made = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    if (made < 0 || connect(made, (struct sockaddr *)&to, sizeof to) != 0)
        fail("no server at port %u, which %s names: %s", port, port_file(), strerror(errno));
    setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    server = made;
    give_token();
    learn_memories();
}

static void put(uint64_t address, uint32_t value) {
    char line[64];
    tell(line, (size_t)sprintf(line, "W 0X%016" PRIX64 " 0X%08" PRIX32 "\n", address, value));
}

static uint32_t get(uint64_t address) {
    char line[64], reply[REPLY + 1] = "";
    tell(line, (size_t)sprintf(line, "R 0X%016" PRIX64 "\n", address));
    hear(reply, REPLY);
    if (reply[0] == 'E')
        fail_refused(reply, REPLY);
    return (uint32_t)strtoul(reply, NULL, 16);
}

/* The memory that has the byte at address. */
static const struct memory *memory_at(uint64_t address) {
    for (int n = 0; n < known; n++)
        if (address - memories[n].address < memories[n].size)
            return &memories[n];
    fail("no external memory is at 0x%" PRIx64 "; start memtile serve with --memory ADDRESS:SIZE", address);
    return NULL;
}

/* Move bytes of one memory over the socket, word by word. */
static void move_words(uint64_t address, uint8_t *data, uint64_t size, int writes) {
    while (size > 0) {
        uint64_t skipped = address % 4, count = 4 - skipped < size ? 4 - skipped : size;
        uint32_t word = writes && count == 4 ? 0 : get(address - skipped);
        uint8_t bytes[4];
        for (int n = 0; n < 4; n++)
            bytes[n] = (uint8_t)(word >> 8 * n);
        if (writes) {
            memcpy(bytes + skipped, data, (size_t)count);
            word = 0;
            for (int n = 0; n < 4; n++)
                word |= (uint32_t)bytes[n] << 8 * n;
            put(address - skipped, word);
        } else {
            memcpy(data, bytes + skipped, (size_t)count);
        }
        address += count, data += count, size -= count;
    }
}

/* Move bytes, after all accesses before; a memory may follow on another one. */
static void move(uint64_t address, uint8_t *data, uint64_t size, int writes) {
    pthread_mutex_lock(&one_at_a_time);
    connect_once();
    while (size > 0) {
        const struct memory *in = memory_at(address);
        uint64_t left = in->size - (address - in->address), count = left < size ? left : size;
        if (content) {
            uint8_t *there = content + in->first + (address - in->address);
            get(in->address); /* what was asked before is done, and time passes for who waits for memory */
            memcpy(writes ? there : data, writes ? data : there, (size_t)count);
        } else {
            move_words(address, data, count, writes);
        }
        address += count, data += count, size -= count;
    }
    pthread_mutex_unlock(&one_at_a_time);
}

void ess_Write32(uint64_t address, unsigned int value) {
    pthread_mutex_lock(&one_at_a_time);
    connect_once();
    put(address, value);
    pthread_mutex_unlock(&one_at_a_time);
}

unsigned int ess_Read32(uint64_t address) {
    pthread_mutex_lock(&one_at_a_time);
    connect_once();
    unsigned int value = get(address);
    pthread_mutex_unlock(&one_at_a_time);
    return value;
}

void ess_NpiWrite32(uint64_t address, unsigned int value) {
    ess_Write32(address, value);
}

unsigned int ess_NpiRead32(uint64_t address) {
    return ess_Read32(address);
}

void ess_WriteGM(uint64_t address, const void *data, uint64_t size) {
    move(address, (uint8_t *)(uintptr_t)data, size, 1);
}

void ess_ReadGM(uint64_t address, void *data, uint64_t size) {
    move(address, (uint8_t *)data, size, 0);
}

void ess_WriteCmd(unsigned char command, unsigned char column, unsigned char row, unsigned int word0,
                  unsigned int word1, unsigned char *text) {
    fprintf(stderr, "memtile host: command %u for tile (%u, %u) has no effect here: 0x%x 0x%x %s\n", command,
            column, row, word0, word1, text ? (const char *)text : "");
}
