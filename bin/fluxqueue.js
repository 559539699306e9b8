#!/usr/bin/env node
// The program from source: the runtime's image has it as one file instead (npm run build).
require('tsx/cjs');
require('../runtime/main.ts');
