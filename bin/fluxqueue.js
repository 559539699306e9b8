#!/usr/bin/env node
const { existsSync } = require('node:fs');
const { enableCompileCache } = require('node:module');
const { join } = require('node:path');

// The package has the program as one file; in its repository it runs from source.
const built = join(__dirname, '../runtime.js');
if (existsSync(built)) {
  // To compile it takes most of the time until a command answers. Node 20 cannot keep what it compiled.
  const { XDG_CACHE_HOME, HOME } = process.env;
  const cache = XDG_CACHE_HOME || (HOME && join(HOME, '.cache'));
  if (cache) enableCompileCache?.(join(cache, 'cdk8s-fluxqueue', 'compiled'));
  require(built);
} else {
  require('tsx/cjs');
  require('../runtime/main.ts');
}
