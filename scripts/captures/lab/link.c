/* The link: for each direction a rate with a queue, a delay with jitter, and rules that lose, delay, double, hold or
 * mark chosen packets. What was done to a packet is remembered: it is the truth that a label is made from. */
#include "lab.h"
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define VNET 10 /* size of the virtio header in front of a frame, with offloads */
enum action { DROP, DELAY, DUP, HOLD, MARK, STRIP, RESET };
static const char *const action_names[] = { "drop", "delay", "dup", "hold", "mark", "strip", "reset" };

struct rule {
	int dir, what;          /* dir: the sender's side; what: a letter, see rule_parse() */
	enum action action;
	long long n, k;         /* ordinals n .. n+k-1 among the packets of its kind */
	long long m;            /* at most m times */
	ns_t from, to, amount;  /* times since the start; amount: extra delay */
	uint32_t seq_from, seq_to, big;
	long long ppm;
	int after_mid, port_index;
	long long seen, done;
};
static struct rule rules[MAX_RULES];
static int n_rules;

struct direction {
	ns_t delay, jitter, rate_free, last_due, per_byte_ps, longest_wait;
	long queue, queue_max, delivered, queue_drops, policed;
	double tokens, police_bytes_ns, police_burst; /* a token bucket that drops; police_burst 0: none */
	ns_t police_at;
} dirs[2];

struct flow { /* initial sequence numbers, to tell relative ones */
	uint16_t port;
	uint32_t isn[2];
	int known[2], index;
} flows[MAX_CONNS];
static int n_flows;

struct happening {
	ns_t at;
	int dir, action, after_mid, flow;
	uint32_t seq, len, flags;
};
static struct happening *happenings;
static int n_happenings;

struct packet {
	int dir, drop_after_mid;
	size_t len;
	uint8_t data[];
};

struct view { /* what the rules look at */
	int ip_at, tcp_at, len, flags, flow;
	uint32_t seq, ack, isn;
};

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
}

static void put16(uint8_t *p, unsigned v)
{
	p[0] = v >> 8;
	p[1] = v;
}

static uint32_t sum16(const uint8_t *p, size_t n, uint32_t s)
{
	for (; n > 1; n -= 2, p += 2)
		s += p[0] << 8 | p[1];
	return n ? s + (p[0] << 8) : s;
}

static uint16_t fold(uint32_t s)
{
	while (s >> 16)
		s = (s & 0xffff) + (s >> 16);
	return ~s;
}

static struct flow *flow_of(int dir, const uint8_t *tcp, uint32_t seq, int syn)
{
	uint16_t port = dir == A ? tcp[0] << 8 | tcp[1] : tcp[2] << 8 | tcp[3]; /* the client's */
	struct flow *f;
	int i;

	for (i = 0; i < n_flows && flows[i].port != port; i++)
		;
	f = &flows[i];
	if (i == n_flows) {
		if (n_flows == MAX_CONNS)
			die("too many flows");
		f->port = port;
		f->index = n_flows++;
	}
	if (syn) {
		f->isn[dir] = seq;
		f->known[dir] = 1;
	}
	return f;
}

static int look(int dir, const uint8_t *f, size_t n, struct view *v)
{
	size_t total;
	struct flow *flow;

	v->ip_at = 14;
	if (n < 54)
		return 0;
	if (f[12] == 8 && !f[13]) {
		v->tcp_at = 14 + (f[14] & 15) * 4;
		total = 14 + (f[16] << 8 | f[17]);
		if (f[23] != 6)
			return 0;
	} else if (f[12] == 0x86 && f[13] == 0xdd && f[20] == 6 && n >= 74) {
		v->tcp_at = 54;
		total = 54 + (f[18] << 8 | f[19]);
	} else {
		return 0;
	}
	if (total > n)
		total = n;
	v->len = total - v->tcp_at - (f[v->tcp_at + 12] >> 4) * 4;
	v->flags = f[v->tcp_at + 13];
	v->seq = get32(f + v->tcp_at + 4);
	v->ack = get32(f + v->tcp_at + 8);
	flow = flow_of(dir, f + v->tcp_at, v->seq, v->flags & 2);
	v->flow = flow->index;
	v->isn = flow->known[dir] ? flow->isn[dir] : v->seq;
	return 1;
}

