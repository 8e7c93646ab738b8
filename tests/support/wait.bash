# Waiting for a fact, never for a time.

# wait_until SECONDS CMD...: until it succeeds.  SECONDS is what a quiet machine needs at most; a busy one has ten times that.
wait_until() {
	local left=$(($1 * 100))
	shift
	until "$@"; do
		[ $left -gt 0 ] || return 1
		left=$((left - 1))
		sleep 0.1
	done
}
