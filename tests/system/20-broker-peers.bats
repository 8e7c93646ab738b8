# The real broker between stand-in peers (tests/contract/broker.py), one test per group of cases:
# what each asserts is the name of its Python test, printed when it fails.

setup() {
	[ "$(id -u)" = 0 ] || skip "needs root: directories of several owners"
	[ -x /usr/bin/python3 ] || skip "needs python3"
}

cases() {
	timeout 120 /usr/bin/python3 -W ignore "$BATS_TEST_DIRNAME/../contract/broker.py" -b "$1" 2>&1
}

@test "broker and peers: the life of a job, step by step on record" {
	cases Life
}

@test "broker and peers: what is proposed is bounded, searched for secrets, stored once" {
	cases Proposals
}

@test "broker and peers: decisions bind to what would run" {
	cases Decisions
}

@test "broker and peers: approvals expire" {
	cases Expiry
}

@test "broker and peers: in system mode a proposer cannot approve" {
	cases System
}

@test "broker and peers: another uid sees its own jobs and decides nothing" {
	cases Peers
}

@test "broker and peers: workers, waiters, pages and output" {
	cases Work
}

@test "broker and peers: what others do to a job while an operation about it waits" {
	cases Races
}

@test "broker and peers: the wire" {
	cases Wire
}

@test "broker and peers: nothing before its record, and what a restart finds" {
	cases Records
}

@test "broker and peers: what ends the broker" {
	cases Ends
}

