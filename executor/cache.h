#ifndef CACHE_H
#define CACHE_H

/*
 * Digests of pinned files.  What is pinned can only be changed by the host's administration, and
 * a change shows in ctime; nothing else is ever kept here.
 */
#include <sys/stat.h>

#include <stdbool.h>
#include <stdint.h>

struct cache_key {
	uint64_t dev, ino, size, mtime_ns, ctime_ns;
};

#define CACHE_ENTRIES 128

struct cache {
	struct {
		struct cache_key key;
		uint8_t sha256[32];
	} entries[CACHE_ENTRIES];
	unsigned next; /* the oldest gives way */
};

struct cache_key cache_key(const struct stat *stat);
bool cache_get(const struct cache *cache, const struct cache_key *key, uint8_t sha256[32]);
void cache_put(struct cache *cache, const struct cache_key *key, const uint8_t sha256[32]);

#endif
