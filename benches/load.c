// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * The load of the benchmark trace: real TCP connections, made as cheaply as one thread can.
 *
 *   load serve PORT
 *   load fetch ADDRESS PORT COUNT PER_SECOND IN_FLIGHT MIN_BYTES MAX_BYTES SEED
 *
 * A request has 100 bytes: the wanted length of the response (8 bytes, most significant first) and who closes
 * first (1: the client). `serve` listens on PORT and PORT + 1, which `fetch` takes in turn: Linux gives ports of
 * one parity to the connections to one address, so two of them use the whole port range. `serve` answers many connections and runs until it is killed. `fetch` opens COUNT
 * connections, at most PER_SECOND new ones each second (0: no bound) and IN_FLIGHT at a time, and prints how
 * many it completed. Sizes come from SEED, so the work is the same each time; the packets are the kernel's.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { REQUEST = 100, MAX_FD = 65536, CHUNK = 1 << 18, EVENTS = 256 };

struct peer {
    uint64_t left;   /* bytes of the response that are still to come or to go */
    uint32_t got;    /* bytes of the request received so far (server) */
    uint8_t client_closes;
    uint8_t open;
    uint8_t request[REQUEST];
};

static struct peer peers[MAX_FD];
static char chunk[CHUNK];

static void die(const char *what) {
    perror(what);
    exit(1);
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* splitmix64 */
static uint64_t draw(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

static void watch(int ep, int op, int fd, uint32_t events) {
    struct epoll_event e = {.events = events, .data.fd = fd};
    if (epoll_ctl(ep, op, fd, &e) != 0) die("epoll_ctl");
}

static void finish(int fd) {
    peers[fd].open = 0;
    close(fd);
}

/* Sends what fits; 1 when the response has been handed over completely. */
static int send_response(int fd, struct peer *p) {
    while (p->left > 0) {
        size_t want = p->left < CHUNK ? (size_t)p->left : CHUNK;
        ssize_t n = send(fd, chunk, want, MSG_NOSIGNAL);
        if (n < 0) return errno == EAGAIN ? 0 : -1;
        p->left -= (uint64_t)n;
    }
    return 1;
}

static void serve_ready(int ep, int fd) {
    struct peer *p = &peers[fd];
    if (p->got < REQUEST) {
        ssize_t n = recv(fd, p->request + p->got, REQUEST - p->got, 0);
        if (n < 0 && errno == EAGAIN) return;
        if (n <= 0) {
            finish(fd);
            return;
        }
        p->got += (uint32_t)n;
        if (p->got < REQUEST) return;
        for (int i = 0; i < 8; i++) p->left = p->left << 8 | p->request[i];
        p->client_closes = p->request[8];
        watch(ep, EPOLL_CTL_MOD, fd, EPOLLIN | EPOLLOUT);
    }
    int done = send_response(fd, p);
    if (done == 0) return;
    if (done < 0 || !p->client_closes) {
        finish(fd);
        return;
    }
    watch(ep, EPOLL_CTL_MOD, fd, EPOLLIN);
    char byte;
    if (recv(fd, &byte, 1, 0) >= 0 || errno != EAGAIN) finish(fd);
}

static int listen_on(int ep, int port) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    int one = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    /* Linux's default; a namespace may inherit another. Where CUBIC is not allowed the trace is made without. */
    if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "cubic", 5) != 0) perror("load: cubic");
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    if (bind(fd, (struct sockaddr *)&a, sizeof a) != 0) die("bind");
    if (listen(fd, 4096) != 0) die("listen");
    watch(ep, EPOLL_CTL_ADD, fd, EPOLLIN);
    return fd;
}

static void accept_all(int ep, int listener) {
    int fd;
    while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
        if (fd >= MAX_FD) die("too many connections");
        memset(&peers[fd], 0, sizeof peers[fd]);
        peers[fd].open = 1;
        watch(ep, EPOLL_CTL_ADD, fd, EPOLLIN);
    }
}

static _Noreturn void serve(int port) {
    int ep = epoll_create1(0);
    int first = listen_on(ep, port), second = listen_on(ep, port + 1);
    struct epoll_event events[EVENTS];
    for (;;) {
        int n = epoll_wait(ep, events, EVENTS, -1);
        for (int i = 0; i < n; i++) {
            int fd = events[i].data.fd;
            if (fd == first || fd == second)
                accept_all(ep, fd);
            else
                serve_ready(ep, fd);
        }
    }
}

