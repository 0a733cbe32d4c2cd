/* The peer of benches/link.py: a plain forwarder between two TAP devices, one packet a read, no queue, no timer.
 *
 *   forwarder NETNS_A NETNS_B
 *
 * makes tap0 in each of the two namespaces of ip-netns(8), prints "ready", forwards until SIGTERM, and then prints
 * the frames that it forwarded and its CPU seconds in user mode and in the kernel. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

static volatile sig_atomic_t over;

static void end(int signal)
{
	(void)signal;
	over = 1;
}

static int must(int result, const char *what)
{
	if (result < 0) {
		perror(what);
		exit(1);
	}
	return result;
}

static int tap_in(const char *name)
{
	char path[256];
	struct ifreq request = {0};
	snprintf(path, sizeof path, "/run/netns/%s", name);
	int namespace = must(open(path, O_RDONLY), path);
	must(setns(namespace, CLONE_NEWNET), "setns");
	close(namespace);
	int tap = must(open("/dev/net/tun", O_RDWR | O_NONBLOCK), "/dev/net/tun");
	request.ifr_flags = IFF_TAP | IFF_NO_PI;
	strcpy(request.ifr_name, "tap0");
	must(ioctl(tap, TUNSETIFF, &request), "TUNSETIFF");
	return tap;
}

int main(int argc, char **argv)
{
	static char frame[65536];
	unsigned long frames = 0;
	struct rusage used;
	if (argc != 3) {
		fprintf(stderr, "usage: forwarder NETNS_A NETNS_B\n");
		return 2;
	}
	struct sigaction action = {.sa_handler = end};
	sigaction(SIGTERM, &action, NULL);
	struct pollfd taps[2] = {
		{.fd = tap_in(argv[1]), .events = POLLIN},
		{.fd = tap_in(argv[2]), .events = POLLIN},
	};
	puts("ready");
	fflush(stdout);
	while (!over) {
		/* Not for ever: a signal may come just before. */
		if (poll(taps, 2, 100) <= 0)
			continue;
		for (int side = 0; side < 2; side++) {
			if (!(taps[side].revents & POLLIN))
				continue;
			ssize_t length = read(taps[side].fd, frame, sizeof frame);
			if (length > 0 && write(taps[1 - side].fd, frame, length) > 0)
				frames++;
		}
	}
	getrusage(RUSAGE_SELF, &used);
	printf("%lu %ld.%06ld %ld.%06ld\n", frames, (long)used.ru_utime.tv_sec, (long)used.ru_utime.tv_usec,
	       (long)used.ru_stime.tv_sec, (long)used.ru_stime.tv_usec);
	return 0;
}
