#!/usr/bin/env node
const { existsSync } = require('node:fs');
const { join } = require('node:path');

// The package has the program as one file; in its repository it runs from source.
const built = join(__dirname, '../runtime.js');
if (existsSync(built)) {
  require(built);
} else {
  require('tsx/cjs');
  require('../runtime/main.ts');
}
