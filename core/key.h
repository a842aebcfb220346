/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keys: arrays of bytes, most often one or two words.
 */
#ifndef _LT_CORE_KEY_H
#define _LT_CORE_KEY_H

#include <linux/bitops.h>
#include <linux/hash.h>
#include <linux/string.h>
#include <linux/types.h>

#include "wrapper/unaligned.h"

struct lt_key {
	const void *bytes;
	u32 len;
};

/* As lt_key_hash(), of a key of 8 bytes. */
static __always_inline unsigned long lt_word_hash(u64 key)
{
	return (key * GOLDEN_RATIO_64) >> (64 - BITS_PER_LONG);
}

/*
 * Multiplicative hashing (Knuth, "The Art of Computer Programming", vol. 3,
 * 6.4), a word at a time: well mixed in its top bits, which the table uses,
 * and three instructions for a pid or a pointer.
 */
static __always_inline unsigned long lt_key_hash(const struct lt_key *key)
{
	const u8 *p = key->bytes;
	u32 len = key->len;
	u64 hash = 0, word;

	/* The same as below, for most. */
	if (likely(len == 8))
		return lt_word_hash(get_unaligned((const u64 *)p));
	for (; len >= 8; len -= 8, p += 8)
		hash = (ror64(hash, 32) ^ get_unaligned((const u64 *)p)) *
		       GOLDEN_RATIO_64;
	if (len) {
		word = len;
		memcpy(&word, p, len);
		hash = (ror64(hash, 32) ^ word) * GOLDEN_RATIO_64;
	}
	return hash >> (64 - BITS_PER_LONG);
}

/* Is the key the @len bytes at @bytes, which are aligned to 8? */
static __always_inline bool lt_key_equal(const struct lt_key *key,
					 const void *bytes, u32 len)
{
	if (key->len != len)
		return false;
	if (likely(len == 8))
		return get_unaligned((const u64 *)key->bytes) ==
		       *(const u64 *)bytes;
	return !memcmp(key->bytes, bytes, len);
}

#endif /* _LT_CORE_KEY_H */
