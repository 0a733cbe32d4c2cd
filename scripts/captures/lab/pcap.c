/* Capture files: classic pcap, nanosecond or microsecond time stamps, one for each capture point. */
#include "lab.h"
#include <stdlib.h>
#include <string.h>

static FILE *files[POINTS];
static size_t snap;
static int micro;

static void put32(FILE *f, uint32_t v)
{
	fwrite(&v, 4, 1, f);
}

void captures_open(const char *prefix)
{
	static const char *const names[POINTS] = { "a", "b", "mid" };
	const char *want = scn_str("points", "a,b");

	snap = scn_int("snap", 96);
	micro = !strcmp(scn_str("stamp", "ns"), "us");
	for (int i = 0; i < POINTS; i++) {
		char path[512];

		if (!strstr(want, names[i]))
			continue;
		if (i == AT_A && !strchr(want, 'a'))
			continue;
		snprintf(path, sizeof(path), "%s.%s.pcap", prefix, names[i]);
		files[i] = fopen(path, "wb");
		if (!files[i])
			die(path);
		put32(files[i], micro ? 0xa1b2c3d4u : 0xa1b23c4du);
		put32(files[i], 4u << 16 | 2); /* version 2.4 */
		put32(files[i], 0);
		put32(files[i], 0);
		put32(files[i], snap);
		put32(files[i], 1); /* Ethernet */
	}
}

void capture(int point, const uint8_t *frame, size_t len, ns_t when)
{
	FILE *f = files[point];
	size_t n = len < snap ? len : snap;

	if (!f)
		return;
	put32(f, when / 1000000000);
	put32(f, micro ? when % 1000000000 / 1000 : when % 1000000000);
	put32(f, n);
	put32(f, len);
	fwrite(frame, n, 1, f);
}

void captures_close(void)
{
	for (int i = 0; i < POINTS; i++)
		if (files[i] && fclose(files[i]))
			die("capture file");
}
