/* The capture laboratory: two hosts (network namespaces of one kernel), a link of our own between two TAP devices,
 * applications and capture files, all in one process and one event loop. The same static program runs as root on a
 * machine and as /init of a User-Mode Linux guest. See scripts/captures/README.md for the scenario file. */
#ifndef LAB_H
#define LAB_H
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef int64_t ns_t; /* nanoseconds, CLOCK_REALTIME unless said otherwise */
enum { A = 0, B = 1 };  /* host A connects, host B listens */
#define FRAME_MAX 66000
#define MAX_RULES 64
#define MAX_CONNS 256

void die(const char *what); /* says what failed, with errno, and ends the program (powers the guest off) */

/* Scenario file: one key=value on each line. */
const char *scn_str(const char *key, const char *dflt);
long long scn_int(const char *key, long long dflt);
const char *scn_nth(const char *key, int n); /* n-th line with that key, or NULL */
void scn_load(const char *path);

/* Clock, random numbers and timers of the event loop. */
ns_t now_ns(void);
extern ns_t t_start; /* when the experiment began */
uint64_t rnd(void);
typedef void (*timer_fn)(void *arg, int num);
void timer_at(ns_t when, timer_fn fn, void *arg, int num);
typedef void (*ready_fn)(void *arg, uint32_t events);
void watch(int fd, uint32_t events, ready_fn fn, void *arg); /* again with the same fd: changes the events */
void unwatch(int fd);
void run_until(ns_t end, int (*finished)(void));

/* net.c: the two hosts. */
struct host {
	int ns_fd, tap_fd, ifindex;
};
extern struct host hosts[2];
extern int offload, ipv6;
void hosts_make(void);
void host_enter(int side);
void sysctl_set(const char *name, const char *value);

/* pcap.c: capture points. */
enum { AT_A, AT_B, AT_MID, POINTS };
void captures_open(const char *prefix);
void capture(int point, const uint8_t *frame, size_t len, ns_t when);
void captures_close(void);

/* link.c: what happens between the two TAP devices. */
void link_start(void);
void link_json(FILE *f);

/* apps.c */
void apps_start(void);
int apps_finished(void);
void apps_json(FILE *f);

/* counters.c: the kernels' own counters of each host, as differences. */
void counters_begin(void);
void counters_json(FILE *f);
#endif
