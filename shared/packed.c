/* Compressed segments. */
#include <sys/stat.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zstd.h>

#include "packed.h"
#include "scope.h"
#include "whole.h"

#define WINDOW_LOG 23 /* 8 MiB, what the levels up to 19 use */
#define LEVEL 9
#define HEADER_MOST 18 /* of a frame: RFC 8878, section 3.1.1.1 */

static ssize_t
read_some(int fd, void *bytes, size_t size)
{
	ssize_t length;

	do
		length = read(fd, bytes, size);
	while (length < 0 && errno == EINTR);
	return length;
}

static int
refuse(struct packed *packed, const char *why)
{
	packed->why = why;
	errno = EBADMSG;
	return -1;
}

/* The size is believed only as a bound: the decoder fails when the content is longer or shorter. */
static int
begin_decoder(struct packed *packed)
{
	unsigned long long size = ZSTD_getFrameContentSize(packed->input, packed->held);

	if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR)
		return refuse(packed, "compressed: the frame does not state its size");
	if (size > PACKED_MOST)
		return refuse(packed, "compressed: larger than any segment");
	packed->left = size;
	packed->decoder = ZSTD_createDCtx();
	if (!packed->decoder) {
		errno = ENOMEM;
		return -1;
	}
	return ZSTD_isError(ZSTD_DCtx_setParameter(packed->decoder, ZSTD_d_windowLogMax, WINDOW_LOG)) ?
	    refuse(packed, "compressed: window") : 0;
}

static bool
looks_compressed(const struct packed *packed)
{
	static const uint8_t magic[4] = { 0x28, 0xb5, 0x2f, 0xfd };

	return packed->held >= sizeof(magic) && memcmp(packed->input, magic, sizeof(magic)) == 0;
}

int
packed_open(struct packed *packed, int fd, bool plain_only)
{
	packed->fd = fd;
	packed->decoder = NULL;
	packed->left = 0;
	packed->ended = false;
	packed->why = NULL;
	packed->at = packed->held = 0;
	while (packed->held < HEADER_MOST) {
		ssize_t length = read_some(fd, packed->input + packed->held, PACKED_INPUT - packed->held);

		if (length < 0)
			return -1;
		if (length == 0)
			break;
		packed->held += (size_t)length;
	}
	return plain_only || !looks_compressed(packed) ? 0 : begin_decoder(packed);
}

/* What was read to look at the begin comes first. */
static ssize_t
read_plain(struct packed *packed, void *bytes, size_t size)
{
	size_t held = packed->held - packed->at;

	if (held == 0)
		return read_some(packed->fd, bytes, size);
	if (held > size)
		held = size;
	memcpy(bytes, packed->input + packed->at, held);
	packed->at += held;
	return (ssize_t)held;
}

/* False at the end of the file. */
static int
fill_input(struct packed *packed)
{
	ssize_t length = read_some(packed->fd, packed->input, PACKED_INPUT);

	if (length < 0)
		return -1;
	packed->at = 0;
	packed->held = (size_t)length;
	return length > 0;
}

/* The frame is over: no content may be missing, nothing may follow. */
static ssize_t
end_frame(struct packed *packed)
{
	int more = packed->at < packed->held ? 1 : fill_input(packed);

	if (more < 0)
		return -1;
	return more || packed->left > 0 ? refuse(packed, "compressed: bytes behind the frame") : 0;
}

static ssize_t
read_compressed(struct packed *packed, void *bytes, size_t size)
{
	ZSTD_outBuffer out = { bytes, size, 0 };

	while (out.pos == 0 && !packed->ended) {
		ZSTD_inBuffer in = { packed->input, packed->held, packed->at };
		size_t hint = ZSTD_decompressStream(packed->decoder, &out, &in);

		packed->at = in.pos;
		if (ZSTD_isError(hint) || out.pos > packed->left)
			return refuse(packed, "compressed: the frame is damaged");
		packed->left -= out.pos;
		packed->ended = hint == 0;
		if (out.pos == 0 && !packed->ended && packed->at == packed->held) {
			int more = fill_input(packed);

			if (more <= 0)
				return more < 0 ? -1 : refuse(packed, "compressed: the frame is cut off");
		}
	}
	return out.pos > 0 ? (ssize_t)out.pos : end_frame(packed);
}

ssize_t
packed_read(struct packed *packed, void *bytes, size_t size)
{
	if (packed->why)
		return refuse(packed, packed->why);
	return packed->decoder ? read_compressed(packed, bytes, size) : read_plain(packed, bytes, size);
}

void
packed_close(struct packed *packed)
{
	ZSTD_freeDCtx(packed->decoder);
	packed->decoder = NULL;
}

/* --- making one -------------------------------------------------------------------- */

static void
free_encoder(ZSTD_CCtx **encoder)
{
	ZSTD_freeCCtx(*encoder);
}

static bool
set_up(ZSTD_CCtx *encoder, uint64_t size)
{
	return encoder && !ZSTD_isError(ZSTD_CCtx_setParameter(encoder, ZSTD_c_compressionLevel, LEVEL)) &&
	    !ZSTD_isError(ZSTD_CCtx_setParameter(encoder, ZSTD_c_windowLog, WINDOW_LOG)) &&
	    !ZSTD_isError(ZSTD_CCtx_setParameter(encoder, ZSTD_c_checksumFlag, 1)) &&
	    !ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(encoder, size));
}

/* All of the input through the encoder; the last piece ends the frame. */
static int
encode_piece(ZSTD_CCtx *encoder, int to_fd, const uint8_t *bytes, size_t length, uint8_t *space)
{
	ZSTD_inBuffer in = { bytes, length, 0 };
	ZSTD_EndDirective end = length == 0 ? ZSTD_e_end : ZSTD_e_continue;
	size_t left;

	do {
		ZSTD_outBuffer out = { space, PACKED_INPUT, 0 };

		left = ZSTD_compressStream2(encoder, &out, &in, end);
		if (ZSTD_isError(left)) {
			errno = EIO; /* the file is not as long as it was */
			return -1;
		}
		if (whole_write(to_fd, space, out.pos) < 0)
			return -1;
	} while (end == ZSTD_e_end ? left > 0 : in.pos < in.size);
	return 0;
}

int
packed_make(int from_fd, int to_fd)
{
	__attribute__((cleanup(free_encoder))) ZSTD_CCtx *encoder = ZSTD_createCCtx();
	scoped_free uint8_t *space = malloc(2 * PACKED_INPUT);
	ssize_t length = 1;
	struct stat st;

	if (fstat(from_fd, &st) < 0)
		return -1;
	if ((uint64_t)st.st_size > PACKED_MOST) {
		errno = EFBIG;
		return -1;
	}
	errno = ENOMEM;
	if (!space || !set_up(encoder, (uint64_t)st.st_size))
		return -1;
	while (length > 0) {
		length = read_some(from_fd, space, PACKED_INPUT);
		if (length < 0 || encode_piece(encoder, to_fd, space, (size_t)length, space + PACKED_INPUT) < 0)
			return -1;
	}
	return 0;
}