struct fetch {
    struct sockaddr_in to[2]; /* PORT and PORT + 1 */
    uint64_t count, in_flight, min, max, seed;
    double per_second;
    uint64_t opened, completed, failed, busy;
};

/* Opens one connection; 0 when the kernel has no port left just now. */
static int open_one(int ep, struct fetch *f) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (fd < 0 || fd >= MAX_FD) die("socket");
    if (connect(fd, (struct sockaddr *)&f->to[f->opened & 1], sizeof f->to[0]) != 0 && errno != EINPROGRESS) {
        int none_free = errno == EADDRNOTAVAIL;
        close(fd);
        if (none_free) return 0;
        die("connect");
    }
    struct peer *p = &peers[fd];
    memset(p, 0, sizeof *p);
    uint64_t d = draw(&f->seed);
    /* Many small responses and few large ones: the square of a uniform draw. */
    double u = (double)(d >> 40) / (double)(1 << 24);
    p->left = f->min + (uint64_t)((double)(f->max - f->min) * u * u);
    p->client_closes = (uint8_t)(d & 1);
    p->open = 1;
    for (int i = 0; i < 8; i++) p->request[i] = (uint8_t)(p->left >> (56 - 8 * i));
    p->request[8] = p->client_closes;
    watch(ep, EPOLL_CTL_ADD, fd, EPOLLOUT);
    f->opened++;
    f->busy++;
    return 1;
}

static void end_one(struct fetch *f, int fd, int ok) {
    finish(fd);
    f->busy--;
    f->completed += (uint64_t)ok;
    f->failed += (uint64_t)!ok;
}

static void fetch_ready(int ep, struct fetch *f, int fd) {
    struct peer *p = &peers[fd];
    if (!p->got) {
        if (send(fd, p->request, REQUEST, MSG_NOSIGNAL) != REQUEST) {
            end_one(f, fd, 0);
            return;
        }
        p->got = REQUEST;
        watch(ep, EPOLL_CTL_MOD, fd, EPOLLIN);
        return;
    }
    for (;;) {
        ssize_t n = recv(fd, chunk, CHUNK, 0);
        if (n < 0 && errno == EAGAIN) return;
        if (n <= 0) {
            end_one(f, fd, n == 0 && p->left == 0);
            return;
        }
        p->left -= (uint64_t)n;
        if (p->left == 0 && p->client_closes) {
            end_one(f, fd, 1);
            return;
        }
    }
}

static int fetch(struct fetch *f) {
    int ep = epoll_create1(0);
    struct epoll_event events[EVENTS];
    double start = seconds();
    while (f->completed + f->failed < f->count) {
        double due = f->per_second > 0 ? (seconds() - start) * f->per_second : 1e18;
        while (f->opened < f->count && f->busy < f->in_flight && (double)f->opened < due)
            if (!open_one(ep, f)) break;
        int n = epoll_wait(ep, events, EVENTS, 1);
        for (int i = 0; i < n; i++)
            if (peers[events[i].data.fd].open) fetch_ready(ep, f, events[i].data.fd);
    }
    printf("{\"completed\":%llu,\"failed\":%llu}\n", (unsigned long long)f->completed,
           (unsigned long long)f->failed);
    return f->failed != 0;
}

int main(int argc, char **argv) {
    memset(chunk, 'x', sizeof chunk);
    if (argc == 3 && strcmp(argv[1], "serve") == 0) serve(atoi(argv[2]));
    if (argc != 10 || strcmp(argv[1], "fetch") != 0) {
        fprintf(stderr, "usage: load serve PORT\n"
                        "       load fetch ADDRESS PORT COUNT PER_SECOND IN_FLIGHT MIN_BYTES MAX_BYTES SEED\n");
        return 2;
    }
    struct fetch f = {0};
    for (int i = 0; i < 2; i++) {
        f.to[i].sin_family = AF_INET;
        f.to[i].sin_port = htons((uint16_t)(atoi(argv[3]) + i));
        if (inet_pton(AF_INET, argv[2], &f.to[i].sin_addr) != 1) die("address");
    }
    f.count = strtoull(argv[4], NULL, 10);
    f.per_second = strtod(argv[5], NULL);
    f.in_flight = strtoull(argv[6], NULL, 10);
    f.min = strtoull(argv[7], NULL, 10);
    f.max = strtoull(argv[8], NULL, 10);
    f.seed = strtoull(argv[9], NULL, 10);
    return fetch(&f);
}
