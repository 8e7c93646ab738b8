#!/usr/bin/env bats
# A job in the host's network without one of its layers, on a host of the test's own making: who notices.  There a
# namespace less means that each of these is alone.

load ../support/workspace
load ../support/hostile
load ../support/layers
load ../support/network

setup() {
	need_root
	network_make
	layers_make
	cage_policy '{ "network": { "tcp_ports": [7001] } }'
	workspace_start
	need_ports
	hostile_host
	LISTENERS+=(--ports yes --lan $LAN)
}

teardown() {
	hostile_host_end
	workspace_clean
	network_clean
}

@test "with all layers nothing is noticed" {
	layers_without none
	[ ! -s "$NOTICED" ] || { cat "$NOTICED"; return 1; }
}

@test "Landlock: without its rules for ports every port is reached, without its scopes every abstract socket" {
	noticed "another port of the host's loopback" landlock_network
	grep -qxF 'another port of another host' "$NOTICED"
	noticed 'connect to an abstract socket of the host' landlock_scopes
}

@test "the filter of arguments: without it a job listens, sends datagrams and connects past Landlock" {
	layers_without filter_arguments
	for what in 'listen without a port' 'take an abstract name on the host' UDP 'data that connects' \
	    'ask for interfaces and routes'; do
		grep -qxF -- "$what" "$NOTICED" || { cat "$NOTICED"; return 1; }
	done
	layers_row 'filter_arguments, with ports' 'data that connects, and more'
}