/* rule=DIR WHAT [n=N] [k=K] [m=M] [t=FROM-TO] [seq=FROM-TO] [big=LEN] [p=PPM] [flow=N] [after] ACTION[=US]
 * DIR ab or ba; WHAT data, ack (no data, SYN, FIN or RST), syn, fin, packet (all); times in us; seq in bytes from the first one. */
static void rule_parse(const char *line)
{
	char text[256], *word, *save;
	struct rule *r = &rules[n_rules++];

	if (n_rules == MAX_RULES)
		die("too many rules");
	*r = (struct rule){ .n = 1, .k = 1LL << 40, .m = 1LL << 40, .to = INT64_MAX, .seq_to = 1u << 31, .ppm = 1000000, .port_index = -1 };
	snprintf(text, sizeof(text), "%s", line);
	word = strtok_r(text, " ", &save);
	r->dir = word && word[0] == 'b';
	word = strtok_r(NULL, " ", &save);
	r->what = word ? word[0] : '?';
	while ((word = strtok_r(NULL, " ", &save))) {
		char *value = strchr(word, '=');
		long long x = value ? atoll(value + 1) : 0, y = value && strchr(value, '-') ? atoll(strchr(value, '-') + 1) : 0;
		size_t n = value ? (size_t)(value - word) : strlen(word);

		if (n == 1 && *word == 'n') r->n = x, r->k = r->k == 1LL << 40 ? 1 : r->k;
		else if (n == 1 && *word == 'k') r->k = x;
		else if (n == 1 && *word == 'm') r->m = x;
		else if (n == 1 && *word == 'p') r->ppm = x;
		else if (n == 1 && *word == 't') r->from = x * 1000, r->to = y ? y * 1000 : INT64_MAX;
		else if (!strncmp(word, "seq", n)) r->seq_from = x, r->seq_to = y;
		else if (!strncmp(word, "big", n)) r->big = x;
		else if (!strncmp(word, "flow", n)) r->port_index = x;
		else if (!strncmp(word, "after", n)) r->after_mid = 1;
		else {
			int i;

			for (i = 0; i <= RESET && strncmp(word, action_names[i], n); i++)
				;
			if (i > RESET)
				die(line);
			r->action = i;
			r->amount = x * 1000;
		}
	}
}

static int kind_matches(const struct rule *r, const struct view *v)
{
	switch (r->what) {
	case 'd': return v->len > 0;
	case 's': return v->flags & 2;
	case 'f': return v->flags & 1;
	case 'a': return v->len == 0 && !(v->flags & 7);
	default: return 1;
	}
}

/* Whether the rule applies to this packet; counts. */
static int applies(struct rule *r, int dir, const struct view *v, size_t frame_len, ns_t t)
{
	uint32_t rel = v->seq - v->isn - 1;

	if (r->dir != dir || !kind_matches(r, v))
		return 0;
	if (r->port_index >= 0 && r->port_index != v->flow)
		return 0;
	if (r->big && frame_len <= r->big)
		return 0;
	if (t < r->from || t >= r->to)
		return 0;
	if (r->seq_to != 1u << 31 && !(rel < r->seq_to && rel + v->len > r->seq_from))
		return 0;
	r->seen++;
	if (r->seen < r->n || r->seen >= r->n + r->k || r->done >= r->m)
		return 0;
	if (r->ppm < 1000000 && (long long)(rnd() % 1000000) >= r->ppm)
		return 0;
	r->done++;
	return 1;
}

static void remember(int dir, int action, int after_mid, const struct view *v, ns_t now)
{
	struct happening *h;

	if (n_happenings % 256 == 0) {
		happenings = realloc(happenings, (n_happenings + 256) * sizeof(*h));
		if (!happenings)
			die("memory");
	}
	h = &happenings[n_happenings++];
	*h = (struct happening){ now - t_start, dir, action, after_mid, v->flow, v->seq - v->isn - 1, v->len, v->flags };
}

