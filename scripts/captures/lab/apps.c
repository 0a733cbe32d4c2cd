/* The applications: each end of a connection runs a small script.
 *   wN write N bytes   rN read exactly N bytes   uN one read of at most N bytes   d read until the peer closes
 *   sN sleep N us   pN sleep until N us after the last pN (no drift)   jN sleep a random time below N us
 *   qN TCP_QUICKACK N   h shut down writing   c close   R reset   (...)*N repeat
 * a_script and b_script given several times: the n-th is the n-th connection's, the last one that of all further ones. */
#define _GNU_SOURCE
#include "lab.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define CLIENT_PORT 40000
#define LOOPS 8
#define MAX_STEPS 2000

struct end {
	int side, conn, fd, open, done, error;
	const char *script, *at;
	long long left;              /* of the write or read under way; -1: none */
	ns_t pace, began_at, opened_at, done_at;
	struct { const char *start; long long left; } loop[LOOPS];
	int depth, quickack_each;
	long long wrote, got;
	struct tcp_info info;
	int has_info;
	ns_t began;                  /* of the step under way; 0: none */
	struct step { char op; long long n; ns_t from, to; } *steps;
	int n_steps;
};
static struct end *ends[2];
static int conns, listener = -1;
static void run(struct end *e);

static void option(int fd, int level, int name, int value)
{
	if (setsockopt(fd, level, name, &value, sizeof(value)))
		die("setsockopt");
}

static long long side_int(const char *name, int side, long long dflt)
{
	char key[64];

	snprintf(key, sizeof(key), "%c_%s", "ab"[side], name);
	return scn_int(key, dflt);
}

static void take_info(struct end *e)
{
	socklen_t len = sizeof(e->info);

	if (e->fd >= 0 && !getsockopt(e->fd, IPPROTO_TCP, TCP_INFO, &e->info, &len))
		e->has_info = 1;
}

static void finish(struct end *e, int error)
{
	e->error = error;
	e->done = 1;
	e->done_at = now_ns();
	if (e->fd < 0)
		return;
	take_info(e);
	unwatch(e->fd);
	close(e->fd);
	e->fd = -1;
}

static void ready(void *arg, uint32_t events)
{
	(void)events;
	run(arg);
}

static void wake(void *arg, int num)
{
	struct end *e = arg;

	(void)num;
	if (!e->done)
		run(e);
}

static void sleep_until(struct end *e, ns_t when)
{
	ns_t now = now_ns();

	watch(e->fd, 0, ready, e);
	timer_at(when > now ? when : now, wake, e, 0); /* a write that had to wait may be past its pace */
}

/* One read; 1 when something was got, 0 when it has to wait, -1 when the connection is at its end. */
static int read_some(struct end *e, long long want)
{
	static char buf[1 << 18];
	ssize_t n;
	int v = e->quickack_each;

	if (v >= 0)
		setsockopt(e->fd, IPPROTO_TCP, TCP_QUICKACK, &v, sizeof(v));
	n = read(e->fd, buf, want < (long long)sizeof(buf) ? (size_t)want : sizeof(buf));
	if (n > 0) {
		e->got += n;
		if (e->left > 0)
			e->left -= n;
		return 1;
	}
	if (n < 0 && errno == EAGAIN) {
		watch(e->fd, EPOLLIN, ready, e);
		return 0;
	}
	e->error = n < 0 ? errno : 0;
	return -1;
}

static int write_some(struct end *e)
{
	static const char zeros[1 << 18];
	ssize_t n = write(e->fd, zeros, e->left < (long long)sizeof(zeros) ? (size_t)e->left : sizeof(zeros));

	if (n > 0) {
		e->wrote += n;
		e->left -= n;
		return 1;
	}
	if (n < 0 && errno == EAGAIN) {
		watch(e->fd, EPOLLOUT, ready, e);
		return 0;
	}
	e->error = errno;
	return -1;
}

