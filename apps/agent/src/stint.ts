#!/usr/bin/env node
import { readVersion } from './version.js';

const closedPipe = 141; // as a shell reports a program that SIGPIPE ended

// Whoever reads may leave early, as `head` does, or the disk that is written to may be full. What runs then is stopped as by a kill,
// which nothing is lost by.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(closedPipe);
    if (stream === process.stdout) console.error(`stint: The result could not be written: ${error.message}`);
    process.exit(1);
  });

const words = process.argv.slice(2);
if (words.length === 1 && (words[0] === '--version' || words[0] === '-V')) console.log(readVersion());
else {
  const { runCommandLine } = await import('./command-line.js');
  process.exitCode = await runCommandLine(words);
}
