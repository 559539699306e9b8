#!/usr/bin/env node
// kubectl calls this program for the words behind `kubectl fluxqueue`.
process.argv.splice(2, 0, '__complete', '--');
require('./fluxqueue.js');