static void loop_end(struct end *e, long long times)
{
	if (!e->depth)
		die("unbalanced ) in a script");
	if (e->loop[e->depth - 1].left < 0)
		e->loop[e->depth - 1].left = times;
	if (--e->loop[e->depth - 1].left > 0)
		e->at = e->loop[e->depth - 1].start;
	else
		e->depth--;
}

/* Remembers a step that is over: the truth about the application's times (with `steps=1`). */
static void step_over(struct end *e, char op, long long n, ns_t to)
{
	if (!e->steps || e->n_steps == MAX_STEPS || !strchr("wrudsjp", op))
		return;
	e->steps[e->n_steps++] = (struct step){ op, n, e->began ? e->began : to, to };
	e->began = 0;
}

/* Steps through the script until something has to be waited for. */
static void run(struct end *e)
{
	struct linger now = { 1, 0 };

	for (;;) {
		char op = *e->at;

		if (!e->began)
			e->began = now_ns();
		char *next = (char *)e->at + 1;
		long long x = op && strchr("wrusjpq", op) ? strtoll(next, &next, 10) : 0;
		int got;

		switch (op) {
		case 'w':
		case 'r':
			if (e->left < 0)
				e->left = x;
			got = op == 'w' ? write_some(e) : read_some(e, e->left);
			if (got < 0)
				return finish(e, e->error);
			if (!got)
				return;
			if (e->left)
				continue;
			e->left = -1;
			break;
		case 'u':
		case 'd':
			got = read_some(e, op == 'u' ? x : 1 << 18);
			if (!got)
				return;
			if (got < 0 && (op == 'u' || e->error))
				return finish(e, e->error);
			if (op == 'd' && got > 0)
				continue;
			break;
		case 's':
		case 'j':
			e->at = next;
			x = op == 's' ? x * 1000 : (long long)(rnd() % (x * 1000));
			step_over(e, op, x / 1000, now_ns() + x);
			return sleep_until(e, now_ns() + x);
		case 'p':
			e->at = next;
			e->pace += x * 1000;
			step_over(e, op, x, e->pace > now_ns() ? e->pace : now_ns());
			return sleep_until(e, e->pace);
		case 'q':
			option(e->fd, IPPROTO_TCP, TCP_QUICKACK, x);
			break;
		case 'h':
			shutdown(e->fd, SHUT_WR);
			break;
		case '(':
			if (e->depth == LOOPS)
				die("too many loops in a script");
			e->loop[e->depth].start = next;
			e->loop[e->depth++].left = -1;
			break;
		case ')':
			if (*next != '*')
				die("a loop needs *N");
			x = strtoll(next + 1, &next, 10);
			e->at = next;
			loop_end(e, x);
			continue;
		case 'R':
			setsockopt(e->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
			return finish(e, 0);
		case 'c':
		case 0:
			return finish(e, 0);
		case ' ':
			break;
		default:
			die(e->at);
		}
		step_over(e, op, x, now_ns());
		e->began = 0;
		e->at = next;
	}
}

static void prepare(int fd, int side)
{
	long long v;

	if ((v = side_int("rcvbuf", side, 0)))
		option(fd, SOL_SOCKET, SO_RCVBUF, v);
	if ((v = side_int("sndbuf", side, 0)))
		option(fd, SOL_SOCKET, SO_SNDBUF, v);
	if (side_int("nodelay", side, 0))
		option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	if ((v = side_int("user_timeout_ms", side, 0)))
		option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, v);
	if ((v = side_int("keepalive_s", side, 0))) {
		option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
		option(fd, IPPROTO_TCP, TCP_KEEPIDLE, v);
		option(fd, IPPROTO_TCP, TCP_KEEPINTVL, v);
		option(fd, IPPROTO_TCP, TCP_KEEPCNT, 9);
	}
}

static void begin(struct end *e)
{
	long long v = side_int("quickack", e->side, -1);

	e->open = 1;
	e->began = 0;
	e->opened_at = e->pace = now_ns();
	if (v >= 0)
		option(e->fd, IPPROTO_TCP, TCP_QUICKACK, v);
	run(e);
}

