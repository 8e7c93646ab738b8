/* Which witnesses are enough together. */
#include <string.h>

#include "text.h"

#include "quorum.h"

/* --- the tree ----------------------------------------------------------------------- */

static struct quorum_node *
add_node(struct quorum *quorum, unsigned threshold)
{
	quorum->nodes[quorum->count] = (struct quorum_node){ .threshold = threshold, .witness = quorum->witnesses };
	return &quorum->nodes[quorum->count++];
}

bool
quorum_add_witness(struct quorum *quorum)
{
	if (quorum->witnesses == QUORUM_WITNESSES)
		return false;
	add_node(quorum, 0);
	quorum->witnesses++;
	return true;
}

void
quorum_of_all(struct quorum *quorum, unsigned threshold)
{
	for (unsigned i = 0; i < quorum->count; i++)
		quorum->nodes[i].group = quorum->count;
	quorum->top = quorum->count;
	quorum->decided = true;
	add_node(quorum, threshold > 0 ? threshold : quorum->witnesses);
}

bool
quorum_is_met(const struct quorum *quorum, const bool has[QUORUM_WITNESSES])
{
	unsigned held[QUORUM_NODES] = { 0 };

	/* Members come before their group: one pass. */
	for (unsigned i = 0; !quorum->nobody && i <= quorum->top; i++) {
		const struct quorum_node *node = &quorum->nodes[i];
		bool holds = node->threshold > 0 ? held[i] >= node->threshold : has[node->witness];

		if (i == quorum->top)
			return holds;
		held[node->group] += holds;
	}
	return quorum->nobody;
}

bool
quorum_knows_log(const struct quorum *quorum, const char *origin)
{
	for (unsigned i = 0; i < quorum->log_count; i++)
		if (strcmp(quorum->logs[i], origin) == 0)
			return true;
	return quorum->log_count == 0;
}

/* --- the file ----------------------------------------------------------------------- */

struct reading {
	struct quorum *quorum;
	const char *names[QUORUM_NODES]; /* how the file calls its nodes; in its text */
	const char *(*add)(void *context, const char *vkey);
	void *context;
};

/* Words are parted by blanks and tabs; "" behind the last one. */
static char *
next_word(char **words)
{
	char *word = *words + strspn(*words, " \t");

	*words = word + strcspn(word, " \t");
	if (**words)
		*(*words)++ = '\0';
	return word;
}

/* The number of a node, or count when nothing has that name. */
static unsigned
find_name(const struct reading *reading, const char *name)
{
	unsigned i = 0;

	while (i < reading->quorum->count && strcmp(reading->names[i], name) != 0)
		i++;
	return i;
}

static bool
is_new_name(const struct reading *reading, const char *name)
{
	return *name && strcmp(name, "none") != 0 && find_name(reading, name) == reading->quorum->count;
}

/* log VKEY [URL]: the name before the first "+" is the log's origin. */
static const char *
read_log(struct reading *reading, char *words)
{
	char *vkey = next_word(&words), *plus = strchr(vkey, '+');
	struct quorum *quorum = reading->quorum;

	next_word(&words); /* a URL */
	if (*next_word(&words) || !plus || plus == vkey)
		return "a log is: log VKEY [URL]";
	*plus = '\0';
	if (quorum->log_count == QUORUM_LOGS || !text_copy(quorum->logs[quorum->log_count], LIMIT_ORIGIN, vkey))
		return "more logs than fit, or a name that is too long";
	quorum->log_count++;
	return NULL;
}

/* witness NAME VKEY [URL] */
static const char *
read_witness(struct reading *reading, char *words)
{
	char *name = next_word(&words), *vkey = next_word(&words);

	next_word(&words); /* a URL */
	if (*next_word(&words) || !*vkey)
		return "a witness is: witness NAME VKEY [URL]";
	if (!is_new_name(reading, name))
		return "a name that is taken";
	reading->names[reading->quorum->count] = name;
	if (!quorum_add_witness(reading->quorum))
		return "more witnesses than fit";
	return reading->add(reading->context, vkey);
}

/* all, any or a number of members from 1 to all of them; 0: none of these. */
static unsigned
read_threshold(const char *word, unsigned members)
{
	uint64_t number;

	if (strcmp(word, "all") == 0)
		return members;
	if (strcmp(word, "any") == 0)
		return members > 0;
	return text_number(word, members, &number) ? (unsigned)number : 0;
}

/* group NAME all|any|NUMBER MEMBER...: witnesses and groups above it, each of which is nobody's so far. */
static const char *
read_group(struct reading *reading, char *words)
{
	char *name = next_word(&words), *threshold = next_word(&words);
	struct quorum *quorum = reading->quorum;
	unsigned members = 0;

	if (!is_new_name(reading, name))
		return "a group without a name, or with one that is taken";
	if (quorum->groups == QUORUM_GROUPS - 1)
		return "more groups than fit";
	for (char *member; *(member = next_word(&words)); members++) {
		unsigned i = find_name(reading, member);

		if (i == quorum->count || quorum->nodes[i].group != 0)
			return "a member that stands not above its group, or is a member already";
		quorum->nodes[i].group = quorum->count;
	}
	members = read_threshold(threshold, members);
	if (members == 0)
		return "a group needs a number of members from 1 to all of them";
	reading->names[quorum->count] = name;
	quorum->groups++;
	add_node(quorum, members);
	return NULL;
}

/* quorum NAME */
static const char *
read_quorum(struct reading *reading, char *words)
{
	char *name = next_word(&words);
	struct quorum *quorum = reading->quorum;

	if (quorum->decided)
		return "a second quorum";
	quorum->top = find_name(reading, name);
	quorum->nobody = strcmp(name, "none") == 0;
	quorum->decided = true;
	if (*next_word(&words) || (quorum->top == quorum->count && !quorum->nobody))
		return "the quorum is one name that stands above it";
	return NULL;
}

static const char *
read_line(struct reading *reading, char *words)
{
	char *word = next_word(&words);

	if (word[0] == '\0' || word[0] == '#')
		return NULL;
	if (strcmp(word, "log") == 0)
		return read_log(reading, words);
	if (strcmp(word, "witness") == 0)
		return read_witness(reading, words);
	if (strcmp(word, "group") == 0)
		return read_group(reading, words);
	if (strcmp(word, "quorum") == 0)
		return read_quorum(reading, words);
	return "a line that is none of a policy";
}

/* Tabs and newlines are the only control characters. */
static bool
has_control(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (((unsigned char)text[i] < ' ' && text[i] != '\t' && text[i] != '\n') || text[i] == 0x7f)
			return true;
	return false;
}

const char *
quorum_read(struct quorum *quorum, char *text, size_t length,
    const char *(*add)(void *context, const char *vkey), void *context, unsigned *line)
{
	struct reading reading = { .quorum = quorum, .add = add, .context = context };
	const char *why = NULL;

	*line = 0;
	if (has_control(text, length))
		return "a control character";
	for (char *words; !why && (words = strsep(&text, "\n"));) {
		++*line;
		why = read_line(&reading, words);
	}
	return why || quorum->decided ? why : "it has no quorum";
}
