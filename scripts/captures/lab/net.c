/* The two hosts: a network namespace and a TAP device each, with fixed addresses and permanent neighbours, so that
 * nothing but the experiment's TCP is on the link. rtnetlink is spoken directly: a guest has no ip(8). */
#define _GNU_SOURCE
#include "lab.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

struct host hosts[2];
int offload, ipv6;

void host_enter(int side)
{
	if (setns(hosts[side].ns_fd, CLONE_NEWNET))
		die("setns");
}

void sysctl_set(const char *name, const char *value)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "/proc/sys/%s", name);
	for (char *p = path + 10; *p; p++)
		if (*p == '.')
			*p = '/';
	fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		fprintf(stderr, "lab: sysctl %s not set: %s\n", name, strerror(errno));
	if (fd >= 0)
		close(fd);
}

/* One netlink request under construction. */
struct nl {
	struct nlmsghdr h;
	char body[512];
};

static void *nl_begin(struct nl *m, int type, int flags, size_t fixed)
{
	memset(m, 0, sizeof(*m));
	m->h.nlmsg_type = type;
	m->h.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	m->h.nlmsg_len = NLMSG_LENGTH(fixed);
	return m->body;
}

static struct rtattr *nl_attr(struct nl *m, int type, const void *data, size_t len)
{
	struct rtattr *a = (void *)((char *)m + NLMSG_ALIGN(m->h.nlmsg_len));

	a->rta_type = type;
	a->rta_len = RTA_LENGTH(len);
	if (len)
		memcpy(RTA_DATA(a), data, len);
	m->h.nlmsg_len = NLMSG_ALIGN(m->h.nlmsg_len) + RTA_ALIGN(a->rta_len);
	return a;
}

static void nl_send(struct nl *m, const char *what)
{
	char reply[1024];
	struct nlmsgerr *e = (void *)(reply + NLMSG_HDRLEN);
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	if (fd < 0 || send(fd, m, m->h.nlmsg_len, 0) < 0 || recv(fd, reply, sizeof(reply), 0) < NLMSG_HDRLEN + 4)
		die(what);
	if (e->error) {
		errno = -e->error;
		die(what);
	}
	close(fd);
}

static void address(int side, int family, uint8_t *out)
{
	char text[64];

	snprintf(text, sizeof(text), family == AF_INET ? "10.77.0.%d" : "fd77::%d", side + 1);
	inet_pton(family, text, out);
}

static void link_up(int ifindex, int loopback)
{
	struct nl m;
	struct ifinfomsg *i = nl_begin(&m, RTM_NEWLINK, 0, sizeof(*i));
	uint32_t qlen = 10000, one = 1, mtu = scn_int("mtu", 1500);

	i->ifi_index = ifindex;
	i->ifi_flags = i->ifi_change = IFF_UP;
	if (!loopback) {
		nl_attr(&m, IFLA_MTU, &mtu, 4);
		nl_attr(&m, IFLA_TXQLEN, &qlen, 4);
		if (!offload)
			nl_attr(&m, IFLA_GSO_MAX_SEGS, &one, 4);
	}
	nl_send(&m, "link up");
}

static void address_add(int side, int family)
{
	struct nl m;
	struct ifaddrmsg *a = nl_begin(&m, RTM_NEWADDR, NLM_F_CREATE, sizeof(*a));
	uint8_t ip[16];
	size_t len = family == AF_INET ? 4 : 16;

	address(side, family, ip);
	a->ifa_family = family;
	a->ifa_prefixlen = family == AF_INET ? 24 : 64;
	a->ifa_flags = IFA_F_NODAD;
	a->ifa_index = hosts[side].ifindex;
	nl_attr(&m, IFA_LOCAL, ip, len);
	nl_attr(&m, IFA_ADDRESS, ip, len);
	nl_send(&m, "address");
}

static void neighbour_add(int side, int family)
{
	struct nl m;
	struct ndmsg *n = nl_begin(&m, RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE, sizeof(*n));
	uint8_t ip[16], mac[6] = { 2, 0x77, 0, 0, 0, 2 - side };

	address(!side, family, ip);
	n->ndm_family = family;
	n->ndm_ifindex = hosts[side].ifindex;
	n->ndm_state = NUD_PERMANENT;
	nl_attr(&m, NDA_DST, ip, family == AF_INET ? 4 : 16);
	nl_attr(&m, NDA_LLADDR, mac, 6);
	nl_send(&m, "neighbour");
}

