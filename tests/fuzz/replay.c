/* main() of a fuzz target without libFuzzer: each argument is a file, given to the target once. */
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int
main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		FILE *file = fopen(argv[i], "rb");
		uint8_t *bytes;
		long length;

		if (!file || fseek(file, 0, SEEK_END) < 0 || (length = ftell(file)) < 0)
			err(1, "%s", argv[i]);
		rewind(file);
		/* Exactly as long as the file: one byte read too far is seen. */
		bytes = malloc(length ? (size_t)length : 1);
		if (!bytes || fread(bytes, 1, (size_t)length, file) != (size_t)length)
			err(1, "%s", argv[i]);
		LLVMFuzzerTestOneInput(bytes, (size_t)length);
		free(bytes);
		fclose(file);
	}
	return 0;
}
