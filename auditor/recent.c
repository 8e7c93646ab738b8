/* The broker's last records. */
#include <string.h>

#include "digest.h"

#include "recent.h"

void
recent_note(struct recent *recent, const struct record *record, const uint8_t line[32])
{
	struct recent_record *place = &recent->ring[record->sn % RECENT_RECORDS];

	if (record->source != RECORD_BROKER)
		return;
	*place = (struct recent_record){ .known = true, .sn = record->sn, .seq = record->seq };
	digest_take(place->body, record->body, record->body_length);
	memcpy(place->line, line, sizeof(place->line));
}

const struct recent_record *
recent_find(const struct recent *recent, uint64_t sn)
{
	const struct recent_record *place = &recent->ring[sn % RECENT_RECORDS];

	return place->known && place->sn == sn ? place : NULL;
}
