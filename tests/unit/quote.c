/* A command as a shell reads it back: broker/cli/quote.c.  bash is the judge.
 * links: broker/cli/quote.c broker/cli/escape.c shared/text.c shared/log.c */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "quote.h"

#define quotes(bytes, expected) do { \
	char *quoted = quote_word(bytes, sizeof(bytes) - 1, false); \
	assert_string_equal(quoted, expected); \
	free(quoted); \
} while (0)

static void
harmless_words_stay_bare(void **state)
{
	(void)state;
	quotes("status", "status");
	quotes("--out=/tmp/a-b_c.txt", "--out=/tmp/a-b_c.txt");
	quotes("a@b:c%d,e+f", "a@b:c%d,e+f");
}

static void
words_with_a_meaning_are_quoted(void **state)
{
	(void)state;
	quotes("", "''");
	quotes("a b", "'a b'");
	quotes("$(id)", "'$(id)'");
	quotes("*", "'*'");
	quotes("~root", "'~root'");
	quotes("=ls", "'=ls'"); /* zsh */
	quotes("it's", "'it'\\''s'");
	quotes("\\", "'\\'");
	quotes("caf\xc3\xa9", "'caf\xc3\xa9'");
	quotes("#x", "'#x'");
}

static void
hidden_characters_are_seen(void **state)
{
	(void)state;
	quotes("x\ny", "$'x\\ny'");
	quotes("\xe9", "$'\\351'");
	quotes("\xe2\x80\xae" "a", "$'\\342\\200\\256a'");
	quotes("'!\\\x1b", "$'\\047\\041\\134\\033'");
	quotes("\x01" "1", "$'\\0011'");
}

static void
beyond_ascii_is_octal_where_the_terminal_is_not_utf8(void **state)
{
	char *quoted = quote_word("caf\xc3\xa9", 5, true);

	(void)state;
	assert_string_equal(quoted, "$'caf\\303\\251'");
	free(quoted);
}

/* What `bash -c "printf %s WORD"` prints for a quoted word. */
static size_t
through_bash(const char *word, char *back, size_t size)
{
	char script[2048];
	int pipes[2];
	size_t length = 0;
	ssize_t got;
	pid_t child;

	snprintf(script, sizeof(script), "printf %%s %s", word);
	assert_int_equal(pipe(pipes), 0);
	child = fork();
	if (child == 0) {
		dup2(pipes[1], 1);
		close(pipes[0]);
		execl("/bin/bash", "bash", "-c", script, (char *)NULL);
		_exit(127);
	}
	close(pipes[1]);
	while ((got = read(pipes[0], back + length, size - length)) > 0)
		length += (size_t)got;
	close(pipes[0]);
	waitpid(child, NULL, 0);
	return length;
}

static void
bash_reads_back_every_byte(void **state)
{
	char all[256], back[512], *quoted;

	(void)state;
	for (int i = 1; i < 256; i++)
		all[i - 1] = (char)i;
	quoted = quote_word(all, 255, false);
	assert_int_equal(through_bash(quoted, back, sizeof(back)), 255);
	assert_memory_equal(back, all, 255);
	free(quoted);
}

static void
bash_reads_back_every_byte_alone(void **state)
{
	char back[512], *quoted;

	(void)state;
	for (int i = 1; i < 256; i += 3) { /* every class of bytes; a shell each is slow */
		char one[3] = { (char)i, '7', (char)i };

		quoted = quote_word(one, 3, i % 2);
		assert_int_equal(through_bash(quoted, back, sizeof(back)), 3);
		assert_memory_equal(back, one, 3);
		free(quoted);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(harmless_words_stay_bare),
		cmocka_unit_test(words_with_a_meaning_are_quoted),
		cmocka_unit_test(hidden_characters_are_seen),
		cmocka_unit_test(beyond_ascii_is_octal_where_the_terminal_is_not_utf8),
		cmocka_unit_test(bash_reads_back_every_byte),
		cmocka_unit_test(bash_reads_back_every_byte_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