static void arrive(void *arg, int num)
{
	struct packet *p = arg;
	static uint8_t out[FRAME_MAX + VNET];
	size_t head = offload ? VNET : 0;

	(void)num;
	capture(!p->dir, p->data + head, p->len - head, now_ns());
	memcpy(out, p->data, p->len);
	dirs[p->dir].delivered++;
	if (write(hosts[!p->dir].tap_fd, out, p->len) < 0 && errno != EIO)
		die("write to the TAP device");
	free(p);
}

static void pass_mid(void *arg, int num)
{
	struct packet *p = arg;
	size_t head = offload ? VNET : 0;

	(void)num;
	capture(AT_MID, p->data + head, p->len - head, now_ns());
	if (p->drop_after_mid)
		free(p);
}

static void leave_queue(void *arg, int num)
{
	(void)arg;
	dirs[num].queue--;
}

static void mark_ce(uint8_t *f)
{
	if (f[12] == 8) {
		if (f[15] & 3) {
			f[15] |= 3;
			put16(f + 24, 0);
			put16(f + 24, fold(sum16(f + 14, (f[14] & 15) * 4, 0)));
		}
	} else if (f[15] & 0x30) {
		f[15] |= 0x30;
	}
}

/* A token bucket: a frame that finds too few tokens is dropped. */
static int policer_lets(struct direction *d, size_t len, ns_t now)
{
	d->tokens += (now - d->police_at) * d->police_bytes_ns;
	d->police_at = now;
	if (d->tokens > d->police_burst)
		d->tokens = d->police_burst;
	if (d->tokens < len)
		return 0;
	d->tokens -= len;
	return 1;
}

/* The TCP checksum from scratch, over the pseudo header of either family. */
static void tcp_checksum(uint8_t *f, const struct view *v, size_t tcp_len)
{
	uint8_t *t = f + v->tcp_at;
	uint32_t s = f[12] == 8 ? sum16(f + 26, 8, 6 + tcp_len) : sum16(f + 22, 32, 6 + tcp_len);

	put16(t + 16, 0);
	put16(t + 16, fold(sum16(t, tcp_len, s)));
}

/* A middle box that takes an option away: its bytes become NOPs. */
static void option_strip(uint8_t *f, const struct view *v, int kind)
{
	uint8_t *t = f + v->tcp_at, *end = t + (t[12] >> 4) * 4;

	for (uint8_t *o = t + 20; o < end && *o;) {
		size_t n = *o == 1 ? 1 : o[1];

		if (!n || o + n > end)
			break;
		if (*o == kind)
			memset(o, 1, n);
		o += n;
	}
	tcp_checksum(f, v, end - t + v->len);
}

/* A middle box that ends the connection: a RST to either end in the other one's name, with a time to live of its own. */
static void reset_both(int dir, const uint8_t *data, size_t len, const struct view *v, ns_t now)
{
	size_t head = offload ? VNET : 0, n = v->tcp_at + 20, alen = v->ip_at == 14 && data[head + 12] == 8 ? 4 : 16;

	(void)len;
	for (int back = 0; back < 2; back++) {
		struct packet *p = calloc(1, sizeof(*p) + head + n);
		uint8_t *f, *t, swap[16];
		struct view own = *v;

		if (!p)
			die("memory");
		p->dir = back ? !dir : dir;
		p->len = head + n;
		memcpy(p->data + head, data + head, n);
		f = p->data + head;
		t = f + v->tcp_at;
		if (back) {
			uint8_t *from = f + (alen == 4 ? 26 : 22), ports[2] = { t[0], t[1] };

			memcpy(swap, from, alen);
			memmove(from, from + alen, alen);
			memcpy(from + alen, swap, alen);
			memmove(t, t + 2, 2);
			memcpy(t + 2, ports, 2);
			memcpy(t + 4, data + head + v->tcp_at + 8, 4); /* the sequence number that the packet acknowledges */
		}
		t[12] = 5 << 4;
		t[13] = 4;
		put16(t + 14, 0);
		memset(t + 8, 0, 4);
		memset(t + 18, 0, 2);
		if (alen == 4) {
			put16(f + 16, n - 14);
			f[22] = 240; /* not the 64 of the hosts */
			put16(f + 24, 0);
			put16(f + 24, fold(sum16(f + 14, v->tcp_at - 14, 0)));
		} else {
			put16(f + 18, 20);
			f[21] = 240;
		}
		own.len = 0;
		tcp_checksum(f, &own, 20);
		timer_at(now + dirs[p->dir].delay / 2, pass_mid, p, 0); /* just before the packet itself, else it is out of order */
		timer_at(now + dirs[p->dir].delay, arrive, p, 0);
	}
}

