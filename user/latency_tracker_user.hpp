/* SPDX-License-Identifier: MIT */
/*
 * Marks for C++11: see latency_tracker_user.h.
 *
 *	static const latency_tracker::mark request("request");
 *
 *	latency_tracker::scope operation(request, number);
 *
 * The operation ends where its scope does, by an exception as well.
 */
#ifndef LATENCY_TRACKER_USER_HPP
#define LATENCY_TRACKER_USER_HPP

#include <cerrno>
#include <cstdint>

#include "latency_tracker_user.h"

namespace latency_tracker {

/* A kind of operation. Without the module its operations do nothing, and error() says why. */
class mark {
public:
	explicit mark(const char *name) noexcept
		: number_(lt_mark_define(name)), error_(number_ < 0 ? errno : 0) {}

	int number() const noexcept { return number_; }
	int error() const noexcept { return error_; }

private:
	int number_;
	int error_;
};

/* An operation of this thread. It must end in the thread, and inside of those around it. */
class scope {
public:
	explicit scope(const mark &of, std::uint64_t id = 0) noexcept
		: number_(of.number()), id_(id)
	{
		lt_mark_begin(number_, id_);
	}

	~scope() { lt_mark_end(number_, id_); }

	scope(const scope &) = delete;
	scope &operator=(const scope &) = delete;

private:
	int number_;
	std::uint64_t id_;
};

} /* namespace latency_tracker */

#endif /* LATENCY_TRACKER_USER_HPP */
