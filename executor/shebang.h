#ifndef SHEBANG_H
#define SHEBANG_H

/*
 * The "#!" line, read exactly as the kernel reads it (load_script() in fs/binfmt_script.c of
 * Linux 5.14 to 6.18): the first 256 bytes of the file, a shorter file filled with NULs.
 */
#include <stdbool.h>

#define SHEBANG_BYTES 256

/*
 * True with the interpreter's path, which is not empty, in `interpreter`.  False: the kernel
 * would not take this for a script (it may still refuse it: ENOEXEC).
 */
bool shebang_read(const char head[SHEBANG_BYTES], char interpreter[SHEBANG_BYTES]);

#endif