/* A frame enters the link at one side: rate and queue, then rules, then the delay. */
static void enter(int dir, const uint8_t *data, size_t len, ns_t now)
{
	struct direction *d = &dirs[dir];
	size_t head = offload ? VNET : 0;
	struct view v;
	struct packet *p, *twin = NULL;
	ns_t due = now, extra = 0, hold_to = 0, twin_later = 0;
	int drop = 0, after_mid = 0;

	p = malloc(sizeof(*p) + len);
	if (!p)
		die("memory");
	p->dir = dir;
	p->len = len;
	p->drop_after_mid = 0;
	memcpy(p->data, data, len);
	if (!look(dir, data + head, len - head, &v)) {
		free(p); /* not TCP: nothing of ours */
		return;
	}
	for (int i = 0; i < n_rules; i++) {
		struct rule *r = &rules[i];

		if (!applies(r, dir, &v, len - head, now - t_start))
			continue;
		remember(dir, r->action, r->after_mid, &v, now);
		if (r->action == DROP) drop = 1, after_mid = r->after_mid;
		else if (r->action == DELAY) extra += r->amount;
		else if (r->action == DUP) twin = p, twin_later = r->amount;
		else if (r->action == HOLD) hold_to = t_start + r->from + r->amount;
		else if (r->action == STRIP) option_strip(p->data + head, &v, r->amount / 1000);
		else if (r->action == RESET) reset_both(dir, p->data, len, &v, now);
		else mark_ce(p->data + head);
	}
	if (drop && !after_mid) {
		free(p);
		return;
	}
	if (d->police_burst && !policer_lets(d, len - head, now)) {
		d->policed++;
		remember(dir, DROP, 0, &v, now);
		free(p);
		return;
	}
	if (d->per_byte_ps) {
		if (d->queue >= d->queue_max) {
			d->queue_drops++;
			remember(dir, DROP, 0, &v, now);
			free(p);
			return;
		}
		if (d->rate_free < now)
			d->rate_free = now;
		d->rate_free += d->per_byte_ps * (ns_t)(len - head + 24) / 1000;
		due = d->rate_free;
		if (due - now > d->longest_wait)
			d->longest_wait = due - now;
		d->queue++;
		timer_at(due, leave_queue, NULL, dir);
	}
	if (hold_to > due)
		due = hold_to;
	due += d->delay / 2;
	if (d->jitter)
		due += rnd() % d->jitter;
	if (!extra) { /* in order, unless a rule delays this one */
		if (due < d->last_due)
			due = d->last_due;
		d->last_due = due;
	}
	due += extra;
	p->drop_after_mid = drop;
	timer_at(due, pass_mid, p, 0);
	if (!drop)
		timer_at(due + d->delay - d->delay / 2, arrive, p, 0);
	if (twin && !drop) {
		struct packet *q = malloc(sizeof(*q) + len);

		if (!q)
			die("memory");
		memcpy(q, p, sizeof(*p) + len);
		timer_at(due + twin_later, pass_mid, q, 0);
		timer_at(due + twin_later + d->delay - d->delay / 2, arrive, q, 0);
	}
}

