/* The verdict on standard output. */
#include <inttypes.h>
#include <stdio.h>

#include "base64.h"
#include "text.h"

#include "report.h"

/* Any bytes as a JSON string; a name that is not UTF-8 loses what is not ASCII. */
static void
print_string(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			printf("\\%c", c);
		else if (c < 0x20 || c >= 0x7f)
			printf("\\u%04x", c < 0x80 ? c : 0xfffd);
		else
			putchar(c);
	}
	putchar('"');
}

static void
print_strangers(const struct segments *strangers)
{
	printf(",\"strangers\":[");
	for (size_t i = 0; strangers && i < strangers->stranger_count; i++) {
		if (i > 0)
			putchar(',');
		print_string(strangers->strangers[i]);
	}
	putchar(']');
}

/* The record the verdict is about: the first that does not hold, else the last. */
static uint64_t
subject(const struct verify *verify)
{
	const struct walk *walk = &verify->walk;

	if (walk->fault.why)
		return walk->fault.seq;
	return walk->chain.next_seq > 0 ? walk->chain.next_seq - 1 : 0;
}

void
report_json(const struct verify *verify, const struct segments *strangers)
{
	const struct walk *walk = &verify->walk;
	char head[65], root[BASE64_SIZE(32)], segment[CHAIN_NAME];

	text_hex(head, walk->chain.head, 32);
	base64_encode(root, walk->chain.root, 32);
	printf("{\"valid\":%s,\"verdict\":\"%s\",\"entries\":%" PRIu64 ",\"seq\":%" PRIu64 ",\"reason\":",
	    verify->verdict == VERDICT_OK ? "true" : "false", verify->word, walk->chain.next_seq, subject(verify));
	print_string(verify->reason);
	printf(",\"key_trusted\":%s,\"head\":\"%s\",\"root\":\"%s\",\"seals\":%" PRIu64 ",\"segments\":%" PRIu64
	    ",\"running\":%zu", walk->chain.key_known ? "true" : "false", head, root, walk->chain.next_seal,
	    walk->segments, dispatch_running(&verify->dispatch));
	if (walk->fault.why) {
		chain_segment_name(segment, walk->fault.segment);
		printf(",\"segment\":\"%s\",\"line\":%" PRIu64 ",\"offset\":%" PRIu64, segment, walk->fault.line,
		    walk->fault.offset);
	}
	print_strangers(strangers);
	puts("}");
}

void
report_text(const struct verify *verify, const struct segments *strangers)
{
	const struct walk *walk = &verify->walk;
	char segment[CHAIN_NAME];

	chain_segment_name(segment, walk->fault.why ? walk->fault.segment : walk->segment);
	printf("%s%s%s\n", verify->word, verify->reason[0] ? ": " : "", verify->reason);
	if (walk->fault.why)
		printf("first bad line: %s line %" PRIu64 " at byte %" PRIu64 " (seq %" PRIu64 ")\n", segment,
		    walk->fault.line, walk->fault.offset, walk->fault.seq);
	else if (walk->torn > 0)
		printf("%" PRIu64 " bytes without a line end: %s at byte %" PRIu64 "\n", walk->torn, segment,
		    walk->good_bytes);
	printf("%" PRIu64 " lines hold, %" PRIu64 " seals, %" PRIu64 " segments; key %s\n", walk->chain.next_seq,
	    walk->chain.next_seal, walk->segments,
	    walk->chain.key_known ? "trusted" : "not trusted: give --key or --trust");
	if (dispatch_running(&verify->dispatch) > 0)
		printf("%zu runs have no end on record\n", dispatch_running(&verify->dispatch));
	for (size_t i = 0; strangers && i < strangers->stranger_count; i++) {
		printf("not part of the log: ");
		print_string(strangers->strangers[i]);
		putchar('\n');
	}
}
