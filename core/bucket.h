/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which bucket a delay belongs to.
 *
 * The buckets are those of OpenTelemetry's exponential histograms at scale 5, and of
 * native histograms of Prometheus with schema 5, for values in seconds: bucket i is
 * from 2^(i/32) s, exclusive, to 2^((i+1)/32) s, inclusive, which is 2.2 % wide. So
 * what is exported is what was counted, and profiles can be added up.
 *
 * 10^9 is no power of two: d ns are multiplied with 2^93 / 10^9, and the logarithm of
 * that is 93 more than that of the seconds. Both factors begin with their leading bit, so
 * the product is in one of two octaves. Its upper bits select a cell, in which there is
 * one bound at most.
 */
#ifndef _LT_CORE_BUCKET_H
#define _LT_CORE_BUCKET_H

#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/math64.h>
#include <linux/types.h>

#define LT_BUCKET_SCHEMA	5
#define LT_BUCKET_OCTAVE	32
/* From 63.6 ns to 68.3 s: nothing from 2^36 ns on is in one of them. */
#define LT_BUCKET_FIRST		(-765)
#define LT_BUCKET_LAST		194
#define LT_BUCKET_MIN_NS	64ULL
#define LT_BUCKET_MAX_BITS	36
/* One in front for what is shorter, one behind for what is longer. */
#define LT_BUCKETS		(LT_BUCKET_LAST - LT_BUCKET_FIRST + 3)

/* 2^93 / 10^9, rounded down: what is on a bound stays in the bucket below it. */
#define LT_BUCKET_SCALE		0x89705f4136b4a597ULL

/* The upper bounds in two octaves, from 2^62 on; the last one is not reached. */
static const u64 lt_bucket_bound[2 * LT_BUCKET_OCTAVE] = {
	0x4166c34c5615d0ebULL, 0x42d561b3e6243d8aULL, 0x444c0740496d4293ULL,
	0x45cae0f1f545eb73ULL, 0x47521cc5a2e6a9e0ULL, 0x48e1e9b9d588e19bULL,
	0x4a7a77d47f7b84b0ULL, 0x4c1bf828c6dc54b7ULL, 0x4dc69cdceaa72a9cULL,
	0x4f7a993048d088d6ULL, 0x513821818624b40cULL, 0x52ff6b54d8a89c75ULL,
	0x54d0ad5a753e077cULL, 0x56ac1f752150a563ULL, 0x5891fac0e95612c7ULL,
	0x5a827999fcef3242ULL, 0x5c7dd7a3b17dcf74ULL, 0x5e8451cfac061b5fULL,
	0x6096266533384a2bULL, 0x62b39508aa836d6eULL, 0x64dcdec3371793d1ULL,
	0x6712460a8fc24071ULL, 0x69540ec8f895722dULL, 0x6ba27e656b4eb57aULL,
	0x6dfddbcbed791baaULL, 0x70666f76154a7088ULL, 0x72dc8373be41a454ULL,
	0x75606373ee921c97ULL, 0x77f25ccdee6d7ae5ULL, 0x7a92be8a92436616ULL,
	0x7d41d96db915019dULL, 0x8000000000000000ULL, 0x82cd8698ac2ba1d7ULL,
	0x85aac367cc487b14ULL, 0x88980e8092da8527ULL, 0x8b95c1e3ea8bd6e6ULL,
	0x8ea4398b45cd53c0ULL, 0x91c3d373ab11c336ULL, 0x94f4efa8fef70961ULL,
	0x9837f0518db8a96fULL, 0x9b8d39b9d54e5538ULL, 0x9ef5326091a111adULL,
	0xa27043030c496818ULL, 0xa5fed6a9b15138eaULL, 0xa9a15ab4ea7c0ef8ULL,
	0xad583eea42a14ac6ULL, 0xb123f581d2ac258fULL, 0xb504f333f9de6484ULL,
	0xb8fbaf4762fb9ee9ULL, 0xbd08a39f580c36beULL, 0xc12c4cca66709456ULL,
	0xc5672a115506daddULL, 0xc9b9bd866e2f27a2ULL, 0xce248c151f8480e3ULL,
	0xd2a81d91f12ae45aULL, 0xd744fccad69d6af4ULL, 0xdbfbb797daf23755ULL,
	0xe0ccdeec2a94e111ULL, 0xe5b906e77c8348a8ULL, 0xeac0c6e7dd24392eULL,
	0xefe4b99bdcdaf5cbULL, 0xf5257d152486cc2cULL, 0xfa83b2db722a033aULL,
	0xffffffffffffffffULL,
};

