/*
 * ring_buffer.c - keep the last N lines of standard input.
 *
 * Works like a very small "tail": lines are copied into a ring of slots, and
 * the oldest slot is reused once the ring is full.
 *
 *     cc -std=c99 -Wall -Wextra -o ring_buffer ring_buffer.c
 *     ./ring_buffer 5 < notes.txt
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_SLOTS 10u
#define MAX_SLOTS     65536u

struct slot {
	char   *text;     /* not terminated: may contain NUL bytes */
	size_t  length;
	size_t  capacity;
};

struct ring {
	struct slot *slots;
	size_t       count;   /* number of slots        */
	size_t       next;    /* slot to overwrite next */
	size_t       used;    /* slots holding a line   */
};

static int ring_init(struct ring *r, size_t count)
{
	r->slots = calloc(count, sizeof *r->slots);
	r->count = count;
	r->next = 0;
	r->used = 0;
	return r->slots != NULL ? 0 : -1;
}

static void ring_free(struct ring *r)
{
	for (size_t i = 0; i < r->count; i++)
		free(r->slots[i].text);
	free(r->slots);
	memset(r, 0, sizeof *r);
}

/* Append one byte, doubling the slot when it is full. */
static int slot_push(struct slot *s, char byte)
{
	if (s->length == s->capacity) {
		size_t bigger = s->capacity ? s->capacity * 2 : 64;
		char *p = realloc(s->text, bigger);

		if (p == NULL)
			return -1;
		s->text = p;
		s->capacity = bigger;
	}
	s->text[s->length++] = byte;
	return 0;
}

/* Read one line into the ring.  1 = line read, 0 = end of file, -1 = error. */
static int ring_read_line(struct ring *r, FILE *in)
{
	struct slot *s = &r->slots[r->next];
	int ch = getc(in);

	if (ch == EOF)
		return ferror(in) ? -1 : 0;

	s->length = 0;
	for (; ch != EOF; ch = getc(in)) {
		if (slot_push(s, (char)ch) != 0)
			return -1;
		if (ch == '\n')
			break;
	}
	r->next = (r->next + 1) % r->count;
	if (r->used < r->count)
		r->used++;
	return 1;
}

static void ring_print(const struct ring *r, FILE *out)
{
	size_t first = (r->next + r->count - r->used) % r->count;

	for (size_t i = 0; i < r->used; i++) {
		const struct slot *s = &r->slots[(first + i) % r->count];
		fwrite(s->text, 1, s->length, out);
	}
}

int main(int argc, char **argv)
{
	unsigned long wanted = DEFAULT_SLOTS;
	struct ring ring;
	int status;

	if (argc > 1) {
		char *end;

		errno = 0;
		wanted = strtoul(argv[1], &end, 10);
		if (errno != 0 || *end != '\0' || wanted == 0 || wanted > MAX_SLOTS) {
			fprintf(stderr, "usage: %s [1..%u]\n", argv[0], MAX_SLOTS);
			return 2;
		}
	}
	if (ring_init(&ring, wanted) != 0) {
		perror("calloc");
		return 1;
	}
	while ((status = ring_read_line(&ring, stdin)) > 0)
		;
	if (status == 0)
		ring_print(&ring, stdout);
	else
		fprintf(stderr, "%s: read failed\n", argv[0]);
	ring_free(&ring);
	return status == 0 ? 0 : 1;
}