static void connected(void *arg, uint32_t events)
{
	struct end *e = arg;
	int error = 0;
	socklen_t len = sizeof(error);

	(void)events;
	getsockopt(e->fd, SOL_SOCKET, SO_ERROR, &error, &len);
	if (error)
		return finish(e, error);
	begin(e);
}

static void accepted(void *arg, uint32_t events)
{
	struct sockaddr_in6 from;
	socklen_t len = sizeof(from);
	int fd = accept4(listener, (void *)&from, &len, SOCK_NONBLOCK | SOCK_CLOEXEC), n;
	struct end *e;

	(void)arg;
	(void)events;
	if (fd < 0)
		return;
	n = ntohs(from.sin6_port) - CLIENT_PORT; /* the port lies at the same place in both families */
	if (n < 0 || n >= conns || ends[B][n].fd >= 0)
		die("a connection from an unknown port");
	e = &ends[B][n];
	e->fd = fd;
	prepare(fd, B);
	begin(e);
}

static void begin_accepting(void *arg, int num)
{
	(void)arg;
	(void)num;
	watch(listener, EPOLLIN, accepted, NULL);
}

static socklen_t address(struct sockaddr_storage *s, int side, int port)
{
	char text[32];

	memset(s, 0, sizeof(*s));
	snprintf(text, sizeof(text), ipv6 ? "fd77::%d" : "10.77.0.%d", side + 1);
	if (ipv6) {
		struct sockaddr_in6 *a = (void *)s;

		a->sin6_family = AF_INET6;
		a->sin6_port = htons(port);
		inet_pton(AF_INET6, text, &a->sin6_addr);
		return sizeof(*a);
	}
	struct sockaddr_in *a = (void *)s;

	a->sin_family = AF_INET;
	a->sin_port = htons(port);
	inet_pton(AF_INET, text, &a->sin_addr);
	return sizeof(*a);
}

