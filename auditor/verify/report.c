/* The verdict on standard output. */
#include <inttypes.h>
#include <stdio.h>

#include "base64.h"
#include "text.h"

#include "report.h"

/* Any bytes as a JSON string; a name that is not UTF-8 loses what is not ASCII. */
static void
print_string(FILE *out, const char *text)
{
	putc('"', out);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < 0x20 || c >= 0x7f)
			fprintf(out, "\\u%04x", c < 0x80 ? c : 0xfffd);
		else
			putc(c, out);
	}
	putc('"', out);
}

static void
print_strangers(FILE *out, const struct segments *strangers)
{
	fputs(",\"strangers\":[", out);
	for (size_t i = 0; strangers && i < strangers->stranger_count; i++) {
		if (i > 0)
			putc(',', out);
		print_string(out, strangers->strangers[i]);
	}
	putc(']', out);
}

/* The file of a fault. */
static void
name_place(char name[CHAIN_NAME], const struct walk_fault *fault)
{
	chain_segment_name(name, fault->segment);
	if (fault->anchors)
		text_copy(name, CHAIN_NAME, SEGMENTS_ANCHORS);
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

static void
print_witnesses(FILE *out, const struct witness_list *witnesses)
{
	if (witnesses->count == 0)
		return;
	fprintf(out, ",\"cosigned\":%" PRIu64 ",\"witnesses\":[", witness_quorum_size(witnesses));
	for (unsigned i = 0; i < witnesses->count; i++) {
		fputs(i > 0 ? ",{\"name\":" : "{\"name\":", out);
		print_string(out, witnesses->list[i].vkey.name);
		fprintf(out, ",\"cosigned\":%" PRIu64 "}", witnesses->list[i].size);
	}
	putc(']', out);
}

void
report_json(FILE *out, const struct verify *verify, const struct segments *strangers,
    const struct witness_list *witnesses)
{
	const struct walk *walk = &verify->walk;
	char head[65], root[BASE64_SIZE(32)], segment[CHAIN_NAME];

	text_hex(head, walk->chain.head, 32);
	base64_encode(root, walk->chain.root, 32);
	fprintf(out, "{\"valid\":%s,\"verdict\":\"%s\",\"entries\":%" PRIu64 ",\"seq\":%" PRIu64 ",\"reason\":",
	    verify->verdict == VERDICT_OK ? "true" : "false", verify->word, walk->chain.next_seq, subject(verify));
	print_string(out, verify->reason);
	fprintf(out, ",\"key_trusted\":%s,\"head_known\":%s,\"head\":\"%s\",\"root\":\"%s\",\"seals\":%" PRIu64
	    ",\"segments\":%" PRIu64 ",\"running\":%zu,\"rekeys\":%" PRIu64, walk->chain.key_known ? "true" : "false",
	    verify->note_count > 0 || verify->challenge ? "true" : "false", head, root, walk->chain.next_seal,
	    walk->segments, dispatch_running(&verify->dispatch), walk->chain.rekeys);
	if (walk->fault.why) {
		name_place(segment, &walk->fault);
		fprintf(out, ",\"segment\":\"%s\",\"line\":%" PRIu64 ",\"offset\":%" PRIu64, segment, walk->fault.line,
		    walk->fault.offset);
	}
	print_strangers(out, strangers);
	print_witnesses(out, witnesses);
	fputs("}\n", out);
}

static void
tell_witnesses(FILE *out, const struct verify *verify, const struct witness_list *witnesses)
{
	uint64_t size = witness_quorum_size(witnesses);

	for (unsigned i = 0; i < witnesses->count; i++)
		fprintf(out, "witness %s has cosigned %" PRIu64 " lines\n", witnesses->list[i].vkey.name,
		    witnesses->list[i].size);
	if (witnesses->count > 0 && !witnesses->quorum.nobody)
		fprintf(out, "a quorum has cosigned %" PRIu64 " of %" PRIu64 " lines\n", size,
		    verify->walk.chain.next_seq);
}

/* Heads that the log should have come to. */
static void
tell_missing(FILE *out, const struct verify *verify)
{
	uint64_t lines = verify->walk.chain.next_seq;

	for (size_t i = 0; !verify->walk.fault.why && i < verify->note_count; i++)
		if (verify->notes[i].size > lines)
			fprintf(out, "a remembered head has %" PRIu64 " lines, this log %" PRIu64 "\n",
			    verify->notes[i].size, lines);
}

void
report_text(FILE *out, const struct verify *verify, const struct segments *strangers,
    const struct witness_list *witnesses)
{
	const struct walk *walk = &verify->walk;
	char segment[CHAIN_NAME];

	chain_segment_name(segment, walk->segment);
	if (walk->fault.why)
		name_place(segment, &walk->fault);
	fprintf(out, "%s%s%s\n", verify->word, verify->reason[0] ? ": " : "", verify->reason);
	if (walk->fault.why)
		fprintf(out, "first bad line: %s line %" PRIu64 " at byte %" PRIu64 " (seq %" PRIu64 ")\n", segment,
		    walk->fault.line, walk->fault.offset, walk->fault.seq);
	else if (walk->torn > 0)
		fprintf(out, "%" PRIu64 " bytes without a line end: %s at byte %" PRIu64 "\n", walk->torn, segment,
		    walk->good_bytes);
	else if (walk->chain.unsealed > 0)
		fprintf(out, "no seal covers lines %" PRIu64 " to %" PRIu64 "\n",
		    walk->chain.next_seq - walk->chain.unsealed, walk->chain.next_seq - 1);
	tell_missing(out, verify);
	fprintf(out, "%" PRIu64 " lines hold, %" PRIu64 " seals, %" PRIu64 " segments; key %s\n", walk->chain.next_seq,
	    walk->chain.next_seal, walk->segments,
	    walk->chain.key_known ? "trusted" : "not trusted: give --key or --trust");
	if (verify->verdict == VERDICT_OK && verify->proven == 0 && verify->note_count == 0 && !verify->challenge)
		fprintf(out, "whole as far as it goes: only a remembered head would show a cut at a seal\n");
	if (verify->proven > 0)
		fprintf(out, "%" PRIu64 " records lead to its root\n", verify->proven);
	if (walk->chain.cut.seq > 0)
		fprintf(out, "lines before %" PRIu64 " were removed; the log says so\n", walk->chain.cut.seq);
	tell_witnesses(out, verify, witnesses);
	if (walk->chain.rekeys > 0)
		fprintf(out, "%" PRIu64 " times the key was lost and the operator gave a new one\n",
		    walk->chain.rekeys);
	if (dispatch_running(&verify->dispatch) > 0)
		fprintf(out, "%zu runs have no end on record\n", dispatch_running(&verify->dispatch));
	for (size_t i = 0; strangers && i < strangers->stranger_count; i++) {
		fprintf(out, "not part of the log: ");
		print_string(out, strangers->strangers[i]);
		putc('\n', out);
	}
}
