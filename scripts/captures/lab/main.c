/* Event loop, scenario file, and what a guest's /init has to do before and after. */
#define _GNU_SOURCE
#include "lab.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/timerfd.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

ns_t t_start;
static ns_t most_late; /* of all timers: how far the machine was from doing things in time */

void die(const char *what)
{
	fprintf(stderr, "lab: %s: %s\n", what, strerror(errno));
	fflush(stderr);
	if (getpid() == 1) {
		sync();
		reboot(RB_POWER_OFF);
	}
	exit(1);
}

/* ---- scenario ---- */
static struct { char *key, *value; } *lines;
static int n_lines;

void scn_load(const char *path)
{
	char *line = NULL, *eq;
	size_t size = 0;
	FILE *f = fopen(path, "r");

	if (!f)
		die(path);
	while (getline(&line, &size, f) > 0) {
		line[strcspn(line, "\n")] = 0;
		eq = strchr(line, '=');
		if (!eq || *line == '#')
			continue;
		*eq = 0;
		lines = realloc(lines, (n_lines + 1) * sizeof(*lines));
		if (!lines)
			die("memory");
		lines[n_lines].key = strdup(line);
		lines[n_lines++].value = strdup(eq + 1);
	}
	free(line);
	fclose(f);
}

const char *scn_nth(const char *key, int n)
{
	for (int i = 0; i < n_lines; i++)
		if (!strcmp(lines[i].key, key) && n-- == 0)
			return lines[i].value;
	return NULL;
}

const char *scn_str(const char *key, const char *dflt)
{
	const char *v = scn_nth(key, 0);

	return v ? v : dflt;
}

long long scn_int(const char *key, long long dflt)
{
	const char *v = scn_nth(key, 0);

	return v ? atoll(v) : dflt;
}

/* ---- clock, random numbers ---- */
ns_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static uint64_t rnd_state;

uint64_t rnd(void) /* splitmix64 */
{
	uint64_t z = rnd_state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return (z ^ z >> 31) >> 1;
}

/* ---- timers: a binary heap by time, then by order of arming ---- */
struct timer {
	ns_t when;
	uint64_t order;
	timer_fn fn;
	void *arg;
	int num;
};
static struct timer *heap;
static size_t heap_len, heap_cap;
static uint64_t armed;

static int before(const struct timer *a, const struct timer *b)
{
	return a->when != b->when ? a->when < b->when : a->order < b->order;
}

