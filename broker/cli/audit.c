/* audit-verify, audit head, audit rotate, audit note, audit prove. */
#include <sys/random.h>

#include <stdint.h>
#include <string.h>

#include "json.h"
#include "text.h"

#include "audit_files.h"
#include "cli.h"
#include "commands.h"
#include "fault.h"
#include "output.h"
#include "session.h"
#include "view.h"

#define WORDS 120

/* The words for agent-safe-audit-verify, words[0] left free. */
struct words {
	char *list[WORDS];
	size_t count;
};

static void
add(struct words *words, const char *word)
{
	if (words->count + 8 > WORDS)
		fault_die("invalid_input", "too many options");
	words->list[words->count++] = (char *)(uintptr_t)word;
}

/* "--name value" when it was given. */
static void
add_option(struct words *words, const struct cli *cli, enum option option, const char *name)
{
	if (!cli_has(cli, option))
		return;
	add(words, name);
	add(words, cli_value(cli, option));
}

/* --key or --trust as given; else the key that the broker told, if any. */
static void
add_key(struct words *words, const struct cli *cli, const char *told)
{
	if (cli_has(cli, OPTION_KEY) && cli_has(cli, OPTION_TRUST))
		fault_die("invalid_input", "--key and --trust exclude each other");
	add_option(words, cli, OPTION_KEY, "--key");
	add_option(words, cli, OPTION_TRUST, "--trust");
	add_option(words, cli, OPTION_OPERATOR_KEY, "--operator-key");
	if (cli_has(cli, OPTION_KEY) || cli_has(cli, OPTION_TRUST) || !told)
		return;
	add(words, "--key");
	add(words, told);
}

static void
add_memories(struct words *words, const struct cli *cli)
{
	for (size_t i = 0; i < cli->options.many_count; i++) {
		enum option option = cli->options.many[i].option;

		if (option != OPTION_NOTE && option != OPTION_WITNESS)
			continue;
		add(words, option == OPTION_NOTE ? "--note" : "--witness");
		add(words, cli->options.many[i].value);
	}
	add_option(words, cli, OPTION_QUORUM, "--quorum");
	add_option(words, cli, OPTION_REMEMBER, "--remember");
	add_option(words, cli, OPTION_RUNS, "--runs");
}

/* A number that nobody has used: the log must hold it, so it is not an old copy. */
static void
make_nonce(char nonce[65])
{
	uint8_t bytes[32];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		fault_die("internal_error", "no random numbers");
	text_hex(nonce, bytes, sizeof(bytes));
}

/* The broker's own log, sealed behind a challenge, then whatever the words ask for. */
static _Noreturn void
verify_live(const struct cli *cli, struct words *words)
{
	static struct audit_files files;
	static char nonce[65], size[24];
	int64_t lines = 0;

	make_nonce(nonce);
	audit_files_open(&files, cli, nonce);
	add_key(words, cli, json_text(json_get(files.about, "public_key")));
	add(words, "--challenge");
	add(words, nonce);
	/* Up to the seal that was made for us: more may be on its way. */
	json_integer(json_get(files.about, "size"), &lines);
	text_format(size, sizeof(size), "%lld", (long long)lines);
	add(words, "--size");
	add(words, size);
	audit_files_verify(&files, words->list, words->count, WORDS);
}

int
audit_verify(struct cli *cli)
{
	static struct words words = { .count = 1 };

	if (!output_is_table())
		add(&words, "--json");
	add_memories(&words, cli);
	if (cli->options.word_count == 0)
		verify_live(cli, &words);
	add_key(&words, cli, NULL);
	add(&words, cli->options.words[0]);
	audit_files_become(words.list);
}

/* The checkpoint of a seal made just now, once the log was verified up to it. */
int
audit_note(struct cli *cli)
{
	static struct words words = { .count = 1 };

	add(&words, "--print-note");
	verify_live(cli, &words);
}

int
audit_prove(struct cli *cli)
{
	static struct words words = { .count = 1 };

	add(&words, "--prove");
	add(&words, cli->options.words[0]);
	verify_live(cli, &words);
}

/* --- what the auditor says of its head ---------------------------------------------- */

static int
print_head(const struct cli *cli, const char *method, enum reach_socket which, struct json *params)
{
	struct session session;
	struct json *head;

	session_open(&session, cli, which);
	head = session_ask(&session, method, params);
	if (output_is_table())
		for (size_t i = 0; i < json_count(head); i++)
			view_member(json_key_at(head, i), head, json_key_at(head, i));
	else
		output_json(head);
	json_free(head);
	session_close(&session);
	return EXIT_DONE;
}

int
audit_head(struct cli *cli)
{
	struct json *params = json_object();

	cli_add_text(cli, params, "nonce", OPTION_NONCE);
	return print_head(cli, "audit.head", REACH_EITHER, params);
}

int
audit_rotate(struct cli *cli)
{
	return print_head(cli, "audit.rotate", REACH_CONTROL, NULL);
}