/* Splits a super-segment into frames of the wire, each with its own checksum. */
static void split(int dir, uint8_t *data, size_t len, ns_t now)
{
	static uint8_t out[FRAME_MAX + VNET];
	uint8_t *f = data + VNET;
	unsigned mss = data[4] | data[5] << 8, v4 = f[12] == 8;
	size_t tcp_at = v4 ? 14 + (f[14] & 15) * 4 : 54, head = tcp_at + (f[tcp_at + 12] >> 4) * 4;
	size_t payload = len - VNET - head;
	uint32_t seq = get32(f + tcp_at + 4), id = f[18] << 8 | f[19];

	for (size_t at = 0, i = 0; at < payload; at += mss, i++) {
		size_t n = payload - at < mss ? payload - at : mss, tcp_len = head - tcp_at + n;
		uint8_t *o = out + VNET;
		uint32_t s;

		memset(out, 0, VNET);
		memcpy(o, f, head);
		memcpy(o + head, f + head + at, n);
		if (v4) {
			put16(o + 16, head - 14 + n);
			put16(o + 18, id + i);
			put16(o + 24, 0);
			put16(o + 24, fold(sum16(o + 14, tcp_at - 14, 0)));
			s = sum16(o + 26, 8, 6 + tcp_len);
		} else {
			put16(o + 18, tcp_len);
			s = sum16(o + 22, 32, 6 + tcp_len);
		}
		*(uint32_t *)(o + tcp_at + 4) = htonl(seq + at);
		if (at + n < payload)
			o[tcp_at + 13] &= ~9; /* FIN and PSH on the last one only */
		if (i)
			o[tcp_at + 13] &= ~0x80; /* CWR on the first one only */
		put16(o + tcp_at + 16, 0);
		put16(o + tcp_at + 16, fold(sum16(o + tcp_at, tcp_len, s)));
		enter(dir, out, VNET + head + n, now);
	}
}

static void tap_ready(void *arg, uint32_t events)
{
	static uint8_t buf[FRAME_MAX + VNET];
	int dir = (int)(intptr_t)arg;
	size_t head = offload ? VNET : 0;
	ssize_t n;

	(void)events;
	while ((n = read(hosts[dir].tap_fd, buf, sizeof(buf))) > (ssize_t)head) {
		ns_t now = now_ns();

		capture(dir, buf + head, n - head, now);
		if (offload == 1 && buf[1]) /* offload=2 gives the super-segment to the receiver as it is */
			split(dir, buf, n, now);
		else
			enter(dir, buf, n, now);
	}
	if (n < 0 && errno != EAGAIN)
		die("read from the TAP device");
}

void link_start(void)
{
	const char *line;

	for (int dir = 0; dir < 2; dir++) {
		struct direction *d = &dirs[dir];
		char key[32];
		long long kbit;

		snprintf(key, sizeof(key), "delay_%s", dir ? "ba" : "ab");
		d->delay = scn_int(key, 0) * 1000;
		snprintf(key, sizeof(key), "jitter_%s", dir ? "ba" : "ab");
		d->jitter = scn_int(key, 0) * 1000;
		snprintf(key, sizeof(key), "rate_%s", dir ? "ba" : "ab");
		kbit = scn_int(key, 0);
		d->per_byte_ps = kbit ? 8000000000LL / kbit : 0;
		snprintf(key, sizeof(key), "queue_%s", dir ? "ba" : "ab");
		d->queue_max = scn_int(key, 1000);
		snprintf(key, sizeof(key), "police_%s", dir ? "ba" : "ab");
		d->police_bytes_ns = scn_int(key, 0) / 8e6;
		snprintf(key, sizeof(key), "burst_%s", dir ? "ba" : "ab");
		d->tokens = d->police_burst = d->police_bytes_ns > 0 ? scn_int(key, 20000) : 0;
		d->police_at = t_start;
		watch(hosts[dir].tap_fd, EPOLLIN, tap_ready, (void *)(intptr_t)dir);
	}
	for (int i = 0; (line = scn_nth("rule", i)); i++)
		rule_parse(line);
}

void link_json(FILE *f)
{
	for (int dir = 0; dir < 2; dir++)
		fprintf(f, "\"%s\":{\"delivered\":%ld,\"queue_drops\":%ld,\"policed\":%ld,\"longest_wait\":%.6f},", dir ? "ba" : "ab", dirs[dir].delivered,
			dirs[dir].queue_drops, dirs[dir].policed, dirs[dir].longest_wait / 1e9);
	fprintf(f, "\"happenings\":[");
	for (int i = 0; i < n_happenings && i < 5000; i++) {
		struct happening *h = &happenings[i];

		fprintf(f, "%s[%.6f,\"%s\",\"%s\",%d,%u,%u,%u]", i ? "," : "", h->at / 1e9, h->dir ? "ba" : "ab", action_names[h->action],
			h->flow, h->seq, h->len, h->flags);
	}
	fprintf(f, "]");
}