void timer_at(ns_t when, timer_fn fn, void *arg, int num)
{
	struct timer t = { when, armed++, fn, arg, num };
	size_t i = heap_len++;

	if (heap_len > heap_cap) {
		heap_cap = heap_cap ? heap_cap * 2 : 1024;
		heap = realloc(heap, heap_cap * sizeof(*heap));
		if (!heap)
			die("memory");
	}
	for (; i && before(&t, &heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = t;
}

static struct timer timer_pop(void)
{
	struct timer top = heap[0], t = heap[--heap_len];
	size_t i = 0, c;

	for (; (c = 2 * i + 1) < heap_len; i = c) {
		if (c + 1 < heap_len && before(&heap[c + 1], &heap[c]))
			c++;
		if (!before(&heap[c], &t))
			break;
		heap[i] = heap[c];
	}
	heap[i] = t;
	return top;
}

/* ---- event loop ---- */
#define MAX_FD 1024
static struct { ready_fn fn; void *arg; int in; uint32_t events; } watched[MAX_FD];
static int epfd = -1, tfd = -1;

void watch(int fd, uint32_t events, ready_fn fn, void *arg)
{
	struct epoll_event e = { .events = events, .data.fd = fd };

	if (fd < 0 || fd >= MAX_FD)
		die("file descriptor");
	watched[fd].fn = fn;
	watched[fd].arg = arg;
	if (watched[fd].in && watched[fd].events == events)
		return;
	if (epoll_ctl(epfd, watched[fd].in ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &e))
		die("epoll_ctl");
	watched[fd].in = 1;
	watched[fd].events = events;
}

void unwatch(int fd)
{
	if (watched[fd].in)
		epoll_ctl(epfd, EPOLL_CTL_DEL, fd, NULL);
	watched[fd].in = 0;
}

static void stop(void *arg, int num)
{
	(void)num;
	*(int *)arg = 1;
}

/* Runs until the time has come, or until `linger` after everything has finished. */
void run_until(ns_t end, int (*finished)(void))
{
	int over = 0, ending = 0;

	timer_at(end, stop, &over, 0);
	while (!over) {
		struct epoll_event ev[16];
		int n;

		while (heap_len && heap[0].when <= now_ns() && !over) {
			struct timer t = timer_pop();

			if (now_ns() - t.when > most_late)
				most_late = now_ns() - t.when;
			t.fn(t.arg, t.num);
		}
		if (over)
			break;
		if (!ending && finished()) {
			ending = 1;
			timer_at(now_ns() + scn_int("linger", 500000) * 1000, stop, &over, 0);
		}
		struct itimerspec at = { .it_value = { heap[0].when / 1000000000, heap[0].when % 1000000000 } };

		timerfd_settime(tfd, TFD_TIMER_ABSTIME, &at, NULL);
		n = epoll_wait(epfd, ev, 16, -1);
		for (int i = 0; i < n; i++) {
			int fd = ev[i].data.fd;
			uint64_t ticks;

			if (fd == tfd)
				(void)!read(tfd, &ticks, sizeof(ticks));
			else if (watched[fd].in && (watched[fd].events || ev[i].events & EPOLLERR))
				watched[fd].fn(watched[fd].arg, ev[i].events);
			else if (watched[fd].in)
				unwatch(fd); /* a hang-up while nobody reads: it will be seen at the next read */
		}
	}
}

/* ---- guest ---- */
static void guest_setup(const char *share)
{
	int fd;

	mkdir("/proc", 0755);
	mkdir("/dev", 0755);
	mkdir("/mnt", 0755);
	if (mount("proc", "/proc", "proc", 0, NULL) || (mount("dev", "/dev", "devtmpfs", 0, NULL) && errno != EBUSY))
		die("mount");
	if (mount("none", "/mnt", "hostfs", 0, share))
		die("hostfs");
	fd = open("/tun.ko", O_RDONLY);
	if (fd >= 0 && syscall(SYS_finit_module, fd, "", 0))
		die("tun.ko");
	if (access("/dev/net/tun", F_OK)) {
		mkdir("/dev/net", 0755);
		if (mknod("/dev/net/tun", S_IFCHR | 0600, makedev(10, 200)))
			die("/dev/net/tun");
	}
	sysctl_set("net.ipv4.tcp_mem", "100000 150000 200000");
	if (chdir("/mnt"))
		die("chdir");
}

static void write_json(const char *prefix)
{
	char path[512];
	struct utsname u;
	FILE *f;

	snprintf(path, sizeof(path), "%s.raw.json", prefix);
	f = fopen(path, "w");
	if (!f)
		die(path);
	uname(&u);
	fprintf(f, "{\"kernel\":\"%s\",\"start\":%.9f,\"seconds\":%.6f,\"most_late_us\":%lld,", u.release, t_start / 1e9,
		(now_ns() - t_start) / 1e9, (long long)(most_late / 1000));
	link_json(f);
	fprintf(f, ",\"connections\":[");
	apps_json(f);
	fprintf(f, "],\"counters\":{");
	counters_json(f);
	fprintf(f, "}}\n");
	if (fclose(f))
		die(path);
}

int main(int argc, char **argv)
{
	int guest = getpid() == 1;
	const char *scenario = guest ? getenv("LAB_SCENARIO") : argc > 1 ? argv[1] : NULL;
	const char *prefix = guest ? getenv("LAB_PREFIX") : argc > 2 ? argv[2] : NULL;

	if (!scenario || !prefix)
		die("usage: lab SCENARIO OUTPUT-PREFIX");
	if (guest)
		guest_setup(getenv("LAB_SHARE"));
	else if (sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ .sched_priority = 10 }))
		fprintf(stderr, "lab: no real-time priority: delays will be late on a busy machine\n");
	scn_load(scenario);
	rnd_state = scn_int("seed", 1);
	epfd = epoll_create1(EPOLL_CLOEXEC);
	tfd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	watch(tfd, EPOLLIN, NULL, NULL);
	hosts_make();
	counters_begin();
	captures_open(prefix);
	/* The phase of the tick differs from run to run on a real machine; here it comes from the seed. */
	t_start = now_ns() + 50000000 + (ns_t)(rnd() % 20000000);
	link_start();
	apps_start();
	run_until(t_start + scn_int("max", 60000000) * 1000, apps_finished);
	write_json(prefix);
	captures_close();
	if (guest) {
		sync();
		reboot(RB_POWER_OFF);
	}
	return 0;
}
