"""JSON Schema, as much of it as the official schemas in tests/system/data/mcp-schema use, no library needed.

    faults(document, "CallToolResult", value) -> list of texts, empty when it fits

A keyword that is not known here raises: a check that looks away would pass for one.
"""
import base64
import binascii
import json
import os

NOTES = {"description", "$schema", "title", "default", "deprecated"}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def load(folder, revision):
    with open(os.path.join(folder, revision + ".json"), encoding="utf-8") as file:
        return json.load(file)


def is_type(value, name):
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def is_format(value, name):
    if name == "byte":
        try:
            base64.b64decode(value, validate=True)
        except binascii.Error:
            return False
        return True
    if name in ("uri", "uri-template"):
        return ":" in value
    raise ValueError("format " + name)


def resolve(document, reference):
    part = document
    for step in reference.removeprefix("#/").split("/"):
        part = part[step]
    return part


def object_faults(document, schema, value, where):
    known = schema.get("properties", {})
    found = ["%s: %s is missing" % (where, name) for name in schema.get("required", []) if name not in value]
    for name, member in value.items():
        if name in known:
            found += walk(document, known[name], member, where + "." + name)
        elif schema.get("additionalProperties", True) is False:
            found.append("%s: %s is not known" % (where, name))
        elif isinstance(schema.get("additionalProperties"), dict):
            found += walk(document, schema["additionalProperties"], member, where + "." + name)
    return found


def walk(document, schema, value, where):
    found = []
    for word, rule in schema.items():
        if word == "$ref":
            found += walk(document, resolve(document, rule), value, where)
        elif word == "type":
            names = rule if isinstance(rule, list) else [rule]
            if not any(is_type(value, name) for name in names):
                found.append("%s: not %s" % (where, rule))
        elif word == "const":
            found += [] if value == rule else ["%s: not %r" % (where, rule)]
        elif word == "enum":
            found += [] if value in rule else ["%s: none of %r" % (where, rule)]
        elif word == "anyOf":
            each = [walk(document, choice, value, where) for choice in rule]
            found += [] if any(not one for one in each) else min(each, key=len)
        elif word == "items":
            if isinstance(value, list):
                for number, item in enumerate(value):
                    found += walk(document, rule, item, "%s[%d]" % (where, number))
        elif word in ("minimum", "maximum"):
            if is_type(value, "number") and (value < rule if word == "minimum" else value > rule):
                found.append("%s: %s is %s" % (where, word, rule))
        elif word == "format":
            if isinstance(value, str) and not is_format(value, rule):
                found.append("%s: not a %s" % (where, rule))
        elif word not in NOTES | {"properties", "required", "additionalProperties"}:
            raise ValueError("%s: %s is not known to this check" % (where, word))
    if isinstance(value, dict):
        found += object_faults(document, schema, value, where)
    return found


def faults(document, name, value):
    key = "$defs" if "$defs" in document else "definitions"
    return walk(document, document[key][name], value, name)
