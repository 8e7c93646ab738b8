# An overlay over the allowed root.  After workspace.bash.
#
#   overlay_make     over WS/proj with what is in it; its layers lie in a tmpfs.  Skips where there is none to be had
#   overlay_remove   ends the trio and unmounts; for teardown, also where nothing was made or a test has failed

overlay_make() {
	mkdir "$WS_TOP/layers"
	mount -t tmpfs none "$WS_TOP/layers"
	mkdir "$WS_TOP/layers/upper" "$WS_TOP/layers/work"
	chown "$WS_UID:$WS_UID" "$WS_TOP/layers/upper"
	mount -t overlay -o "lowerdir=$WS/proj,upperdir=$WS_TOP/layers/upper,workdir=$WS_TOP/layers/work" overlay \
	    "$WS/proj" || skip "no overlay can be mounted here"
}

overlay_remove() {
	agent_safe serve --stop >/dev/null 2>&1 || true
	umount "$WS/proj" 2>/dev/null || true
	umount "$WS_TOP/layers" 2>/dev/null || true
}
