#!/bin/sh
# Submits one batch job and ends with its exit code, its output on the way.
id=$(flux batch "$@") || exit
exec flux job attach "$id"
