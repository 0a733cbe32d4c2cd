/* The kernel's own counters (what nstat shows) of each host, as differences over the experiment. */
#define _GNU_SOURCE
#include "lab.h"
#include <stdlib.h>
#include <string.h>

struct counter {
	char name[64];
	long long begin;
};
static struct counter *list[2];
static int count[2];

/* Both files hold pairs of lines: "Group: name name", "Group: value value". */
static void read_file(const char *path, void (*each)(void *, const char *, long long), void *arg)
{
	char *names = NULL, *values = NULL;
	size_t n1 = 0, n2 = 0;
	FILE *f = fopen(path, "r");

	if (!f)
		die(path);
	while (getline(&names, &n1, f) > 0 && getline(&values, &n2, f) > 0) {
		char *s1, *s2, *group = strtok_r(names, ": \n", &s1), *name, *value;

		strtok_r(values, " \n", &s2);
		while ((name = strtok_r(NULL, " \n", &s1)) && (value = strtok_r(NULL, " \n", &s2))) {
			char full[64];

			snprintf(full, sizeof(full), "%s%s", group, name);
			each(arg, full, atoll(value));
		}
	}
	free(names);
	free(values);
	fclose(f);
}

static void each_file(int side, void (*each)(void *, const char *, long long), void *arg)
{
	host_enter(side);
	read_file("/proc/thread-self/net/snmp", each, arg);
	read_file("/proc/thread-self/net/netstat", each, arg);
}

static void remember(void *arg, const char *name, long long value)
{
	int side = *(int *)arg;

	list[side] = realloc(list[side], (count[side] + 1) * sizeof(struct counter));
	if (!list[side])
		die("memory");
	snprintf(list[side][count[side]].name, 64, "%s", name);
	list[side][count[side]++].begin = value;
}

void counters_begin(void)
{
	for (int side = 0; side < 2; side++)
		each_file(side, remember, &side);
}

struct printer {
	FILE *f;
	int side, at, first;
};

static void print(void *arg, const char *name, long long value)
{
	struct printer *p = arg;
	struct counter *c = &list[p->side][p->at++];
	int gauge = strstr(name, "CurrEstab") || strstr(name, "RtoM") || strstr(name, "MaxConn") || !strncmp(name, "IpF", 3);

	if (gauge || value == c->begin || !strncmp(name, "Icmp", 4))
		return;
	fprintf(p->f, "%s\"%s\":%lld", p->first ? "" : ",", name, value - c->begin);
	p->first = 0;
}

void counters_json(FILE *f)
{
	for (int side = 0; side < 2; side++) {
		struct printer p = { f, side, 0, 1 };

		fprintf(f, "%s\"%c\":{", side ? "," : "", "ab"[side]);
		each_file(side, print, &p);
		fputc('}', f);
	}
}
