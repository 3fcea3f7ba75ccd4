#!/usr/bin/env node
import { endUnwritten } from './unwritten.js';
import { readVersion } from './version.js';

process.stdout.on('error', endUnwritten);
process.stderr.on('error', endUnwritten);

const words = process.argv.slice(2);
if (words.length === 1 && (words[0] === '--version' || words[0] === '-V')) console.log(readVersion());
else {
  const { runCommandLine } = await import('./command-line.js');
  process.exitCode = await runCommandLine(words);
}
