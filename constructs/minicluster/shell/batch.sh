#!/bin/sh
# Submits a batch job, shows its output and exits with its exit code.
id=$(flux batch "$@") || exit
exec flux job attach "$id"
