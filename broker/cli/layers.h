#ifndef LAYERS_H
#define LAYERS_H

/* The layers of a cage that a running trio's jobs do not get: what is lost, and what would bring it. */
#include "json.h"

struct layer_lack {
	const char *layer;  /* as layer_name() */
	const char *lost;
	const char *remedy;
};

/* Call with each layer that is not in `layers` (names, as server.status has them). */
void layers_lacking(const struct json *layers, void (*lack)(void *context, const struct layer_lack *lack),
    void *context);

#endif