static void connect_now(void *arg, int num)
{
	struct end *e = arg;
	struct sockaddr_storage to;
	socklen_t len;

	(void)num;
	host_enter(A);
	e->began_at = now_ns();
	e->fd = socket(ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (e->fd < 0)
		die("socket");
	option(e->fd, SOL_SOCKET, SO_REUSEADDR, 1);
	len = address(&to, A, CLIENT_PORT + e->conn);
	if (bind(e->fd, (void *)&to, len))
		die("bind");
	prepare(e->fd, A);
	len = address(&to, B, scn_int("port", 5001));
	if (connect(e->fd, (void *)&to, len) && errno != EINPROGRESS)
		die("connect");
	watch(e->fd, EPOLLOUT, connected, e);
}

/* The script of a side's n-th connection. */
static const char *script_of(int side, int n)
{
	char key[16];
	const char *s;

	snprintf(key, sizeof(key), "%c_script", "ab"[side]);
	while (!(s = scn_nth(key, n)) && n)
		n--;
	return s ? s : "d";
}

void apps_start(void)
{
	struct sockaddr_storage own;
	socklen_t len;

	conns = scn_int("conns", 1);
	if (conns > MAX_CONNS)
		die("too many connections");
	host_enter(B);
	if (!scn_int("no_listener", 0)) {
		listener = socket(ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		option(listener, SOL_SOCKET, SO_REUSEADDR, 1);
		if (side_int("rcvbuf", B, 0)) /* the SYN-ACK's window comes from the listener */
			option(listener, SOL_SOCKET, SO_RCVBUF, side_int("rcvbuf", B, 0));
		len = address(&own, B, scn_int("port", 5001));
		if (bind(listener, (void *)&own, len) || listen(listener, scn_int("backlog", 256)))
			die("listen");
		if (scn_int("accept_after", 0))
			timer_at(t_start + scn_int("accept_after", 0) * 1000, begin_accepting, NULL, 0);
		else
			watch(listener, EPOLLIN, accepted, NULL);
	}
	for (int side = 0; side < 2; side++) {
		ends[side] = calloc(conns, sizeof(struct end));
		if (!ends[side])
			die("memory");
		for (int i = 0; i < conns; i++) {
			struct end *e = &ends[side][i];

			e->side = side;
			e->conn = i;
			e->fd = -1;
			e->left = -1;
			e->at = e->script = script_of(side, i);
			if (scn_int("steps", 0) && !(e->steps = calloc(MAX_STEPS, sizeof(*e->steps))))
				die("memory");
			e->quickack_each = side_int("quickack_each", side, -1);
			if (side == A)
				timer_at(t_start + i * scn_int("stagger", 0) * 1000, connect_now, e, 0);
		}
	}
}

/* A server that was never reached counts as finished when its client is. */
int apps_finished(void)
{
	for (int i = 0; i < conns; i++)
		if (!ends[A][i].done || (ends[B][i].open && !ends[B][i].done))
			return 0;
	return 1;
}

/* Each step: what, its number, when it began and was over, seconds since the start. */
static void steps_json(FILE *f, const struct end *e)
{
	if (!e->steps)
		return;
	fprintf(f, ",\"steps\":[");
	for (int i = 0; i < e->n_steps; i++)
		fprintf(f, "%s[\"%c\",%lld,%.6f,%.6f]", i ? "," : "", e->steps[i].op, e->steps[i].n,
			(e->steps[i].from - t_start) / 1e9, (e->steps[i].to - t_start) / 1e9);
	fputc(']', f);
}

void apps_json(FILE *f)
{
	for (int i = 0; i < conns; i++) {
		fprintf(f, "%s{\"port\":%d", i ? "," : "", CLIENT_PORT + i);
		for (int side = 0; side < 2; side++) {
			struct end *e = &ends[side][i];
			struct tcp_info *t = &e->info;

			if (!e->done)
				take_info(e);
			fprintf(f, ",\"%c\":{\"opened\":%.6f,\"done\":%d,\"error\":%d,\"wrote\":%lld,\"got\":%lld", "ab"[side],
				e->open ? (e->opened_at - t_start) / 1e9 : -1.0, e->done, e->error, e->wrote, e->got);
			fprintf(f, ",\"began\":%.6f,\"ended\":%.6f", e->began_at ? (e->began_at - t_start) / 1e9 : -1.0,
				e->done ? (e->done_at - t_start) / 1e9 : -1.0);
			steps_json(f, e);
			if (e->has_info)
				fprintf(f, ",\"rtt_us\":%u,\"rttvar_us\":%u,\"min_rtt_us\":%u,\"rto_us\":%u,\"ato_us\":%u,\"snd_mss\":%u,\"rcv_mss\":%u,"
					"\"advmss\":%u,\"cwnd\":%u,\"ssthresh\":%u,\"total_retrans\":%u,\"dsack_dups\":%u,\"reord_seen\":%u,"
					"\"segs_out\":%u,\"segs_in\":%u,\"data_segs_out\":%u,\"data_segs_in\":%u,"
					"\"busy_us\":%llu,\"rwnd_limited_us\":%llu,\"sndbuf_limited_us\":%llu",
					t->tcpi_rtt, t->tcpi_rttvar, t->tcpi_min_rtt, t->tcpi_rto, t->tcpi_ato, t->tcpi_snd_mss, t->tcpi_rcv_mss,
					t->tcpi_advmss, t->tcpi_snd_cwnd, t->tcpi_snd_ssthresh, t->tcpi_total_retrans, t->tcpi_dsack_dups,
					t->tcpi_reord_seen, t->tcpi_segs_out, t->tcpi_segs_in, t->tcpi_data_segs_out, t->tcpi_data_segs_in,
					(unsigned long long)t->tcpi_busy_time, (unsigned long long)t->tcpi_rwnd_limited,
					(unsigned long long)t->tcpi_sndbuf_limited);
			fputc('}', f);
		}
		fputc('}', f);
	}
}
