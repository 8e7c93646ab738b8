#ifndef SAMPLE_H
#define SAMPLE_H

/*
 * What init-policy writes, the same text as packaging/sample-policy.json: programs that run
 * nothing from the workspace (`git status` would: a repository's own configuration names programs).
 */
static const char sample_policy[] =
    "{\n"
    "  \"version\": 2,\n"
    "  \"allowed_working_roots\": [\".\"],\n"
    "  \"rules\": [\n"
    "    { \"program\": \"uname\", \"args\": { \"exact\": [\"-a\"] } },\n"
    "    { \"program\": \"date\", \"args\": { \"exact\": [\"-u\"] } },\n"
    "    { \"program\": \"pwd\", \"args\": { \"exact\": [] } },\n"
    "    { \"program\": \"id\", \"args\": { \"exact\": [] } },\n"
    "    { \"program\": \"ls\", \"args\": { \"exact\": [\"-la\"] } },\n"
    "    { \"program\": \"wc\", \"args\": [\"-c\", \"--\"] },\n"
    "    { \"program\": \"sha256sum\", \"args\": [\"--\"] }\n"
    "  ],\n"
    "  \"limits\": { \"timeout_seconds\": 300 }\n"
    "}\n";

#endif
