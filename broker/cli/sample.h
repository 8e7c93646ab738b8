#ifndef SAMPLE_H
#define SAMPLE_H

/*
 * What init-policy writes: version 2, for the directory it lies in.  Programs that read and run
 * nothing from the workspace (`git status` would: a repository's own configuration names programs).
 */
static const char sample_policy[] =
    "{\n"
    "  \"version\": 2,\n"
    "  \"allowed_working_roots\": [\".\"],\n"
    "  \"rules\": [\n"
    "    { \"program\": \"/usr/bin/cat\" },\n"
    "    { \"program\": \"/usr/bin/cmp\" },\n"
    "    { \"program\": \"/usr/bin/diff\" },\n"
    "    { \"program\": \"/usr/bin/echo\" },\n"
    "    { \"program\": \"/usr/bin/false\" },\n"
    "    { \"program\": \"/usr/bin/head\" },\n"
    "    { \"program\": \"/usr/bin/ls\" },\n"
    "    { \"program\": \"/usr/bin/sha256sum\" },\n"
    "    { \"program\": \"/usr/bin/stat\" },\n"
    "    { \"program\": \"/usr/bin/tail\" },\n"
    "    { \"program\": \"/usr/bin/true\" },\n"
    "    { \"program\": \"/usr/bin/wc\" }\n"
    "  ],\n"
    "  \"limits\": { \"timeout_seconds\": 300 }\n"
    "}\n";

#endif