/* How many of them are below each cell of 2^56; there is nothing before 2^62. */
static const u8 lt_bucket_below[256] = {
	[64] =
	0, 0, 1, 2, 2, 3, 4, 4, 5, 6, 6, 7, 7, 8, 9, 9,
	10, 10, 11, 12, 12, 13, 13, 14, 14, 15, 15, 16, 16, 17, 17, 18,
	18, 19, 19, 20, 20, 21, 21, 21, 22, 22, 23, 23, 24, 24, 25, 25,
	25, 26, 26, 27, 27, 27, 28, 28, 29, 29, 29, 30, 30, 30, 31, 31,
	31, 32, 32, 33, 33, 33, 34, 34, 34, 35, 35, 35, 36, 36, 36, 37,
	37, 37, 38, 38, 38, 39, 39, 39, 39, 40, 40, 40, 41, 41, 41, 42,
	42, 42, 42, 43, 43, 43, 44, 44, 44, 44, 45, 45, 45, 45, 46, 46,
	46, 46, 47, 47, 47, 47, 48, 48, 48, 49, 49, 49, 49, 49, 50, 50,
	50, 50, 51, 51, 51, 51, 52, 52, 52, 52, 53, 53, 53, 53, 53, 54,
	54, 54, 54, 55, 55, 55, 55, 55, 56, 56, 56, 56, 57, 57, 57, 57,
	57, 58, 58, 58, 58, 58, 59, 59, 59, 59, 59, 60, 60, 60, 60, 60,
	61, 61, 61, 61, 61, 61, 62, 62, 62, 62, 62, 63, 63, 63, 63, 63,
};

/**
 * lt_bucket_inside() - the bucket of a delay that is neither too short nor too long
 * @delay_ns: the delay, ns; see lt_bucket_is_inside()
 *
 * Context: Any.
 * Return: its place in an array of LT_BUCKETS; LT_BUCKET_FIRST is at 1.
 */
static __always_inline unsigned long lt_bucket_inside(u64 delay_ns)
{
	/* Of this type they are part of an address without another instruction. */
	unsigned long last = __fls(delay_ns), in;
	u64 bits = mul_u64_u64_shr(delay_ns << (63 - last), LT_BUCKET_SCALE, 64);

	in = lt_bucket_below[bits >> 56];
	in += bits > lt_bucket_bound[in];
	/* A product of 2^127 is 2^34 s, if the last bit is the 63rd. */
	return last * LT_BUCKET_OCTAVE + in + 1 - LT_BUCKET_FIRST -
	       (63 - 34 + 1) * LT_BUCKET_OCTAVE;
}

static __always_inline bool lt_bucket_is_inside(u64 delay_ns)
{
	return delay_ns >= LT_BUCKET_MIN_NS && !(delay_ns >> LT_BUCKET_MAX_BITS);
}

/**
 * lt_bucket() - the bucket of a delay
 * @delay_ns: the delay, ns
 *
 * Context: Any.
 * Return: its place in an array of LT_BUCKETS.
 */
static inline unsigned long lt_bucket(u64 delay_ns)
{
	if (lt_bucket_is_inside(delay_ns))
		return lt_bucket_inside(delay_ns);
	return delay_ns < LT_BUCKET_MIN_NS ? 0 : LT_BUCKETS - 1;
}

#endif /* _LT_CORE_BUCKET_H */