/* A route to the other host with metrics, as `ip route ... quickack 1 initcwnd N` makes it. */
static void route_metrics(int side, int family)
{
	static const struct { const char *name; int type; } known[] = {
		{ "quickack", RTAX_QUICKACK }, { "initcwnd", RTAX_INITCWND }, { "rto_min", RTAX_RTO_MIN }, { "advmss", RTAX_ADVMSS },
	};
	struct nl m;
	struct rtmsg *r = nl_begin(&m, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, sizeof(*r));
	struct rtattr *metrics;
	uint8_t ip[16];
	char start[256];
	int any = 0;
	uint32_t index = hosts[side].ifindex, locks = 0;

	address(!side, family, ip);
	r->rtm_family = family;
	r->rtm_dst_len = family == AF_INET ? 32 : 128;
	r->rtm_table = RT_TABLE_MAIN;
	r->rtm_protocol = RTPROT_STATIC;
	r->rtm_scope = RT_SCOPE_LINK;
	r->rtm_type = RTN_UNICAST;
	nl_attr(&m, RTA_DST, ip, family == AF_INET ? 4 : 16);
	nl_attr(&m, RTA_OIF, &index, 4);
	metrics = nl_attr(&m, RTA_METRICS, NULL, 0);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		uint32_t v;

		snprintf(start, sizeof(start), "route_%s_%c", known[i].name, "ab"[side]);
		v = scn_int(start, 0);
		if (!v)
			continue;
		any = 1;
		nl_attr(&m, known[i].type, &v, 4);
		if (known[i].type == RTAX_RTO_MIN)
			locks |= 1u << RTAX_RTO_MIN;
	}
	if (locks)
		nl_attr(&m, RTAX_LOCK, &locks, 4);
	metrics->rta_len = (char *)&m + NLMSG_ALIGN(m.h.nlmsg_len) - (char *)metrics;
	if (any)
		nl_send(&m, "route");
}

static void tap_make(int side)
{
	struct ifreq r;
	struct host *h = &hosts[side];
	int hdr = 10;

	memset(&r, 0, sizeof(r));
	h->tap_fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (h->tap_fd < 0)
		die("/dev/net/tun");
	strcpy(r.ifr_name, "eth0");
	r.ifr_flags = IFF_TAP | IFF_NO_PI | (offload ? IFF_VNET_HDR : 0);
	if (ioctl(h->tap_fd, TUNSETIFF, &r))
		die("TUNSETIFF");
	if (offload && ioctl(h->tap_fd, TUNSETVNETHDRSZ, &hdr))
		die("TUNSETVNETHDRSZ");
	if (ioctl(h->tap_fd, TUNSETOFFLOAD, offload ? TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 : 0))
		die("TUNSETOFFLOAD");
	r.ifr_hwaddr.sa_family = 1;
	memcpy(r.ifr_hwaddr.sa_data, (uint8_t[]){ 2, 0x77, 0, 0, 0, 1 + side }, 6);
	if (ioctl(h->tap_fd, SIOCSIFHWADDR, &r))
		die("SIOCSIFHWADDR");
	h->ifindex = if_nametoindex("eth0");
}

static void host_sysctls(int side)
{
	const char *line;
	char key[16];

	/* The defaults of a machine with plenty of memory, whatever the guest has. */
	sysctl_set("net.ipv4.tcp_rmem", "4096 131072 6291456");
	sysctl_set("net.ipv4.tcp_wmem", "4096 16384 4194304");
	sysctl_set("net.ipv4.tcp_no_metrics_save", "1");
	snprintf(key, sizeof(key), "sysctl_%c", "ab"[side]);
	for (int i = 0; (line = scn_nth(key, i)); i++) {
		char name[256], *value;

		snprintf(name, sizeof(name), "%s", line);
		value = strchr(name, ' ');
		if (!value)
			die("sysctl line without a value");
		*value++ = 0;
		sysctl_set(name, value);
	}
}

void hosts_make(void)
{
	offload = scn_int("offload", 0);
	ipv6 = scn_int("ipv6", 0);
	for (int side = 0; side < 2; side++) {
		if (unshare(CLONE_NEWNET))
			die("unshare");
		hosts[side].ns_fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
		if (hosts[side].ns_fd < 0)
			die("/proc/thread-self/ns/net");
		if (!access("/proc/sys/net/ipv6", F_OK)) {
			sysctl_set("net.ipv6.conf.all.accept_ra", "0");
			sysctl_set("net.ipv6.conf.default.router_solicitations", "0");
			sysctl_set("net.ipv6.conf.default.dad_transmits", "0");
			sysctl_set("net.ipv6.conf.default.addr_gen_mode", "1");
			if (!ipv6)
				sysctl_set("net.ipv6.conf.default.disable_ipv6", "1");
		}
		link_up(1, 1);
		tap_make(side);
		link_up(hosts[side].ifindex, 0);
		for (int v6 = 0; v6 <= ipv6; v6++) {
			int family = v6 ? AF_INET6 : AF_INET;

			address_add(side, family);
			neighbour_add(side, family);
			route_metrics(side, family);
		}
		host_sysctls(side);
	}
}
