/* What became of the try, in words. */
#include <string.h>

#include "user_namespace.h"

const char *
user_namespace_text(enum user_namespace answer, int error)
{
	switch (answer) {
	case USER_NAMESPACE_WORKS:
		return "can be made by this account";
	case USER_NAMESPACE_EMPTY:
		return "can be made, but gives this account no capability in it";
	case USER_NAMESPACE_KILLED:
		return "killed";
	case USER_NAMESPACE_REFUSED:
		break;
	}
	return strerror(error);
}
